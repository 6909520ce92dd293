"""A column of times: dates, datetimes or numbers, from text or typed.

Text holds numbers, or dates in ISO 8601 (``2024-05-01``, ``2024-05-01 12:30:00``, with or without a
time zone). Times with a zone are kept in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError
from dhne.network.edges import TimeArray

if TYPE_CHECKING:
    from .join_tables import Source

_UTC = pa.timestamp("us", "UTC")
_PLAIN = pa.timestamp("us")
TIME = "time"  # what the column of times is called where it is written
CALLED_TIME = ("timestamp", "date", "time", "datetime")
_DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]+\d{1,2}:\d{2}.*)?\s*$"
)


def looks_like_dates(names: pa.Array | pa.ChunkedArray) -> bool:
    """Whether every text is written like a date.

    Examples
    --------
    >>> (
    ...     looks_like_dates(pa.array(["2024-05-01", "1.6.2024 12:30"])),
    ...     looks_like_dates(pa.array(["2024-05-01", "May"])),
    ... )
    (True, False)
    """
    names = names.drop_null()
    return bool(len(names)) and bool(pc.all(pc.match_substring_regex(names, _DATE)).as_py())


def read_times(source: Source, name: str) -> TimeArray:
    """Return the times of a table's rows; raise, with its line, for a value that is not a time."""
    column = source.table[name]
    kind = column.type
    if column.null_count:
        row = pc.index(column.is_null(), value=True).as_py()
        raise source.error("the time is missing", row=row, column=name)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _from_text(source, name, column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _as_array(pc.cast(column, pa.timestamp("us", getattr(kind, "tz", None)), safe=False))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _numbers(source, name, column)
    raise source.error(
        f"this column holds {kind}; times are dates, datetimes or numbers", row=0, column=name
    )


def _from_text(source: Source, name: str, column: pa.ChunkedArray) -> TimeArray:
    if not len(column):
        return np.empty(0, np.int64)
    for kind in (pa.int64(), pa.float64(), _PLAIN, _UTC):
        try:
            found = column.cast(kind)
        except pa.ArrowException:
            continue
        is_number = kind in (pa.int64(), pa.float64())
        return _numbers(source, name, found) if is_number else _as_array(found)
    row = _first_misfit(column)
    what = "is neither a date nor a number like those above it" if row else "is not a time"
    raise source.error(
        f"{column[row].as_py()!r} {what}; write times as 2024-05-01, 2024-05-01 12:30:00 or as "
        "numbers",
        row=row,
        column=name,
    )


def _first_misfit(column: pa.ChunkedArray) -> int:
    """Return the first row that no longer converts, of the kind that converts furthest."""
    return max(_converts(column, kind) for kind in (pa.float64(), _PLAIN, _UTC))


def _converts(column: pa.ChunkedArray, kind: pa.DataType) -> int:
    """Return how many of the first rows convert, by halving; not all of them do."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        if _is(column.slice(low, middle - low), kind):
            low = middle
        else:
            high = middle
    return low


def _is(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        column.cast(kind)
    except pa.ArrowException:
        return False
    return True


def _numbers(source: Source, name: str, column: pa.ChunkedArray) -> TimeArray:
    numbers: TimeArray = column.to_numpy()
    numbers = numbers.astype(np.int64 if numbers.dtype.kind in "iu" else np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise source.error("the time is not a number", row=int(np.argmax(bad)), column=name)
    return numbers


def _as_array(column: pa.ChunkedArray) -> TimeArray:
    times: TimeArray = column.cast(pa.int64()).to_numpy().view("datetime64[us]")
    return times


def join_times(found: list[TimeArray | None], types: Sequence[str]) -> TimeArray | None:
    """Return the times of several tables of one edge type, one after the other."""
    times = [t for t in found if t is not None]
    if not times:
        return None
    if len(times) < len(found):
        raise InputError(f"edges {tuple(types)!r} have times in one table, not in the other")
    if len({t.dtype.kind == "M" for t in times}) > 1:
        raise InputError(
            f"edges {tuple(types)!r} have dates as times in one table, numbers in the other"
        )
    return np.concatenate(times)


def time_column(times: TimeArray, *, text: bool) -> pa.Array:
    """Return times as a column to write; in `text` as ISO 8601."""
    if times.dtype.kind != "M":
        return pa.array(times)
    column = pa.array(times, _PLAIN)
    if not text:
        return column
    days = times.astype("datetime64[D]")
    whole = bool((days == times).all())
    return pa.array(days).cast(pa.string()) if whole else column.cast(pa.string())


def time_kind(times: TimeArray) -> str:
    """Return what a description calls these times: date, integer or number."""
    return {"M": "date", "i": "integer"}.get(times.dtype.kind, "number")


def as_kind(times: TimeArray, kind: str) -> TimeArray:
    """Return times as their description says: numbers that happen to be whole stay floats."""
    return times.astype(np.float64) if kind == "number" and times.dtype.kind == "i" else times
