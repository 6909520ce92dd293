"""An embedder with made-up scores, to test what every embedder inherits."""

from __future__ import annotations

import numpy as np

from dhne import HyperNetwork
from dhne.embedder import Embedder, Scores
from dhne.network.edges import EdgeType, NodeArray


class Toy(Embedder):
    """Scores are a fixed, jagged function of the ids, the same for every order of a set."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def _fit(self, network: HyperNetwork) -> None:
        rng = np.random.default_rng(self.seed)
        self.embeddings_ = {
            t: rng.normal(size=(network.num_nodes(t), 3)).astype(np.float32)
            for t in network.node_types
        }
        self._numbers = {t: rng.normal(size=network.num_nodes(t)) for t in network.node_types}
        self._factor = rng.normal(size=8)
        self._ordered = {e.types: (not e.types.has_sets) for e in network.edge_sets}

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        ordered = self._ordered.get(edge_type, False)
        total = np.zeros(len(nodes))
        for p, t in enumerate(edge_type):
            total += self._numbers[t][nodes[:, p]] * (self._factor[p] if ordered else 1)
        return np.round(np.sin(5 * total), 6)
