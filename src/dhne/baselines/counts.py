"""Pair co-occurrences and degrees of tuples, optionally without one hyperedge.

For a tuple v of one edge type, with w_e the weight of hyperedge e:

    count(p, q) = Σ_e w_e [e_p = v_p and e_q = v_q],        degree(p) = Σ_e w_e [e_p = v_p].

For each tuple, one hyperedge of the network can be left out of all sums, as if it had never been
there. Ordered positions have one column per pair and one per position. Among unordered positions
the order does not matter: pairs of the same two node types give the minimum, mean and maximum of
their counts, and so do degrees; this works for sets of any size.

If a node type is at several ordered positions, or there are several edge types, the counts over the
whole network, at any positions, are additional columns.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .clique import global_ids, node_offsets

if TYPE_CHECKING:
    from dhne.network.edges import EdgeSet, EdgeType, NodeArray
    from dhne.network.hypernetwork import HyperNetwork

FloatArray = npt.NDArray[np.float64]


class SumTable:
    """Sums of weights by key: a sorted array of keys and their totals.

    Examples
    --------
    >>> table = SumTable(np.array([7, 3, 7]), np.array([1.0, 2.0, 3.0]))
    >>> table.look_up(np.array([3, 5, 7]))
    array([2., 0., 4.])
    """

    def __init__(self, keys: NodeArray, weights: FloatArray) -> None:
        self.keys, inverse = np.unique(keys, return_inverse=True)
        self.totals = np.bincount(inverse, weights=weights, minlength=len(self.keys))

    def look_up(self, keys: NodeArray) -> FloatArray:
        """Return the total of each key, 0 for missing keys."""
        if not len(self.keys):
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.totals[place], 0.0)


class _Places:
    """Counts at given positions of one edge type (ordered), in the columns' order."""

    def __init__(self, edges: EdgeSet, sizes: dict[str, int]) -> None:
        self.sizes = [sizes[t] for t in edges.types]
        self.pairs = list(combinations(range(edges.length), 2))
        nodes, weights = edges.nodes, edges.weights
        self.pair_sums = [SumTable(self._key(nodes, p, q), weights) for p, q in self.pairs]
        self.degrees = [
            np.bincount(nodes[:, p], weights=weights, minlength=n).astype(np.float64)
            for p, n in enumerate(self.sizes)
        ]

    def _key(self, nodes: NodeArray, p: int, q: int) -> NodeArray:
        return nodes[:, p] * self.sizes[q] + nodes[:, q]

    def columns(
        self, nodes: NodeArray, left_out: NodeArray | None, weights: FloatArray | None
    ) -> list[FloatArray]:
        found = []
        for (p, q), table in zip(self.pairs, self.pair_sums, strict=True):
            column = table.look_up(self._key(nodes, p, q))
            if left_out is not None and weights is not None:
                same = (nodes[:, p] == left_out[:, p]) & (nodes[:, q] == left_out[:, q])
                column = column - weights * same
            found.append(column)
        for p, degree in enumerate(self.degrees):
            column = degree[nodes[:, p]]
            if left_out is not None and weights is not None:
                column = column - weights * (nodes[:, p] == left_out[:, p])
            found.append(column)
        return found


