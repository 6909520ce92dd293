"""The hyperedges of one edge type as arrays, and keys that tell whether two are the same.

An edge type is the tuple of its positions' node types. `nodes[e, p]` is the id, within its type, of
the node at position p of hyperedge e. Where positions of one node type are *unordered* they are a
set: their ids are kept sorted, so equal hyperedges have equal rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError

EdgeType = tuple[str, ...]
NodeArray = npt.NDArray[np.int64]
WeightArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Hyperedges of one type: ``nodes: int64[m, N]``, ``weights: float64[m]``.

    Attributes
    ----------
    types : tuple of str
        The node type of each position.
    nodes : int64[m, N]
    weights : float64[m]
        Positive and finite; 1 where nothing else is known.
    ordered : bool
        Whether positions of the same node type are distinct. Always true when no type repeats.
    """

    types: EdgeType
    nodes: NodeArray
    weights: WeightArray
    ordered: bool = True

    @classmethod
    def build(
        cls,
        types: Sequence[str],
        nodes: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        ordered: bool = True,
        copy: bool = True,
    ) -> EdgeSet:
        """Check the parts, bring unordered positions into canonical order, freeze the arrays.

        With `copy` false both arrays are taken over: nobody else may keep them.
        """
        types = tuple(types)
        if len(types) < 2:
            raise InputError(f"an edge type needs at least two positions, got {types!r}")
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
                f"edges of type {types!r} must be an array of shape [m, {len(types)}], "
                f"got {list(array.shape)}"
            )
        if not np.issubdtype(array.dtype, np.integer):
            raise InputError(f"edges must be integer node ids, got {array.dtype}")
        array = np.array(array, dtype=np.int64, order="C", copy=duplicate)
        if len(set(types)) == len(types):
            ordered = True
        if not ordered:
            _sort_unordered(array, types)
        weight = np.ones(len(array)) if weight is None else weight
        if weight.shape != (len(array),):
            raise InputError(f"{len(array)} edges need as many weights, got shape {weight.shape}")
        bad = ~(np.isfinite(weight) & (weight > 0))
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"the weight of edge {row + 1} is {weight[row]}; weights must be positive numbers"
            )
        array.flags.writeable = weight.flags.writeable = False
        return cls(types, array, weight, ordered)

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
            nodes, weights = self.nodes[rows], self.weights[rows]
        except IndexError as error:
            raise ParameterError(f"these rows are not there: {error}") from None
        nodes.flags.writeable = weights.flags.writeable = False
        return EdgeSet(self.types, nodes, weights, self.ordered)

    def fold(self) -> EdgeSet:
        """Return the distinct hyperedges in first-seen order, the weights of repeats added up."""
        first, inverse = distinct_rows(self.nodes)
        if len(first) == len(self):
            return self
        weights: WeightArray = np.bincount(inverse, self.weights, len(first)).astype(np.float64)
        nodes = self.nodes[first]
        nodes.flags.writeable = weights.flags.writeable = False
        return EdgeSet(self.types, nodes, weights, self.ordered)

    def num_distinct(self) -> int:
        """Return how many different hyperedges there are."""
        return len(distinct_rows(self.nodes)[0])


def _sort_unordered(nodes: NodeArray, types: EdgeType) -> None:
    """Sort ids in place within the positions that share a node type."""
    for node_type in set(types):
        positions = [p for p, t in enumerate(types) if t == node_type]
        if len(positions) > 1:
            nodes[:, positions] = np.sort(nodes[:, positions], axis=1)


def canonical(nodes: npt.ArrayLike, types: EdgeType, *, ordered: bool) -> NodeArray:
    """Return a copy of tuples `nodes` in the form in which an `EdgeSet` keeps them."""
    array = np.array(nodes, dtype=np.int64)
    if not ordered:
        _sort_unordered(array, types)
    return array


