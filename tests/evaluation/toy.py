"""Small embedders for tests: scores that are known without training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dhne.embedder import Embedder, Scores
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork


class CoarseScores(Embedder):
    """Gives every tuple one of a few scores, by a hash of its nodes: many ties, no training."""

    def __init__(self, levels: int = 5, random_state: int = 0, dim: int = 4) -> None:
        self.levels = levels
        self.random_state = random_state
        self.dim = dim

    def _fit(self, network: HyperNetwork) -> None:
        rng = np.random.default_rng(self.random_state)
        self.embeddings_ = {
            t: rng.normal(size=(network.num_nodes(t), self.dim)).astype(np.float32)
            for t in network.node_types
        }

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        mixed = (nodes * np.array([7919, 104729, 1299709, 15485863])[: nodes.shape[1]]).sum(axis=1)
        return ((mixed * 2654435761 + self.random_state) % 1000003 % self.levels) / self.levels


class Remembers(Embedder):
    """Scores 1 for a hyperedge it was fitted on, 0 otherwise."""

    seen: list[HyperNetwork] = []  # noqa: RUF012 - every network any instance was fitted on

    def __init__(self, random_state: int = 0, dim: int = 2) -> None:
        self.random_state = random_state
        self.dim = dim

    def _fit(self, network: HyperNetwork) -> None:
        type(self).seen.append(network)
        self._known = {e.types: {tuple(r) for r in e.nodes.tolist()} for e in network.edge_sets}
        self.embeddings_ = {
            t: np.zeros((network.num_nodes(t), self.dim), np.float32) for t in network.node_types
        }

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        known = self._known[edge_type]
        return np.array([float(tuple(row) in known) for row in nodes.tolist()])


def random_network(
    sizes: Sequence[int],
    edges: int,
    *,
    seed: int = 0,
    types: Sequence[str] | None = None,
    ordered: bool = True,
) -> HyperNetwork:
    """Return a network of `edges` distinct random hyperedges; position p has ``sizes[p]`` nodes."""
    rng = np.random.default_rng(seed)
    names = tuple(types or [f"t{p}" for p in range(len(sizes))])
    rows = np.stack([rng.integers(0, n, 3 * edges) for n in sizes], axis=1)
    if not ordered:  # no node twice in one set
        for p in range(len(names)):
            for q in range(p):
                rows = rows[(rows[:, p] != rows[:, q]) | (names[p] != names[q])]
    rows = HyperNetwork.from_arrays(
        {names: rows}, dict(zip(names, sizes, strict=True)), ordered=ordered
    ).edges()
    rows = rng.permutation(np.unique(rows, axis=0))[:edges]
    counts: dict[Any, int] = {}
    for name, n in zip(names, sizes, strict=True):
        counts[name] = max(n, counts.get(name, 0))
    return HyperNetwork.from_arrays({names: rows}, counts, ordered=ordered)