class _Anywhere:
    """Counts over the whole network, whatever the positions and edge types."""

    def __init__(self, network: HyperNetwork) -> None:
        self.offsets, sizes = node_offsets(network)
        self.n = sum(sizes.values())
        keys, weights = [], []
        self.degree = np.zeros(self.n)
        for edges in network.edge_sets:
            ids = global_ids(edges.nodes, edges.types, self.offsets)
            for p, q in combinations(range(edges.length), 2):
                keys.append(self._key(ids[:, p], ids[:, q]))
                weights.append(edges.weights)
            for column in ids.T:
                self.degree += np.bincount(column, weights=edges.weights, minlength=self.n)
        self.sums = SumTable(np.concatenate(keys), np.concatenate(weights))

    def _key(self, a: NodeArray, b: NodeArray) -> NodeArray:
        return np.minimum(a, b) * self.n + np.maximum(a, b)

    def pairs(
        self,
        nodes: NodeArray,
        edge_type: EdgeType,
        left_out: NodeArray | None,
        weights: FloatArray | None,
    ) -> FloatArray:
        """Return the count of each pair of positions, ``[m, N(N-1)/2]``."""
        ids = global_ids(nodes, edge_type, self.offsets)
        gone = None if left_out is None else global_ids(left_out, edge_type, self.offsets)
        found = []
        for p, q in combinations(range(len(edge_type)), 2):
            key = self._key(ids[:, p], ids[:, q])
            column = self.sums.look_up(key)
            if gone is not None and weights is not None:
                for r, s in combinations(range(len(edge_type)), 2):
                    column = column - weights * (key == self._key(gone[:, r], gone[:, s]))
            found.append(column)
        return np.stack(found, axis=1)

    def degrees(
        self,
        nodes: NodeArray,
        edge_type: EdgeType,
        left_out: NodeArray | None,
        weights: FloatArray | None,
    ) -> FloatArray:
        """Return the degree of each node, ``[m, N]``."""
        ids = global_ids(nodes, edge_type, self.offsets)
        found = self.degree[ids]
        if left_out is not None and weights is not None:
            gone = global_ids(left_out, edge_type, self.offsets)
            for r in range(len(edge_type)):
                found = found - weights[:, None] * (ids == gone[:, r : r + 1])
        return found


class TupleCounts:
    """The counts of a network's tuples; see the module docstring.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b", "c"): [[0, 0, 0], [0, 0, 1], [1, 0, 1]]})
    >>> counts = TupleCounts(net)
    >>> counts.features(np.array([[0, 0, 1]]), ("a", "b", "c"))
    array([[2., 1., 2., 2., 3., 2.]])
    >>> edge, weight = np.array([[0, 0, 1]]), np.array([1.0])
    >>> counts.features(np.array([[0, 0, 1]]), ("a", "b", "c"), left_out=edge, weights=weight)
    array([[1., 0., 1., 1., 2., 1.]])
    """

    def __init__(self, network: HyperNetwork) -> None:
        sizes = {t: network.num_nodes(t) for t in network.node_types}
        self._places = {
            e.types: _Places(e, sizes) for e in network.edge_sets if not e.types.has_sets
        }
        plain = len(network.edge_sets) == 1 and len(set(network.edge_types[0])) == len(
            network.edge_types[0]
        )
        self._anywhere = None if plain else _Anywhere(network)

    def features(
        self,
        nodes: NodeArray,
        edge_type: EdgeType,
        *,
        left_out: NodeArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Return the counts of tuples ``int64[m, N]`` of one edge type, one row per tuple.

        Parameters
        ----------
        left_out : int64[m, N], optional
            For each tuple, the hyperedge of the same type to leave out of its counts.
        weights : float64[m], optional
            The weights of the hyperedges left out.
        """
        if edge_type in self._places:
            columns = self._places[edge_type].columns(nodes, left_out, weights)
            if self._anywhere is not None:
                columns += list(self._anywhere.pairs(nodes, edge_type, left_out, weights).T)
                columns += list(self._anywhere.degrees(nodes, edge_type, left_out, weights).T)
            return np.stack(columns, axis=1)
        assert self._anywhere is not None  # unordered positions exist only with a repeated type
        pairs = self._anywhere.pairs(nodes, edge_type, left_out, weights)
        degrees = self._anywhere.degrees(nodes, edge_type, left_out, weights)
        pair_kinds = [tuple(sorted(kinds)) for kinds in combinations(edge_type, 2)]
        return np.concatenate([_spread(pairs, pair_kinds), _spread(degrees, list(edge_type))], 1)


def _spread(columns: FloatArray, kinds: list[str] | list[tuple[str, ...]]) -> FloatArray:
    """Return the minimum, mean and maximum of the columns of each kind."""
    found = []
    for kind in dict.fromkeys(kinds):
        group = columns[:, [i for i, k in enumerate(kinds) if k == kind]]
        found += [group.min(axis=1), group.mean(axis=1), group.max(axis=1)]
    return np.stack(found, axis=1)
