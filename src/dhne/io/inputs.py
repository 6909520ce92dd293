"""What a path means: a file, the tables of a directory or of a pattern, or standard input."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from dhne.errors import InputError
from dhne.files.reading import StrPath, reading

STDIN = "-"
Partition = dict[str, str | None]
_MISSING = "__HIVE_DEFAULT_PARTITION__"
TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq")


def is_several(path: StrPath) -> bool:
    """Whether a path is standard input, a directory or a pattern rather than one file.

    Examples
    --------
    >>> is_several("-"), is_several("tags-*.csv"), is_several("tags.csv")
    (True, True, False)
    """
    text = str(path)
    if text == STDIN:
        return True
    with reading(path):
        return Path(path).is_dir() or (glob.has_magic(text) and not Path(path).exists())


def table_files(path: StrPath) -> list[Path]:
    """Return the files that a path refers to, sorted by name."""
    if str(path) == STDIN:
        return [_standard_input()]
    if not is_several(path):
        return [Path(path)]
    if Path(path).is_dir():
        with reading(path):
            found = sorted(_tables_in(Path(path)))
        if not found:
            raise InputError("this is a directory without a CSV, TSV or Parquet file", file=path)
        return found
    matches = glob.iglob(str(path), recursive=True)  # noqa: PTH207 - absolute patterns too
    found = sorted(Path(p) for p in matches if Path(p).is_file())
    if not found:
        raise InputError("no file matches this pattern", file=path)
    return found


def partition_of(path: StrPath) -> Partition:
    """Return the columns that a file's directories name, as in ``year=2024/month=05/x.parquet``.

    Examples
    --------
    >>> partition_of("tags/country=C%C3%B4te/year=2024/part-0.parquet")
    {'country': 'Côte', 'year': '2024'}
    """
    found: Partition = {}
    for part in Path(path).parent.parts:
        key, equals, value = part.partition("=")
        if key and equals:
            found[unquote(key)] = None if value == _MISSING else unquote(value)
    return found


def _tables_in(directory: Path) -> Iterator[Path]:
    """Yield the tables of a directory, and of its parts where it is partitioned (``year=2024``)."""
    for path in directory.iterdir():
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir() and "=" in path.name:
            yield from _tables_in(path)
        elif path.name.lower().endswith(TABLE_ENDINGS) and path.is_file():
            yield path


def _standard_input() -> Path:
    """Return a file with the contents of standard input, which can be read only once."""
    stream: IO[bytes] = sys.stdin.buffer
    start = stream.read(4096)
    if not start:
        raise InputError("standard input is empty")
    file = Path(_folder().name) / f"stdin{_ending(start)}"
    with file.open("wb") as out:
        out.write(start)
        shutil.copyfileobj(stream, out)
    return file


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """The directory for the contents of standard input; it is removed with the process."""
    return tempfile.TemporaryDirectory(prefix="dhne-")


def _ending(start: bytes) -> str:
    """Return the extension of the format that the first bytes indicate; CSV or TSV by default."""
    for magic, ending in ((b"PAR1", ".parquet"), (b"\x1f\x8b", ".csv.gz"), (b"PK\x03\x04", ".npz")):
        if start.startswith(magic):
            return ending
    if start.lstrip()[:1] == b"{":
        return ".hif.json"
    line = start.split(b"\n", 1)[0]
    return ".tsv" if b"\t" in line and b"," not in line else ".csv"
