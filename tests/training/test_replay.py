"""Which hyperedges an epoch of an update visits."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.network.edges import EdgeType
from dhne.training.replay import Replay, earlier_edges

PAIR, TRIPLE = EdgeType(("a", "b")), EdgeType(("a", "b", "c"))


def _network() -> HyperNetwork:
    rng = np.random.default_rng(0)
    return HyperNetwork.from_arrays(
        {PAIR: rng.integers(9, size=(60, 2)), TRIPLE: rng.integers(9, size=(40, 3))}
    )


@pytest.mark.parametrize(("per_new", "counts"), [(0, (10, 0)), (1, (16, 4)), (99, (60, 40))])
def test_all_new_ones_and_a_share_of_the_earlier(per_new: float, counts: tuple[int, int]) -> None:
    replay = Replay.of(_network(), {PAIR: 50, TRIPLE: 40}, per_new)
    rng = np.random.default_rng(0)
    for types, total, count in zip((PAIR, TRIPLE), (60, 40), counts, strict=True):
        order = replay.order(types, total, rng)
        assert len(set(order.tolist())) == len(order) == replay.count(types, total)
        assert abs(len(order) - count) <= 1
        assert set(range({PAIR: 50, TRIPLE: 40}[types], total)) <= set(order.tolist())


def test_other_ones_in_every_epoch() -> None:
    replay, rng = Replay.of(_network(), {PAIR: 50, TRIPLE: 40}, 2), np.random.default_rng(0)
    one, two = (set(replay.choose(PAIR, 60, rng).tolist()) for _ in range(2))
    assert one != two


def test_those_held_out_for_validation_are_not_counted() -> None:
    network = _network()
    train, _ = network.split(0.25, seed=3)
    found = earlier_edges(network, [50, 40], [0.25], 3)
    kept = {tuple(e) for e in network.edges(PAIR)[:50].tolist()}
    there = sum(tuple(e) in kept for e in train.edges(PAIR).tolist())
    assert found[TRIPLE] == 30
    assert abs(found[PAIR] - there) <= 10  # repeats
    assert earlier_edges(network, [50], [0.0], 3) == {PAIR: 50}
