"""The hyperedges of a node without a search: for each position, rows sorted by their node.

Rows are sorted once by the node at a position (a counting sort); those of node v are then
``order[start[v] : start[v + 1]]``.
"""

from __future__ import annotations

import threading

import numpy as np

from dhne.network.edges import NodeArray
from dhne.network.hypernetwork import HyperNetwork


class Incidence:
    """Hyperedges by node; the index of each position is built on first use.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "Heat"), ("bob", "Heat"), ("bob", "Alien")], types=("user", "movie")
    ... )
    >>> incidence = Incidence(net)
    >>> incidence.rows(0, "user", 1)
    array([1, 2])
    >>> incidence.neighbours("user", 1, "movie")
    (array([0, 1]), array([1, 1]))
    """

    def __init__(self, network: HyperNetwork) -> None:
        self.network = network
        self._made: dict[tuple[int, int], tuple[NodeArray, NodeArray]] = {}
        self._lock = threading.Lock()

    def rows(self, edge_type: int, node_type: str, node: int) -> NodeArray:
        """Return the rows of the hyperedges of an edge type (by number) that contain a node."""
        types = self.network.edge_sets[edge_type].types
        found = [self._at(edge_type, p, node) for p, t in enumerate(types) if t == node_type]
        if len(found) == 1:
            return found[0]
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    def _at(self, edge_type: int, position: int, node: int) -> NodeArray:
        key = (edge_type, position)
        with self._lock:
            if key not in self._made:
                self._made[key] = self._sort(edge_type, position)
        order, start = self._made[key]
        return order[start[node] : start[node + 1]]

    def _sort(self, edge_type: int, position: int) -> tuple[NodeArray, NodeArray]:
        edges = self.network.edge_sets[edge_type]
        column = edges.nodes[:, position]
        counts = np.bincount(column, minlength=self.network.num_nodes(edges.types[position]))
        order = np.argsort(column, kind="stable").astype(np.int64, copy=False)
        return order, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def both(self, first: tuple[str, int], second: tuple[str, int]) -> list[NodeArray]:
        """Return, for each edge type, the rows of the hyperedges that contain both nodes."""
        found = []
        for number, types in enumerate(self.network.edge_types):
            a, b = (
                self.rows(number, *node) if node[0] in types else np.empty(0, np.int64)
                for node in (first, second)
            )
            found.append(np.intersect1d(a, b))
        return found

    def neighbour_types(self, node_type: str) -> list[str]:
        """Return the node types that share an edge type with a node type."""
        found: dict[str, None] = {}
        for types in self.network.edge_types:
            for p, t in enumerate(types):
                if t == node_type:
                    found.update(dict.fromkeys(s for q, s in enumerate(types) if q != p))
        return list(found)

    def neighbours(
        self, node_type: str, node: int, neighbour_type: str
    ) -> tuple[NodeArray, NodeArray]:
        """Return (neighbours, number of hyperedges shared with `node`), most frequent first."""
        n = self.network.num_nodes(neighbour_type)
        counts = np.zeros(0, np.int64)
        together: NodeArray = np.zeros(0, np.int64)
        for number, edges in enumerate(self.network.edge_sets):
            at = [p for p, t in enumerate(edges.types) if t == neighbour_type]
            if not at or node_type not in edges.types:
                continue
            rows = self.rows(number, node_type, node)
            # a node that occurs twice in a hyperedge meets its neighbours there once
            pairs = np.arange(len(rows))[:, None] * n + edges.nodes[rows][:, at]
            together = np.concatenate([together, np.unique(pairs) % n])
        nodes, counts = np.unique(together, return_counts=True)
        if neighbour_type == node_type:
            nodes, counts = nodes[nodes != node], counts[nodes != node]
        order = np.lexsort((nodes, -counts))
        return nodes[order], counts[order]
