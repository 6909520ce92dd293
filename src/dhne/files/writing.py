"""Atomic writes: files are written under a temporary name, then renamed.

A rename within a directory is atomic even if the power fails, provided that the data has reached
the disk first. Where that matters (``durable``) the order is: fsync the file, rename it, fsync the
directory.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from dhne.errors import InputError

from .reading import StrPath, one_line


@contextlib.contextmanager
def replacing(*paths: StrPath, durable: bool = False) -> Iterator[list[Path]]:
    """Yield a temporary path for each of `paths`; rename them at the end, or remove all on error.

    The last path is renamed last, so pass the file that readers open last. Errors of the operating
    system are raised as they are; :func:`writing` makes them readable.
    """
    targets = [Path(p) for p in paths]
    temporary = [t.with_name(temporary_name(t.name)) for t in targets]
    try:
        yield temporary
        for source, target in zip(temporary, targets, strict=True):
            if durable:
                sync(source)
            source.replace(target)
        if durable:
            for directory in {t.parent for t in targets}:
                sync(directory)
    finally:
        for source in temporary:
            with contextlib.suppress(OSError):
                source.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(*paths: StrPath) -> Iterator[list[Path]]:
    """Yield temporary paths like :func:`replacing`, with one clear error if writing fails.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with writing(folder / "a.txt") as (temporary,):
    ...     _ = temporary.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    for path in paths:
        _check_target(Path(path))
    with _explained(Path(paths[-1])), replacing(*paths) as temporary:
        yield temporary


@contextlib.contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise InputError(f"cannot be written: {reason}", file=target) from None


def _check_target(target: Path) -> None:
    if target.is_dir():
        raise InputError("this is a directory; give a file name", file=target)
    if not target.parent.is_dir():
        raise InputError(f"there is no directory {str(target.parent)!r} to write to", file=target)


def replace_bytes(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a small file atomically; errors are raised as they are."""
    with replacing(path, durable=durable) as (temporary,):
        temporary.write_bytes(data)


def replace_directory(path: Path, fill: Callable[[Path], None]) -> None:
    """Create a directory with `fill`, then replace the one at `path` by it."""
    temporary, aside = (path.with_name(temporary_name(path.name)) for _ in range(2))
    with _explained(path):
        try:
            temporary.mkdir()
            fill(temporary)
            if path.exists():
                path.rename(aside)
            temporary.rename(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(aside, ignore_errors=True)


# -- temporary names -------------------------------------------------------------------------------


def temporary_name(name: str) -> str:
    """Return a unique hidden name that :func:`sweep` recognises.

    Examples
    --------
    >>> temporary_name("model.safetensors")
    '.model.safetensors....tmp'
    """
    return f".{name}.{secrets.token_hex(6)}.tmp"


def is_temporary(path: Path) -> bool:
    """Whether a file was left behind by an interrupted write."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def sweep(directory: Path) -> None:
    """Remove files that interrupted writes left in a directory."""
    for left in directory.glob(".*.tmp"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


# -- the disk --------------------------------------------------------------------------------------


def sync(path: Path) -> None:
    """Flush a file's data, or a directory's entries, to disk."""
    if path.is_dir() and os.name != "posix":
        return  # directories cannot be opened elsewhere
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(directory: Path) -> None:
    """Flush everything below a directory to disk."""
    for path in sorted(directory.rglob("*")):
        sync(path)
    sync(directory)


def open_for_writing(path: StrPath, *, gzipped: bool) -> IO[bytes]:
    """Open a file for writing; gzip omits the timestamp, so that equal data gives equal bytes."""
    if not gzipped:
        return Path(path).open("wb")
    return cast(IO[bytes], _Gzip(path))


class _Gzip(gzip.GzipFile):
    """A gzip file without name and timestamp that closes its underlying file."""

    def __init__(self, path: StrPath) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115 - close() closes it
        super().__init__("", "wb", compresslevel=6, fileobj=self._file, mtime=0)

    def close(self) -> None:
        super().close()
        self._file.close()
