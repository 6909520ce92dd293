"""Tables in memory, from any library, as Arrow tables.

Taken are everything that speaks the Arrow PyCapsule interface (pandas, polars, pyarrow, DuckDB),
polars' lazy frames, Arrow datasets and scanners, mappings of columns, and lists of dicts. No
library is imported for it: what an object can do decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dhne.errors import InputError

from .vocabulary import decoded


def is_table(source: Any) -> bool:
    """Whether an object is a table in memory that `as_table` takes.

    Examples
    --------
    >>> is_table([{"user": "ann"}]), is_table([("ann", "Heat")]), is_table(pa.table({"a": [1]}))
    (True, False, True)
    """
    if hasattr(source, "__arrow_c_stream__") or _is_lazy(source) or _is_dataset(source):
        return not isinstance(source, pa.ChunkedArray) and not _is_series(source)
    if isinstance(source, Mapping):
        return bool(source)
    return isinstance(source, list) and bool(source) and isinstance(source[0], Mapping)


def as_table(source: Any) -> pa.Table:
    """Return a table in memory as an Arrow table without categories and without row labels.

    Examples
    --------
    >>> as_table([{"user": "ann", "movie": "Heat"}, {"user": "bob"}]).to_pydict()
    {'user': ['ann', 'bob'], 'movie': ['Heat', None]}
    """
    if not is_table(source):
        raise InputError(
            f"cannot read a table from {type(source).__name__}: give a file's name, a table of "
            "pandas, polars or pyarrow, or a list of dicts"
        )
    try:
        if _is_lazy(source):
            source = source.collect()
        if isinstance(source, list):
            table = _from_dicts(source)
        else:
            table = source.to_table() if _is_dataset(source) else pa.table(source)
    except (pa.ArrowException, ValueError, TypeError, OverflowError, AttributeError) as error:
        text = " ".join(str(error).split())
        raise InputError(f"the table cannot be converted to Arrow: {text[:200]}") from None
    index = [n for n in table.column_names if n.startswith("__index_level_")]
    table = table.drop_columns(index)  # pandas' row labels are not positions
    return without_categories(table)


def without_categories(table: pa.Table) -> pa.Table:
    """Return the table with categories replaced by their values."""
    return pa.table([decoded(c) for c in table.columns], names=table.column_names)


def _from_dicts(rows: list[Any]) -> pa.Table:
    """Return a column for each key in any row; `pa.Table.from_pylist` looks at the first alone."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {number + 1} is {type(row).__name__}, the first one is a dict")
    keys = dict.fromkeys(str(key) for row in rows for key in row)
    return pa.table({key: [row.get(key) for row in rows] for key in keys})


def _is_lazy(source: Any) -> bool:
    return hasattr(source, "collect") and hasattr(source, "collect_schema")


def _is_dataset(source: Any) -> bool:
    return hasattr(source, "to_table") and not hasattr(source, "__arrow_c_stream__")


def _is_series(source: Any) -> bool:
    return (
        hasattr(source, "__arrow_c_stream__")
        and not hasattr(source, "columns")
        and not (hasattr(source, "schema"))
    )
