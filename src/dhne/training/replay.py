"""Replay: the hyperedges that an epoch of an update visits.

These are all new hyperedges, and `per_new` earlier ones for each, redrawn in every epoch uniformly
from all edge types. So the cost of an epoch depends on the new hyperedges, not on the network's
size.
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
    """The number of earlier hyperedges per edge type, and how many of them are replayed.

    Attributes
    ----------
    earlier : mapping of edge type to int
        The number of earlier hyperedges, which come first; the others are new.
    sampled : mapping of edge type to int
        The number of earlier hyperedges that an epoch visits.
    """

    earlier: Mapping[EdgeType, int]
    sampled: Mapping[EdgeType, int]

    @classmethod
    def of(cls, network: HyperNetwork, earlier: Mapping[EdgeType, int], per_new: float) -> Replay:
        """Replay `per_new` earlier hyperedges per new one, or all if there are fewer.

        Examples
        --------
        >>> network = HyperNetwork.from_arrays({("a", "b"): [[i, i] for i in range(10)]})
        >>> replay = Replay.of(network, {network.edge_types[0]: 8}, per_new=1.5)
        >>> replay.order(network.edge_types[0], 10, np.random.default_rng(0)).tolist()
        [4, 8, 5, 9, 7]
        """
        if not 0 <= per_new < math.inf:
            raise ParameterError(f"replay must be a number of at least 0, got {per_new}")
        known = sum(earlier.values())
        share = min(1.0, per_new * (network.num_edges() - known) / max(known, 1))
        return cls(earlier, {r: math.ceil(round(share * n, 6)) for r, n in earlier.items()})

    def count(self, edge_type: EdgeType, total: int) -> int:
        """Return how many of an edge type's hyperedges an epoch visits."""
        return total - self.earlier.get(edge_type, 0) + self.sampled.get(edge_type, 0)

    def order(self, edge_type: EdgeType, total: int, rng: np.random.Generator) -> Numbers:
        """Return the hyperedges of an edge type that an epoch visits, in random order."""
        return rng.permutation(self.choose(edge_type, total, rng))

    def choose(self, edge_type: EdgeType, total: int, rng: np.random.Generator) -> Numbers:
        """Return the hyperedges of an edge type that an epoch visits."""
        earlier, sampled = self.earlier.get(edge_type, 0), self.sampled.get(edge_type, 0)
        chosen = rng.choice(earlier, sampled, replace=False) if sampled else np.empty(0, np.int64)
        return np.concatenate([chosen, np.arange(earlier, total)]).astype(np.int64)


def earlier_edges(
    network: HyperNetwork, before: Sequence[int], shares: Sequence[float], seed: int
) -> dict[EdgeType, int]:
    """Return how many earlier hyperedges of each edge type remain for training.

    `before` has their numbers in `network`, of which each of the `shares` is held out in turn.
    """
    counts = dict(zip(network.edge_types, before, strict=False))
    if not any(shares):
        return counts
    marked = []  # weights mark the earlier ones across the splits
    for edges in network.edge_sets:
        weights = 1.0 + (np.arange(len(edges)) < counts.get(edges.types, 0))
        marked.append(EdgeSet.build(edges.types, edges.nodes, weights))
    left = network.with_edges(marked)
    for share in filter(None, shares):
        left, _ = left.split(share, seed=seed)
    return {e.types: int((e.weights == 2).sum()) for e in left.edge_sets}
