"""Replay: which hyperedges an epoch of an update visits.

Every new hyperedge, and for each of them `per_new` earlier ones, drawn afresh in every epoch from
those of all edge types alike. An epoch therefore costs what is new, however large the network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Replay:
    """How many hyperedges of each edge type are earlier ones, and how many of those are replayed.

    Attributes
    ----------
    earlier : mapping of edge type to int
        The first so many hyperedges are earlier ones; the others are new.
    sampled : mapping of edge type to int
        How many of them an epoch visits.
    """

    earlier: Mapping[EdgeType, int]
    sampled: Mapping[EdgeType, int]

    @classmethod
    def of(cls, network: HyperNetwork, earlier: Mapping[EdgeType, int], per_new: float) -> Replay:
        """Replay `per_new` earlier hyperedges for each new one, at most all of them.

        Examples
        --------
        >>> network = HyperNetwork.from_arrays({("a", "b"): [[i, i] for i in range(10)]})
        >>> replay = Replay.of(network, {network.edge_types[0]: 8}, per_new=1.5)
        >>> replay.order(network.edge_types[0], 10, np.random.default_rng(0)).tolist()
        [4, 8, 5, 9, 7]
        """
        if not 0 <= per_new < math.inf:
            raise ParameterError(f"replay must be a number from 0 on, got {per_new}")
        known = sum(earlier.values())
        share = min(1.0, per_new * (network.num_edges() - known) / max(known, 1))
        return cls(earlier, {r: math.ceil(round(share * n, 6)) for r, n in earlier.items()})

    def count(self, edge_type: EdgeType, total: int) -> int:
        """Return how many of an edge type's hyperedges an epoch visits."""
        return total - self.earlier.get(edge_type, 0) + self.sampled.get(edge_type, 0)

    def order(self, edge_type: EdgeType, total: int, rng: np.random.Generator) -> Numbers:
        """Return which hyperedges of an edge type an epoch visits, in random order."""
        return rng.permutation(self.choose(edge_type, total, rng))

    def choose(self, edge_type: EdgeType, total: int, rng: np.random.Generator) -> Numbers:
        """Return which hyperedges of an edge type an epoch visits."""
        earlier, sampled = self.earlier.get(edge_type, 0), self.sampled.get(edge_type, 0)
        chosen = rng.choice(earlier, sampled, replace=False) if sampled else np.empty(0, np.int64)
        return np.concatenate([chosen, np.arange(earlier, total)]).astype(np.int64)


def earlier_edges(
    network: HyperNetwork, before: Sequence[int], shares: Sequence[float], seed: int
) -> dict[EdgeType, int]:
    """Return how many earlier hyperedges of each edge type are left to train on.

    `before` are their numbers in `network`, of which each of the `shares` is held out in turn.
    """
    counts = dict(zip(network.edge_types, before, strict=False))
    if not any(shares):
        return counts
    marked = []  # weights tell which is which after the splits
    for edges in network.edge_sets:
        weights = 1.0 + (np.arange(len(edges)) < counts.get(edges.types, 0))
        marked.append(EdgeSet.build(edges.types, edges.nodes, weights))
    left = network.with_edges(marked)
    for share in filter(None, shares):
        left, _ = left.split(share, seed=seed)
    return {e.types: int((e.weights == 2).sum()) for e in left.edge_sets}
