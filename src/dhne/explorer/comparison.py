"""What nodes have in common: the nodes they share hyperedges with, and their labels.

A node u *meets* v if some hyperedge contains both. For a selection S among n nodes of its type, a
node v is the more typical, the more often S meets it than chance would suggest:

    |{u in S : u meets v}| / |S|  -  |{u : u meets v}| / n

Hubs that every node meets and rare nodes that one selected node meets both score near zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from dhne.network.edges import NodeArray
from dhne.network.hypernetwork import HyperNetwork

from .incidence import Incidence


def meetings(
    network: HyperNetwork, node_type: str, chosen: npt.NDArray[np.bool_]
) -> dict[str, NodeArray]:
    """Return, per node type, how many of the chosen nodes each node of that type meets.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "Heat"), ("bob", "Heat"), ("bob", "Alien")], types=("user", "movie")
    ... )
    >>> meetings(net, "user", np.array([True, True]))
    {'movie': array([2, 1])}
    """
    pairs: dict[str, list[NodeArray]] = {}
    for edges in network.edge_sets:
        for p, q in np.ndindex(len(edges.types), len(edges.types)):
            if p == q or edges.types[p] != node_type:
                continue
            other = edges.types[q]
            rows = np.flatnonzero(chosen[edges.nodes[:, p]])
            ours, theirs = edges.nodes[rows, p], edges.nodes[rows, q]
            code = ours.astype(np.int64) * network.num_nodes(other) + theirs
            different = ours != theirs if other == node_type else slice(None)
            pairs.setdefault(other, []).append(np.unique(code[different]))
    found = {}
    for other, codes in pairs.items():
        n = network.num_nodes(other)
        found[other] = np.bincount(np.unique(np.concatenate(codes)) % max(1, n), minlength=n)
    return found


def typical(selected: NodeArray, everyone: NodeArray, size: int, n: int, k: int) -> NodeArray:
    """Return the nodes that distinguish a selection of `size` among `n`, most typical first.

    Parameters
    ----------
    selected, everyone : int64[m]
        How many selected nodes, and how many of all, each of m nodes meets.
    k : int
        The maximum number; nodes that others meet more often than the selection are left out.

    Examples
    --------
    >>> typical(np.array([3, 3, 0, 1, 1]), np.array([3, 9, 1, 1, 8]), size=3, n=9, k=4)
    array([0, 3, 1])
    """
    excess = selected / max(1, size) - everyone / max(1, n)
    order = np.lexsort((np.arange(len(selected)), -selected, -excess.round(12)))
    best: NodeArray = order[(selected > 0)[order] & (excess > -1e-9)[order]][:k]
    return best


def label_counts(column: Any, nodes: NodeArray) -> list[tuple[str, int, int]]:
    """Return (label, how many of `nodes` have it, how many of all), most frequent first."""
    total = {c["values"]: c["counts"] for c in pc.value_counts(column.flatten()).to_pylist()}
    chosen = pc.value_counts(column.take(nodes).flatten()).to_pylist()
    counts = [(c["values"], c["counts"], total[c["values"]]) for c in chosen]
    return sorted(counts, key=lambda c: (-c[1], c[0]))


class Common(NamedTuple):
    """The neighbours of two nodes, of one type."""

    nodes: NodeArray  # in common, the most frequent first
    only_first: int
    only_second: int


def common_neighbours(
    incidence: Incidence, first: tuple[str, int], second: tuple[str, int], node_type: str
) -> Common:
    """Return the common neighbours of two nodes, of one type, without the two themselves."""
    (a, times_a), (b, times_b) = (
        incidence.neighbours(*node, node_type) for node in (first, second)
    )
    for t, node in (first, second):
        if t == node_type:
            times_a, a = times_a[a != node], a[a != node]
            times_b, b = times_b[b != node], b[b != node]
    nodes, at_a, at_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    order = np.lexsort((nodes, -np.minimum(times_a[at_a], times_b[at_b])))
    return Common(nodes[order], len(a) - len(nodes), len(b) - len(nodes))
