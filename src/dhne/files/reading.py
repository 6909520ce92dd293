"""Reading files: every failure becomes one clear error.

:func:`reading` converts errors of the operating system, Arrow, zlib and the JSON parser into an
`InputError` that names the file; :func:`open_bytes` decompresses gzip up to a limit.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from dhne.errors import DHNEError, InputError, InputWarning, MemoryLimitError

StrPath = str | os.PathLike[str]

# Limits on decompressed size: text of names compresses about tenfold, a bomb a thousandfold.
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
    tokenize.TokenError,
    KeyError,
    IndexError,
    TypeError,
    RuntimeError,
)


@contextlib.contextmanager
def reading(path: StrPath) -> Iterator[None]:
    """Convert any failure to read the file `path` into one clear `InputError`."""
    try:
        yield
    except DHNEError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a directory, not a file", file=path) from None
    except PermissionError:
        raise InputError("no permission to read it", file=path) from None
    except RecursionError:
        raise InputError("nested too deeply", file=path) from None
    except MemoryError:
        raise MemoryLimitError(f"{path}: does not fit into memory") from None
    except UnicodeError as error:
        raise InputError(f"contains invalid text: {one_line(error)}", file=path) from None
    except _DAMAGED as error:
        raise InputError(f"cannot be read: {one_line(error)}", file=path) from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or one_line(error)}", file=path
        ) from None


def one_line(error: object, limit: int = 200) -> str:
    """Return an error's message as one line of limited length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_file(path: StrPath) -> Path:
    """Return `path` if it is a file that is not empty."""
    found = Path(path)
    with reading(path):
        if "\0" in str(found):
            raise InputError("a file name cannot contain a zero byte")
        if found.is_dir():
            raise IsADirectoryError
        if found.stat().st_size == 0 and found.is_file():
            raise InputError("the file is empty", file=path)
    return found


def is_gzipped(path: StrPath) -> bool:
    """Whether the file name ends in ``.gz``."""
    return Path(path).name.lower().endswith(".gz")


def unpacked_limit(packed: int) -> int:
    """Return the size limit for decompressing `packed` bytes."""
    return max(_FREE_BYTES, _MAX_RATIO * packed)


def open_bytes(path: StrPath) -> IO[bytes]:
    """Open a file for reading; decompress it if its name ends in ``.gz``."""
    if not is_gzipped(path):
        return Path(path).open("rb")
    limit = unpacked_limit(Path(path).stat().st_size)
    return cast(IO[bytes], io.BufferedReader(_BoundedGzip(path, limit), 2**20))


class _BoundedGzip(io.RawIOBase):
    """A gzip stream that raises if it unpacks to far more than any text would."""

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
                "unpacks to far more than its size suggests; if that is expected, unpack it first",
                file=self._path,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def warn(message: str, path: StrPath) -> None:
    """Warn that part of `path` was skipped."""
    warnings.warn(f"{path}: {message}", InputWarning, stacklevel=4)
