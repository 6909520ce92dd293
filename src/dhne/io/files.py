"""Files opened with care: every failure one clear error, every output whole or not there at all.

Reading: :func:`reading` turns what the operating system, Arrow, zlib or the JSON parser may raise
into an `InputError` that names the file; :func:`open_bytes` unpacks gzip up to a bound.
Writing: :func:`writing` hands out temporary names beside the outputs and renames them at the end.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from dhne.errors import DHNEError, InputError, InputWarning, MemoryLimitError

StrPath = str | os.PathLike[str]

# What compressed data may unpack to: text of names compresses some ten times, a bomb a thousand.
_FREE_BYTES = 256 * 2**20
_MAX_RATIO = 200

_DAMAGED = (
    EOFError,
    zlib.error,
    struct.error,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    pa.ArrowException,
    NotImplementedError,
    ValueError,
    OverflowError,
    SyntaxError,
    KeyError,
    IndexError,
    TypeError,
    RuntimeError,
)


@contextlib.contextmanager
def reading(path: StrPath) -> Iterator[None]:
    """Turn whatever goes wrong with the file `path` into one clear `InputError`."""
    try:
        yield
    except DHNEError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a directory, a file is needed", file=path) from None
    except PermissionError:
        raise InputError("there is no permission to read it", file=path) from None
    except RecursionError:
        raise InputError("it is nested too deeply", file=path) from None
    except MemoryError:
        raise MemoryLimitError(f"{path}: it does not fit into memory") from None
    except UnicodeError as error:
        raise InputError(f"it holds text that is not valid: {one_line(error)}", file=path) from None
    except _DAMAGED as error:
        raise InputError(f"it cannot be read: {one_line(error)}", file=path) from None
    except OSError as error:
        raise InputError(
            f"it cannot be read: {error.strerror or one_line(error)}", file=path
        ) from None


def one_line(error: object, limit: int = 200) -> str:
    """Return an error's text as one line of bounded length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_file(path: StrPath) -> Path:
    """Return `path` if it is a file that has something in it."""
    found = Path(path)
    with reading(path):
        if "\0" in str(found):
            raise InputError("a file's name cannot hold a zero byte")
        if found.is_dir():
            raise IsADirectoryError
        if found.stat().st_size == 0 and found.is_file():
            raise InputError("the file is empty", file=path)
    return found


def is_gzipped(path: StrPath) -> bool:
    """Whether the file's name says that it is compressed."""
    return Path(path).name.lower().endswith(".gz")


def unpacked_limit(packed: int) -> int:
    """Return how many bytes `packed` bytes of compressed data may unpack to."""
    return max(_FREE_BYTES, _MAX_RATIO * packed)


def open_bytes(path: StrPath) -> IO[bytes]:
    """Open a file for reading, through gzip where its name ends in ``.gz``."""
    if not is_gzipped(path):
        return Path(path).open("rb")
    limit = unpacked_limit(Path(path).stat().st_size)
    return cast(IO[bytes], io.BufferedReader(_BoundedGzip(path, limit), 2**20))


class _BoundedGzip(io.RawIOBase):
    """A gzip stream that ends in an error where it unpacks to far more than any text would."""

    def __init__(self, path: StrPath, limit: int) -> None:
        self._path, self._left = path, limit
        self._stream = gzip.GzipFile(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                "it unpacks to far more than its size suggests; unpack it first if that is meant",
                file=self._path,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextlib.contextmanager
def writing(*paths: StrPath) -> Iterator[list[Path]]:
    """Yield a temporary path for each of `paths`; rename all at the end, or leave nothing behind.

    The last path is renamed last, so put the one that people will open there.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with writing(folder / "a.txt") as (temporary,):
    ...     _ = temporary.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    targets = [Path(p) for p in paths]
    token = secrets.token_hex(4)
    temporary = [t.with_name(f".{t.name}.{token}.tmp") for t in targets]
    try:
        for target in targets:
            _check_target(target)
        yield temporary
        for source, target in zip(temporary, targets, strict=True):
            source.replace(target)
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise InputError(f"it cannot be written: {reason}", file=targets[-1]) from None
    finally:
        for source in temporary:
            with contextlib.suppress(OSError):
                source.unlink(missing_ok=True)


def _check_target(target: Path) -> None:
    if target.is_dir():
        raise InputError("this is a directory, a file's name is needed", file=target)
    if not target.parent.is_dir():
        raise InputError(f"there is no directory {str(target.parent)!r} to write to", file=target)


def open_for_writing(path: StrPath, *, gzipped: bool) -> IO[bytes]:
    """Open a file for writing; gzip without a time stamp, so that equal data are equal bytes."""
    if not gzipped:
        return Path(path).open("wb")
    return cast(IO[bytes], _Gzip(path))


class _Gzip(gzip.GzipFile):
    """A gzip file that keeps neither its name nor the time, and closes what it has opened."""

    def __init__(self, path: StrPath) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115 - close() closes it
        super().__init__("", "wb", compresslevel=6, fileobj=self._file, mtime=0)

    def close(self) -> None:
        super().close()
        self._file.close()


def warn(message: str, path: StrPath) -> None:
    """Say that something in `path` was left out."""
    warnings.warn(f"{path}: {message}", InputWarning, stacklevel=4)
