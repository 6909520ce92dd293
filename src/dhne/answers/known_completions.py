"""The nodes that complete tuples with one open position to known hyperedges, in bulk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhne.network.edge_keys import edge_keys
from dhne.network.edges import EdgeSet, EdgeType, NodeArray


@dataclass(frozen=True)
class KnownCompletions:
    """The known hyperedges of one type, sorted by the nodes at all positions but one.

    ``of(contexts)`` finds the nodes that complete each context to a known hyperedge.
    """

    position: int
    types: EdgeType
    sizes: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    nodes: NodeArray

    @classmethod
    def build(cls, known: EdgeSet, sizes: npt.NDArray[np.int64], position: int) -> KnownCompletions:
        """Sort the hyperedges of `known` for look-ups of the node at `position`."""
        keys, nodes = [], []
        # In a set the open node may be any of its members.
        for place in sorted((position, *known.types.peers(position))):
            moved = known.nodes.copy()
            moved[:, place] = known.nodes[:, position]
            keys.append(_context_keys(moved, known.types, position, sizes))
            nodes.append(known.nodes[:, place])
        every, found = np.concatenate(keys), np.concatenate(nodes)
        order = np.argsort(every, kind="stable")
        return cls(position, known.types, sizes, every[order], found[order])

    def contexts(self, queries: NodeArray) -> npt.NDArray[np.int64]:
        """Return keys of the nodes at all positions except the open one."""
        return _context_keys(queries, self.types, self.position, self.sizes)

    def together(self, queries: NodeArray) -> npt.NDArray[np.int64]:
        """Return an order of queries in which those that share work follow each other.

        Queries with the same context have the same scores; those with the same node at a position,
        such as the relation, share what it has in common with the candidates.
        """
        keys = self.contexts(queries)
        fixed = [p for p, many in enumerate(self.types.many) if p != self.position and not many]
        if not fixed:
            return np.argsort(keys, kind="stable")
        distinct = [len(np.unique(queries[:, p])) for p in fixed]
        return np.lexsort((keys, queries[:, fixed[int(np.argmin(distinct))]]))

    def of(self, contexts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], NodeArray]:
        """Return (rows, nodes): node ``nodes[i]`` completes the context ``rows[i]``."""
        first = np.searchsorted(self.keys, contexts, side="left")
        count = np.searchsorted(self.keys, contexts, side="right") - first
        rows = np.repeat(np.arange(len(contexts)), count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        return rows, self.nodes[np.repeat(first, count) + within]


def _context_keys(
    nodes: NodeArray, types: EdgeType, position: int, sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    others = [p for p in range(len(types)) if p != position]
    rest = types.without(position).canonical(nodes[:, others])
    keys: npt.NDArray[np.int64] = edge_keys(rest, sizes[others])
    return keys
