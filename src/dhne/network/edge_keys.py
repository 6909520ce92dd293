"""Keys that tell whether two tuples are the same, and how many different tuples there can be."""

from __future__ import annotations

from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .edge_type import EdgeType, NodeArray


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
    if keys_are_exact(size_list):
        for p in range(1, len(size_list)):
            keys *= size_list[p]
            keys += nodes[:, p]
        return keys
    with np.errstate(over="ignore"):
        for p in range(1, len(size_list)):
            keys = mix(keys) * _ODD + nodes[:, p]
        return mix(keys)


def keys_are_exact(sizes: npt.ArrayLike) -> bool:
    """Whether the keys of tuples over so many nodes are numbers, not hashes."""
    return prod(max(int(size), 1) for size in np.asarray(sizes).tolist()) < 2**63


_ODD = -7046029254386353131  # 2^64 / golden ratio as a signed number
_MULTIPLIER = -4417276706812531889


def mix(keys: Any) -> Any:
    """Spread the bits of 64-bit keys; wraps around on purpose."""
    keys = (keys ^ ((keys >> 29) & 0x7FFFFFFFF)) * _MULTIPLIER
    return keys ^ ((keys >> 32) & 0xFFFFFFFF)


def distinct_rows(nodes: NodeArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (rows of first occurrences in order, for each row the number of its distinct row)."""
    sizes = nodes.max(axis=0, initial=0) + 1
    if keys_are_exact(sizes):
        keys = edge_keys(nodes, sizes)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(nodes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.reshape(-1)].astype(np.int64)


def first_in_tuple(
    nodes: NodeArray, types: EdgeType, position: int
) -> npt.NDArray[np.bool_] | None:
    """Return in which tuples no earlier position holds the node at `position`.

    A node that is in a hyperedge twice counts once: this tells which of its positions to count.
    None means all of them, because no earlier position has the same node type.
    """
    earlier = [q for q in range(position) if types[q] == types[position]]
    if not earlier:
        return None
    first: npt.NDArray[np.bool_] = (nodes[:, earlier] != nodes[:, [position]]).all(axis=1)
    return first


def repeats_node(nodes: Any, types: EdgeType) -> Any:
    """Return which tuples (of an array or a tensor) hold a node twice in one set."""
    repeats = nodes[:, 0] != nodes[:, 0]
    for group in types.groups:
        if len(group) < 2:
            continue
        members = nodes[:, list(group)]
        if isinstance(nodes, np.ndarray):
            members = np.sort(members, axis=1)
        else:
            members = members.sort(dim=1).values
        repeats |= (members[:, 1:] == members[:, :-1]).any(1)
    return repeats


def num_possible(types: EdgeType, sizes: npt.ArrayLike, *, repeats_nodes: bool = True) -> int:
    """Return how many different tuples of a type there are, hyperedges or not.

    Examples
    --------
    >>> num_possible(EdgeType(("author", "author")), [4, 4])
    16
    >>> sets = EdgeType.of(("author", "author"), ordered=False)
    >>> num_possible(sets, [4, 4], repeats_nodes=False)
    6
    """
    size_list = [int(s) for s in np.asarray(sizes)]
    ways = 1
    for group in types.groups:
        n, r = size_list[group[0]], len(group)
        ways *= comb(n + r - 1, r) if repeats_nodes else comb(n, r)
    return ways
