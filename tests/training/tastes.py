"""Small models of users with two tastes, for tests of updates."""

from __future__ import annotations

import numpy as np

from dhne import DHNE, HyperNetwork

TYPES = ("user", "movie", "tag")


def triples(m: int, seed: int, users: int = 20) -> list[tuple[str, ...]]:
    """Triples within two clusters."""
    rng = np.random.default_rng(seed)
    side = rng.integers(2, size=m)
    ids = 2 * rng.integers([users // 2, 8, 6], size=(m, 3)) + side[:, None]
    return [(f"u{a}", f"m{b}", f"t{c}") for a, b, c in ids.tolist()]


def fitted(**options) -> DHNE:
    network = HyperNetwork.from_tuples(triples(120, 0), TYPES)
    return DHNE(**{"dim": 6, "epochs": 10, "device": "cpu", "kernels": "reference"} | options).fit(
        network
    )