def stands_first(nodes: NodeArray, types: EdgeType, position: int) -> npt.NDArray[np.bool_] | None:
    """Return in which tuples the node at `position` stands for the first time.

    A node that stands twice in one hyperedge is in that hyperedge once: this tells which of its
    positions to count. None says all of them, because no earlier position has the same node type.
    """
    earlier = [q for q in range(position) if types[q] == types[position]]
    if not earlier:
        return None
    first: npt.NDArray[np.bool_] = (nodes[:, earlier] != nodes[:, [position]]).all(axis=1)
    return first


def repeats_node(nodes: Any, types: EdgeType) -> Any:
    """Return in which tuples (of an array or a tensor) a node stands twice."""
    repeats = nodes[:, 0] != nodes[:, 0]
    for p, t in enumerate(types):
        for q in range(p + 1, len(types)):
            if types[q] == t:
                repeats |= nodes[:, p] == nodes[:, q]
    return repeats


def num_possible(
    types: EdgeType, sizes: npt.ArrayLike, *, ordered: bool = True, repeats_nodes: bool = True
) -> int:
    """Return how many different tuples there are of a type, hyperedges or not.

    Examples
    --------
    >>> num_possible(("author", "author"), [4, 4])
    16
    >>> num_possible(("author", "author"), [4, 4], ordered=False, repeats_nodes=False)
    6
    """
    size_list = [int(s) for s in np.asarray(sizes)]
    if ordered:
        return prod(size_list)
    ways = 1
    for t, r in Counter(types).items():
        n = size_list[types.index(t)]
        ways *= comb(n + r - 1, r) if repeats_nodes else comb(n, r)
    return ways


def distinct_rows(nodes: NodeArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (rows of first occurrences in order, for each row the number of its distinct row)."""
    sizes = nodes.max(axis=0, initial=0) + 1
    keys = edge_keys(nodes, sizes) if _fits(sizes) else None
    if keys is not None:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(nodes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.reshape(-1)].astype(np.int64)


def _fits(sizes: npt.ArrayLike) -> bool:
    product = 1
    for size in np.asarray(sizes).tolist():
        product *= max(int(size), 1)
    return product < 2**63


def edge_keys(nodes: Any, sizes: npt.ArrayLike) -> Any:
    """Return one int64 key per tuple: equal tuples have equal keys.

    The key is the mixed-radix number Σ_p v_p · Π_{q>p} n_q where that fits into 63 bits; it is then
    exact. For longer tuples over larger types it is a 64-bit hash, which takes two different tuples
    for the same once in 10^19 pairs.

    Parameters
    ----------
    nodes : int64[m, N], a NumPy array or a torch tensor (on any device)
    sizes : the number of nodes of each position's type

    Examples
    --------
    >>> edge_keys(np.array([[1, 2], [0, 3]]), [2, 10])
    array([12,  3])
    """
    size_list = [max(int(s), 1) for s in np.asarray(sizes).tolist()]
    keys = nodes[:, 0] * 1
    if _fits(size_list):
        for p in range(1, len(size_list)):
            keys *= size_list[p]
            keys += nodes[:, p]
        return keys
    with np.errstate(over="ignore"):
        for p in range(1, len(size_list)):
            keys = _mix(keys) * _ODD + nodes[:, p]
        return _mix(keys)


_ODD = -7046029254386353131  # 2^64 / golden ratio as a signed number
_MULTIPLIER = -4417276706812531889


def _mix(keys: Any) -> Any:
    """Spread the bits of 64-bit keys; wraps around on purpose."""
    keys = (keys ^ ((keys >> 29) & 0x7FFFFFFFF)) * _MULTIPLIER
    return keys ^ ((keys >> 32) & 0xFFFFFFFF)


def position_sizes(types: EdgeType, num_nodes: Mapping[str, int]) -> NodeArray:
    """Return the number of nodes that may stand at each position."""
    return np.array([num_nodes[t] for t in types], dtype=np.int64)
