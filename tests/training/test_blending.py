"""How much products count is chosen on held-out hyperedges."""

from __future__ import annotations

import numpy as np

from dhne.training.blending import CHOICES, HeldOutTuples
from tests.model.test_products import triples


def test_what_helps_is_chosen_and_what_does_not_is_not() -> None:
    network = triples()
    train, held_out = network.split(0.4, seed=0)
    tuples = HeldOutTuples(train, held_out, seed=0)
    known = {tuple(row) for row in held_out.edges().tolist()}

    def right(nodes: np.ndarray, types: object) -> np.ndarray:
        return np.array([float(tuple(row) in known) for row in nodes.tolist()])

    def noise(nodes: np.ndarray, types: object) -> np.ndarray:
        return np.random.default_rng(0).normal(size=len(nodes))

    assert tuples.choose(right, noise).products == 0
    assert tuples.choose(noise, right).products > 0
    assert (1.0, 0.0) in CHOICES
