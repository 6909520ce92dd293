"""How a run's data was read, so that new files with the same columns need no options again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dhne.errors import DHNEError

from .run_source import reading_options, run_source
from .source import is_dataset
from .table_options import AUTO, NONE, parse_columns


def reading_of(run: str | Path, files: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    """Return options of `open_source` for new files: those given, or else those of training.

    Of the mappings of training, each file gets the longest one whose columns it has. A file that
    has none of them is read as if no mapping were remembered.
    """
    options = reading_options(str(run), **given)
    if options["facts"]:
        return options
    if not all(_is_table(name) for name in files):
        return {**dict.fromkeys(options), **given}
    before = run_source(str(run))
    headers = [_header(name, options) for name in files]
    if not given.get("columns"):
        chosen = [_fitting(_texts(before.get("columns")), header) for header in headers]
        options["columns"] = chosen if all(c is not None for c in chosen) else None
    for name in ("weight", "time"):
        options[name] = given.get(name)
        if not given.get(name):
            there = [_first(_texts(before.get(name)), header) for header in headers]
            options[name] = there if all(c is not None for c in there) else None
    return options


def _texts(found: Any) -> list[str]:
    values = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return [v for v in values if isinstance(v, str)]


def _is_table(name: str) -> bool:
    from dhne.io import format_of
    from dhne.io.inputs import is_several

    if name == "-" or is_several(name):
        return True
    try:
        return not is_dataset(name) and format_of(name) == "table"
    except DHNEError:
        return False  # reading it will report the problem


def _header(name: str, options: dict[str, Any]) -> list[str] | None:
    """Return the columns of a table, or None if only reading the whole file would show them."""
    from dhne.io.bundle import is_parquet
    from dhne.io.delimited import delimiter_of, read_header
    from dhne.io.inputs import is_several, table_files
    from dhne.io.parquet import read_parquet_names

    if name == "-" or options.get("no_header"):
        return None
    try:
        path = table_files(name)[0] if is_several(name) else Path(name)
        if is_parquet(path):
            return read_parquet_names(path)
        delimiter = options.get("delimiter")
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter)
        encoding = options.get("encoding") or "utf-8"
        return list(read_header(path, delimiter or delimiter_of(path), encoding))
    except DHNEError:
        return []  # reading it will report the problem


def _fitting(mappings: list[str], header: list[str] | None) -> str | None:
    """Return the longest mapping whose columns are all there; the only one if that is unknown."""
    if header is None:
        return mappings[0] if len(mappings) == 1 else None
    named = [m for m in mappings if m != AUTO]
    fitting = [m for m in named if {c for _, c in parse_columns(m)} <= set(header)]
    otherwise = AUTO if AUTO in mappings else None
    return max(fitting, key=lambda m: len(parse_columns(m)), default=otherwise)


def _first(columns: list[str], header: list[str] | None) -> str | None:
    if header is None:
        return columns[0] if len(columns) == 1 else None
    return next((c for c in columns if c in header), NONE if NONE in columns else None)
