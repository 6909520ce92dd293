"""A network that changes over time."""

from __future__ import annotations

import numpy as np
import pytest

from dhne.datasets import drifting
from dhne.errors import ParameterError


def test_nodes_arrive_over_time() -> None:
    network = drifting(5000, (100, 60), clusters=4, steps=5, arrive=0.5, seed=1)
    edges = network.edge_set()
    assert edges.times is not None
    newest = [edges.nodes[edges.times == step, 0].max() for step in range(5)]
    assert newest == sorted(newest)
    assert newest[0] < 50 <= newest[1]
    assert newest[-1] == 99


def test_hyperedges_stay_within_clusters_which_exchange_members() -> None:
    network = drifting(6000, (80, 40), clusters=4, steps=6, move=0.3, noise=0.0, seed=2)
    labels = [np.array(network.labels(t).flatten().to_pylist()) for t in network.node_types]
    edges = network.edge_set()
    same = labels[0][edges.nodes[:, 0]] == labels[1][edges.nodes[:, 1]]
    by_step = [same[edges.times == step].mean() for step in range(6)]
    assert by_step[0] < 0.5 < by_step[-1]
    still = drifting(500, (80, 40), clusters=4, steps=6, move=0, noise=0.0, seed=2).edge_set()
    assert len(still) == 500


def test_the_seed_decides() -> None:
    assert drifting(200, (20, 10), clusters=2, seed=3) == drifting(
        200, (20, 10), clusters=2, seed=3
    )
    assert drifting(200, (20, 10), clusters=2, seed=3) != drifting(
        200, (20, 10), clusters=2, seed=4
    )


@pytest.mark.parametrize(
    "arguments",
    [{"edges": -1}, {"nodes": (3,)}, {"move": 2}, {"noise": -1}, {"arrive": 1.5}, {"steps": 0}],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        drifting(**arguments)
