"""Times of the edges of a HIF file: the attribute ``time``, a number or a date in ISO 8601."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError
from dhne.files.reading import StrPath
from dhne.network.edges import TimeArray

from .hif_extras import own_part

_LARGEST = 2**63  # beyond it a number does not fit int64


def read_edge_times(found: dict[str, Any], number: dict[Any, int]) -> list[Any] | None:
    """Return the time of each edge by its number, None for an edge without; None if all are.

    Only in files of our own: elsewhere the attribute may hold anything.
    """
    if "dhne-format" not in own_part(found.get("metadata", {})):
        return None
    times: list[Any] = [None] * len(number)
    for record in found.get("edges", []):
        time = own_part(record.get("attrs", {})).get("time")
        if time is not None:
            times[number[record["edge"]]] = time
    return times if any(t is not None for t in times) else None


def times_of_edges(
    times: list[Any] | None, edges: npt.NDArray[np.int64], file: StrPath
) -> TimeArray | None:
    """Return the times of some edges as one array; None if none of them has a time."""
    values = [] if times is None else [times[e] for e in edges.tolist()]
    if all(v is None for v in values):
        return None
    if all(isinstance(v, str) for v in values):
        return _dates(values, file)
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not numbers or not all(-_LARGEST <= v < _LARGEST for v in values):
        raise InputError(
            "edges: the times of edges of one type must be all numbers or all dates in ISO 8601, "
            "and none may be missing",
            file=file,
        )
    return np.array(values, np.float64 if any(isinstance(v, float) for v in values) else np.int64)


def _dates(values: list[str], file: StrPath) -> TimeArray:
    try:
        dates: TimeArray = np.array(values, "datetime64[us]")
    except ValueError as error:
        raise InputError(f"edges: a time is not an ISO 8601 date: {error}", file=file) from None
    return dates
