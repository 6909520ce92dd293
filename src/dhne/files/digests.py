"""SHA-256 digests of files and texts, in hexadecimal."""

from __future__ import annotations

import hashlib
from pathlib import Path

_BYTES_AT_ONCE = 1 << 20


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BYTES_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()


def sha256_of_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8; lone surrogates, as in file names, are allowed.

    Examples
    --------
    >>> sha256_of_text("dhne")[:12]
    '8e0954207a77'
    """
    return sha256_of_bytes(text.encode("utf-8", "surrogatepass"))
