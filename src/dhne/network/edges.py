"""`EdgeSet`: the hyperedges of one edge type as arrays.

`nodes[e, p]` is the id, within its type, of the node at position p of hyperedge e. Ids of positions
that are a set are kept sorted, so equal hyperedges have equal rows. Beside the nodes there are
columns with one value per hyperedge: its weight and, if known, its time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError, ParameterError

from .edge_keys import distinct_rows
from .edge_type import EdgeType, NodeArray
from .extras import TextColumn, as_texts, join_texts, take_texts

__all__ = ["EdgeSet", "EdgeType", "NodeArray", "TimeArray", "WeightArray", "position_sizes"]

WeightArray = npt.NDArray[np.float64]
TimeArray = npt.NDArray[Any]  # float64, int64 or datetime64[us]


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Hyperedges of one type: ``nodes: int64[m, N]``, ``weights: float64[m]``.

    Attributes
    ----------
    types : EdgeType
        The node type and role of each position.
    nodes : int64[m, N]
    weights : float64[m]
        Positive and finite; 1 where nothing else is known.
    times : [m], optional
        When each hyperedge happened: numbers, or datetime64 in microseconds.
    extras : large_string[m], optional
        Other attributes of each hyperedge in a file, as JSON text; see `dhne.network.extras`.
    """

    types: EdgeType
    nodes: NodeArray
    weights: WeightArray
    times: TimeArray | None = None
    extras: TextColumn | None = None

    @classmethod
    def build(
        cls,
        types: Sequence[str],
        nodes: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        times: npt.ArrayLike | None = None,
        extras: Any = None,
        ordered: bool = True,
        copy: bool = True,
    ) -> EdgeSet:
        """Check the parts, sort the ids of sets, freeze the arrays.

        Parameters
        ----------
        types : EdgeType, or sequence of node types
        ordered : bool
            With plain node types: whether positions of the same type are distinct or a set.
        copy : bool
            False takes the arrays over: nobody else may keep them.
        """
        types = EdgeType.of(types, ordered=ordered)
        if len(types) < 2:
            raise InputError(f"an edge type needs at least two positions, got {tuple(types)!r}")
        duplicate = True if copy else None
        try:
            array = np.asarray(nodes)
            weight = None if weights is None else np.array(weights, np.float64, copy=duplicate)
        except (TypeError, ValueError) as error:
            raise InputError(f"edges and weights must be arrays of numbers: {error}") from None
        if array.size == 0:
            array = np.empty((0, len(types)), np.int64)
        if array.ndim != 2 or array.shape[1] != len(types):
            raise InputError(
                f"edges of type {tuple(types)!r} must be an array of shape [m, {len(types)}], "
                f"got {list(array.shape)}"
            )
        if not np.issubdtype(array.dtype, np.integer):
            raise InputError(f"edges must be integer node ids, got {array.dtype}")
        array = np.array(array, dtype=np.int64, order="C", copy=duplicate)
        types.sort_sets(array)
        weight = np.ones(len(array)) if weight is None else weight
        _check_weights(weight, len(array))
        time = None if times is None else as_times(times, len(array))
        for column in (array, weight, time):
            if column is not None:
                column.flags.writeable = False
        texts = None if extras is None else as_texts(extras, len(array))
        return cls(types, array, weight, time, texts)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def length(self) -> int:
        """N, the number of positions."""
        return len(self.types)

    def take(self, rows: npt.NDArray[Any]) -> EdgeSet:
        """Return the hyperedges in `rows` (a mask or an index array), in that order."""
        rows = np.asarray(rows)
        try:
            rows = rows.astype(np.int64) if rows.size == 0 and rows.dtype != bool else rows
            return self._with(
                nodes=self.nodes[rows],
                weights=self.weights[rows],
                times=None if self.times is None else self.times[rows],
                extras=take_texts(self.extras, rows),
            )
        except IndexError as error:
            raise ParameterError(f"there are no such rows: {error}") from None

    def fold(self) -> EdgeSet:
        """Return the distinct hyperedges in first-seen order.

        Weights of repeats are added up; the latest time is kept. Extras of repeats are dropped:
        they describe one of several.
        """
        first, inverse = distinct_rows(self.nodes)
        if len(first) == len(self):
            return self
        weights: WeightArray = np.bincount(inverse, self.weights, len(first)).astype(np.float64)
        times = self.times
        if times is not None:
            latest = times[first].copy()
            np.maximum.at(latest, inverse, times)
            times = latest
        extras = self.extras
        if extras is not None:
            once = np.bincount(inverse, minlength=len(first)) == 1
            extras = as_texts(extras.take(pa.array(first, mask=~once)), len(first))
        return self._with(nodes=self.nodes[first], weights=weights, times=times, extras=extras)

    def with_nodes(self, nodes: NodeArray) -> EdgeSet:
        """Return these hyperedges with other node ids, sets sorted anew."""
        return self._with(nodes=self.types.canonical(nodes))

    def _with(self, **columns: Any) -> EdgeSet:
        for column in columns.values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        return replace(self, **columns)

    def num_distinct(self) -> int:
        """Return how many different hyperedges there are."""
        return len(distinct_rows(self.nodes)[0])

    @staticmethod
    def join(parts: Sequence[EdgeSet]) -> EdgeSet:
        """Return the hyperedges of several sets of one type, one after the other."""
        types = parts[0].types
        if any((p.types.roles, p.types.many) != (types.roles, types.many) for p in parts):
            raise InputError(
                f"edges {tuple(types)!r} have different roles in the two: "
                f"{types.label} and {parts[-1].types.label}"
            )
        timed = [p for p in parts if p.times is not None]
        if timed and len(timed) < sum(1 for p in parts if len(p)):
            raise InputError(
                f"edges {tuple(types)!r} have times in one of the two, not in the other"
            )
        times = np.concatenate([p.times for p in timed]) if timed else None
        made = EdgeSet(
            types,
            np.concatenate([p.nodes for p in parts]),
            np.concatenate([p.weights for p in parts]),
        )
        extras = join_texts([p.extras for p in parts], [len(p) for p in parts])
        return made._with(nodes=made.nodes, weights=made.weights, times=times, extras=extras)


def _check_weights(weights: WeightArray, m: int) -> None:
    if weights.shape != (m,):
        raise InputError(f"{m} edges need as many weights, got shape {weights.shape}")
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the weight of edge {row + 1} is {weights[row]}; weights must be positive numbers"
        )


def as_times(times: npt.ArrayLike, m: int) -> TimeArray:
    """Return times as numbers or as datetime64 in microseconds; none may be missing."""
    array = np.array(times)
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    elif array.dtype.kind in "iu":
        array = array.astype(np.int64)
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)
    else:
        raise InputError(f"times must be numbers, dates or datetimes, got {array.dtype}")
    if array.shape != (m,):
        raise InputError(f"{m} edges need as many times, got shape {array.shape}")
    missing = np.isnat(array) if array.dtype.kind == "M" else ~np.isfinite(array)
    if missing.any():
        raise InputError(f"the time of edge {int(np.argmax(missing)) + 1} is missing")
    return array


def position_sizes(types: Sequence[str], num_nodes: Mapping[str, int]) -> NodeArray:
    """Return the number of nodes that may be at each position."""
    return np.array([num_nodes[t] for t in types], dtype=np.int64)
