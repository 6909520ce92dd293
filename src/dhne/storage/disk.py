"""Files that are whole or not there: written aside, forced to the disk, then renamed.

A rename within a directory either happens or does not, also when the power fails, provided that the
data has reached the disk before it: hence fsync on the file, rename, fsync on the directory.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dhne.errors import RunError
from dhne.io.files import one_line

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_BLOCK = 1 << 20


def as_json(value: Any, *, indent: int | None = None, strict: bool = True) -> str:
    """Return JSON text; NumPy's numbers become numbers, paths become text.

    Parameters
    ----------
    strict : bool
        Whether what JSON has no word for (NaN, infinity) becomes null; else it stays as Python
        writes it, which only Python reads back.

    Examples
    --------
    >>> as_json({"auc": np.float32(0.5), "loss": float("nan")})
    '{"auc": 0.5, "loss": null}'
    """
    if strict:
        value = _finite(value)
    return json.dumps(value, indent=indent, default=_plain, allow_nan=not strict)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Make sure that a file's data, or a directory's entries, have reached the disk."""
    if path.is_dir() and os.name != "posix":
        return  # only there can a directory be opened
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_aside(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file under a temporary name beside `path`, then rename it to `path`."""
    temporary = path.with_name(temporary_name(path.name))
    try:
        write(temporary)
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes_aside(path: Path, data: bytes) -> None:
    """Write a small file so that it is whole or not there."""
    write_aside(path, lambda p: p.write_bytes(data))


def temporary_name(name: str) -> str:
    """Return a hidden name that nobody else uses; :func:`sweep` knows it again.

    Examples
    --------
    >>> temporary_name("model.safetensors")
    '.model.safetensors....tmp'
    """
    return f".{name}.{secrets.token_hex(6)}.tmp"


def sweep(directory: Path) -> None:
    """Remove what an interrupted write has left in a directory."""
    for left in directory.glob(".*.tmp"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextlib.contextmanager
def saving(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while writing to `path` into one clear `RunError`."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        full = getattr(error, "errno", None) in _FULL or any(
            os.strerror(code).lower() in str(error).lower() for code in _FULL
        )
        advice = "make room and try again" if full else "nothing was changed"
        raise RunError(f"{path}: it cannot be saved: {reason}; {advice}") from None
