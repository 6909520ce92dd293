"""Reading and writing whole networks as CSV, TSV or Parquet, with the files beside them.

For the contents of each file see :mod:`dhne.io.bundle_tables`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dhne.errors import InputError
from dhne.files.plain_json import parse_json
from dhne.files.reading import StrPath, check_file, reading
from dhne.files.writing import writing
from dhne.network.hypernetwork import HyperNetwork

from .bundle_tables import as_text, from_tables, is_plain, to_tables
from .delimited import read_delimited, write_delimited
from .join_tables import Source
from .parquet import read_description, read_parquet, write_parquet
from .tables import read_table

_META = ".meta.json"


def is_parquet(path: StrPath) -> bool:
    """Whether the file's name says that it is Parquet."""
    return Path(path).name.lower().endswith((".parquet", ".pq"))


def read_bundle(path: StrPath) -> HyperNetwork:
    """Read a network from a table and the files beside it."""
    found = _description(check_file(path))
    if found is None:
        return read_table(path)

    def read(name: str) -> Source:
        # the file itself may have been renamed since it was written
        file = Path(path) if name == _first_file(found) else Path(path).with_name(name)
        if is_parquet(file):
            return Source(read_parquet(file), file)
        return Source(read_delimited(file), file, text=True)

    with reading(path):
        return from_tables(found, read, str(path))


def _first_file(description: Any) -> Any:
    """Return the name that the file itself had; whatever is wrong with it is found later."""
    try:
        return description["tables"][0]["file"]
    except (TypeError, LookupError):
        return None


def _description(path: Path) -> Any:
    if is_parquet(path):
        return read_description(path)
    meta = path.with_name(path.name + _META)
    if not meta.exists():
        return None
    with reading(meta):
        return parse_json(check_file(meta).read_bytes(), meta)


def write_bundle(network: HyperNetwork, path: StrPath, *, overwrite: bool = False) -> list[Path]:
    """Write a network as tables; return the files, `path` last.

    Files beside it that are there already, and are not of an earlier network of this name, are
    replaced only with `overwrite`.
    """
    path = Path(path)
    description, tables = to_tables(network, path.name)
    parquet = is_parquet(path)
    meta = path.with_name(path.name + _META)
    with_meta = not parquet and not is_plain(network, description)
    order = sorted(tables, key=lambda name: name == path.name)  # the named file comes last
    files = [path.with_name(name) for name in order]
    if with_meta:
        files.insert(0, meta)
    if not overwrite:
        _check_siblings(path, [f for f in files if f != path])
    with writing(*files) as temporary:
        if with_meta:
            temporary[0].write_text(as_text(description), encoding="utf-8")
        for name, place in zip(order, temporary[int(with_meta) :], strict=True):
            if parquet:
                write_parquet(tables[name], place, description if name == path.name else None)
            else:
                write_delimited(tables[name], place, name=name)
    if not parquet and not with_meta:
        meta.unlink(missing_ok=True)  # of an earlier network of this name
    return files


def _check_siblings(path: Path, beside: list[Path]) -> None:
    """Refuse to replace files that were not named, unless they belong to the replaced network."""
    foreign = [f for f in beside if f.exists() and f.name not in _own_files(path)]
    if foreign:
        names = ", ".join(f.name for f in foreign)
        raise InputError(
            f"files to be written beside it exist already: {names}; choose another name, or "
            "replace them (--overwrite, overwrite=True)",
            file=path,
        )


def _own_files(path: Path) -> set[str]:
    """Return the names of the files that the network at `path` consists of."""
    try:
        found = _description(path) if path.exists() else None
    except InputError:
        return set()
    if not isinstance(found, dict) or not isinstance(found.get("tables"), list):
        return set()
    tables = [t.get("file") for t in found["tables"] if isinstance(t, dict)]
    return {path.name + _META, *(str(name) for name in [*tables, found.get("nodes")])}
