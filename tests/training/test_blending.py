"""How much products count is chosen on held-out hyperedges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dhne.network.edges import EdgeType
from dhne.training.blending import CHOICES, HeldOutTuples
from tests.model.product_networks import triples

Rule = Callable[[np.ndarray], np.ndarray]


class Given:
    """Logits by rules."""

    def __init__(self, similarity: Rule, products: Rule) -> None:
        self.similarity, self.products = similarity, products

    def similarity_logits(self, nodes: np.ndarray, types: EdgeType) -> np.ndarray:
        return self.similarity(nodes)

    def product_logits(self, nodes: np.ndarray, types: EdgeType) -> np.ndarray:
        return self.products(nodes)

    def similarity_candidates(self, nodes: np.ndarray, types: EdgeType, p: int) -> np.ndarray:
        return self._each(self.similarity, nodes, p)

    def product_candidates(self, nodes: np.ndarray, types: EdgeType, p: int) -> np.ndarray:
        return self._each(self.products, nodes, p)

    def _each(self, rule: Rule, nodes: np.ndarray, p: int) -> np.ndarray:
        n = triples().position_sizes(triples().edge_types[0])[p]
        every = np.repeat(nodes, n, axis=0)
        every[:, p] = np.tile(np.arange(n), len(nodes))
        return rule(every).reshape(len(nodes), n)


def test_what_helps_is_chosen_and_what_does_not_is_not() -> None:
    network = triples()
    train, held_out = network.split(0.4, seed=0)
    tuples = HeldOutTuples(train, held_out, seed=0)
    known = {tuple(row) for row in held_out.edges().tolist()}

    def right(nodes: np.ndarray) -> np.ndarray:
        return np.array([float(tuple(row) in known) for row in nodes.tolist()])

    def noise(nodes: np.ndarray) -> np.ndarray:
        return np.sin(nodes @ np.array([12.9898, 78.233, 37.719]) * 43758.5453)

    assert tuples.choose(Given(right, noise)).products == 0
    chosen = tuples.choose(Given(noise, right))
    assert chosen.products > 0
    assert chosen.similarity == 0  # nothing is lost without it
    assert (1.0, 0.0) in CHOICES
