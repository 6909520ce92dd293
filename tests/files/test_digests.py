"""Digests of files and texts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dhne.files.digests import sha256_of_bytes, sha256_of_file, sha256_of_text


def test_a_file_longer_than_a_block_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    (tmp_path / "x").write_bytes(data)
    expected = hashlib.sha256(data).hexdigest()
    assert sha256_of_file(tmp_path / "x") == sha256_of_bytes(data) == expected


def test_text_that_is_not_unicode_has_a_digest_too() -> None:
    assert sha256_of_text("a\udcff") != sha256_of_text("a")
