"""Times of hyperedges: splits at a moment, weights that fade with age, the span they cover.

A half-life h halves the weight of a hyperedge with every h that it is older than the newest one:

    w ← w · 2^(−(t_newest − t) / h)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError

if TYPE_CHECKING:
    from .edges import EdgeSet, TimeArray
    from .hypernetwork import HyperNetwork

_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86_400),
    **dict.fromkeys(("y", "year", "years"), 365.25 * 86_400),
}
_DURATION = re.compile(r"^\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)\s*$")


def times_of(network: HyperNetwork) -> list[TimeArray]:
    """Return the times of each edge type's hyperedges; raise where one has none."""
    found = []
    for edges in network.edge_sets:
        if edges.times is None and len(edges):
            raise InputError(
                f"the hyperedges {edges.types.label} have no times; name their column when reading "
                "them (--time COLUMN, time=…)"
            )
        found.append(np.empty(0) if edges.times is None else edges.times)
    kinds = {times.dtype.kind == "M" for times in found if len(times)}
    if not kinds:
        raise InputError("there are no hyperedges, so there are no times")
    if len(kinds) > 1:
        raise InputError("some edge types have dates as times, others numbers; use one of the two")
    return found


def split_by_time(network: HyperNetwork, fraction: float) -> tuple[HyperNetwork, HyperNetwork]:
    """Return (train, test): the latest `fraction` of all hyperedges is test.

    Hyperedges of the same time are on the same side, so the share is as near as that allows.
    """
    if not 0 < fraction < 1:
        raise ParameterError(f"the fraction to hold out must be between 0 and 1, got {fraction}")
    times = times_of(network)
    everything = np.sort(np.concatenate([t for t in times if len(t)]))
    first_test = _cut(everything, fraction)
    held_out = [t >= first_test if len(t) else np.zeros(0, bool) for t in times]
    pairs = list(zip(network.edge_sets, held_out, strict=True))
    train = network.with_edges(edges.take(~later) for edges, later in pairs)
    return train, network.with_edges(edges.take(later) for edges, later in pairs)


def _cut(times: TimeArray, fraction: float) -> Any:
    """Return the earliest time of the test, given all times in order."""
    wanted = len(times) - round(fraction * len(times))
    starts = np.flatnonzero(times[1:] != times[:-1]) + 1  # where a new moment begins
    if not len(starts):
        raise InputError("all hyperedges have the same time; they cannot be split by time")
    return times[starts[np.argmin(np.abs(starts - wanted))]]


def parse_half_life(text: str | float) -> tuple[float, str | None]:
    """Return a half-life as (seconds, unit), or as (number, None) where it has no unit.

    Examples
    --------
    >>> parse_half_life("90d"), parse_half_life("1.5"), parse_half_life("2 weeks")
    ((7776000.0, 'd'), (1.5, None), (1209600.0, 'weeks'))
    """
    match = _DURATION.match(str(text))
    unit = match[2] if match else ""
    factor = _SECONDS.get(unit.casefold()) if unit else 1
    if match is None or factor is None or not 0 < float(match[1]) * factor < np.inf:
        raise ParameterError(
            f"a half-life is a positive number with s, min, h, d, w or y, such as 90d, or a plain "
            f"number where times are numbers; got {text!r}"
        )
    return float(match[1]) * factor, unit or None


def with_decay(network: HyperNetwork, half_life: str | float) -> HyperNetwork:
    """Return the network with weights that halve with every `half_life` of age.

    Parameters
    ----------
    half_life : str or number
        ``"90d"`` (s, min, h, d, w, y) where times are dates; where they are numbers, a number in
        their own unit.
    """
    length, unit = parse_half_life(half_life)
    times = times_of(network)
    newest = max(t.max() for t in times if len(t))
    dates = isinstance(newest, np.datetime64)
    if dates != (unit is not None):
        needed = "needs a unit, such as 90d" if dates else "is a number in the same unit"
        raise ParameterError(
            f"the times are {'dates' if dates else 'plain numbers'}, so the half-life {needed}; "
            f"got {half_life!r}"
        )
    parts = zip(network.edge_sets, times, strict=True)
    return network.with_edges(_decayed(e, newest - t, length) for e, t in parts)


def _decayed(edges: EdgeSet, age: npt.NDArray[Any], half_life: float) -> EdgeSet:
    if not len(edges):
        return edges
    passed = age / np.timedelta64(1, "s") if age.dtype.kind == "m" else age.astype(np.float64)
    tiny = np.finfo(np.float64).tiny  # weights stay positive, however old
    weights = np.maximum(edges.weights * np.exp2(-passed / half_life), tiny)
    weights.flags.writeable = False
    return replace(edges, weights=weights)


def span(times: TimeArray | None) -> dict[str, Any] | None:
    """Return the first and the last time as plain data: numbers, or ISO 8601 text.

    Examples
    --------
    >>> span(np.array(["2024-05-01", "2024-01-31T12:00"], "datetime64[us]"))
    {'first': '2024-01-31T12:00:00', 'last': '2024-05-01'}
    """
    if times is None or not len(times):
        return None
    first, last = as_plain([times.min(), times.max()])
    return {"first": first, "last": last}


def as_plain(times: Iterable[Any]) -> list[int | float | str]:
    """Return times as numbers, or as ISO 8601 text that is as short as it can be."""
    found: list[int | float | str] = []
    for time in times:
        if isinstance(time, np.datetime64):
            text = str(time.astype("datetime64[us]"))
            found.append(text.removesuffix(".000000").removesuffix("T00:00:00"))
        else:
            found.append(time.item() if isinstance(time, np.generic) else time)
    return found
