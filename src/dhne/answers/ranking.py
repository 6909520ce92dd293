"""Helpers for rankings: the largest of many scores, and which candidates are allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import OPEN


def top_k(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Return the indices of the `k` largest scores, best first; ties go to the lower index.

    Examples
    --------
    >>> top_k(np.array([0.1, 0.9, 0.5, 0.9]), 3)
    array([1, 3, 2])
    """
    chosen = contenders(scores, k)
    return chosen[np.lexsort((chosen, -scores[chosen]))][:k]


def contenders(scores: npt.NDArray[Any], k: int, error: float = 0.0) -> npt.NDArray[np.int64]:
    """Return, ascending, all indices that may be among the `k` best, given the error of scores.

    Examples
    --------
    >>> contenders(np.array([0.1, 0.9, 0.5, 0.8]), 1, error=0.06)
    array([1, 3])
    """
    k = min(k, int(np.isfinite(scores).sum()))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    chosen: npt.NDArray[np.int64] = np.flatnonzero(scores >= threshold - 2 * error)
    return chosen


def members(nodes: NodeArray, edge_type: EdgeType, position: int) -> NodeArray:
    """Return the nodes that cannot be at `position` because they are in the set already."""
    return nodes[[p for p in edge_type.peers(position) if nodes[p] != OPEN]]


def barred(
    network: HyperNetwork,
    nodes: NodeArray,
    edge_type: EdgeType,
    position: int,
    *,
    drop_known: bool,
) -> NodeArray:
    """Return the nodes that are not allowed: members of the set, and known hyperedges."""
    found = members(nodes, edge_type, position)
    if not drop_known or edge_type not in network.edge_types:
        return found
    edges = network.edge_set(edge_type)
    known = completions(edges.nodes, nodes, edge_type, position)
    return np.concatenate([found, known])


def completions(
    known: NodeArray, nodes: NodeArray, edge_type: EdgeType, position: int
) -> NodeArray:
    """Return the nodes at `position` that make `nodes` one of the `known` hyperedges."""
    hit = np.ones(len(known), dtype=bool)
    for group in edge_type.groups:
        if position not in group:
            hit &= (known[:, group] == np.sort(nodes[list(group)])).all(axis=1)
    # Sets are sorted: the query must equal a known set with one member removed.
    peers = edge_type.peers(position)
    if not peers:
        fitting: NodeArray = known[hit, position]
        return fitting
    rows, others = known[hit][:, sorted((position, *peers))], np.sort(nodes[list(peers)])
    found = [
        rows[(np.delete(rows, i, axis=1) == others).all(axis=1), i] for i in range(rows.shape[1])
    ]
    distinct: NodeArray = np.unique(np.concatenate(found))
    return distinct


def check_k(k: int) -> None:
    """Raise if `k` is not a valid number of answers."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise ParameterError(f"k must be a whole number, got {k!r}")
    if k < 1:
        raise ParameterError(f"k must be at least 1, got {k}")
