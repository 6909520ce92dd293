"""Negatives of hyperedges, and the evidence of both."""

from __future__ import annotations

import pytest
import torch

from dhne import HyperNetwork
from dhne.datasets import power_law
from dhne.errors import SaturatedNetworkError
from tests.kernels.backends import BACKENDS, kernels_of
from tests.model_building import K, make_batches

NETWORK = power_law(300, nodes=(40, 30, 20), clusters=4, seed=0)


def test_a_saturated_network_says_so() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1], [1, 0], [1, 1]]})
    with pytest.raises(SaturatedNetworkError, match=r"type \('a', 'b'\) is a hyperedge too.*try"):
        next(make_batches(network, kernels_of("reference")).epoch(0, 0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_evidence_counted_for_many_batches_is_that_counted_for_one(backend: str) -> None:
    maker = make_batches(NETWORK, kernels_of(backend), backend, evidence=True, batch_size=64)
    (drawn,) = next(maker.epoch(0, 0)).groups
    edges, negatives, valid, features = drawn.edges, drawn.negatives, drawn.valid, drawn.features
    assert features.shape[1] > 0
    order = {tuple(e): i for i, e in enumerate(NETWORK.edges().tolist())}
    rows = torch.tensor([order[tuple(e)] for e in edges.tolist()], device=edges.device)
    mine = maker.drawer.positives(NETWORK.edge_sets[0]).take(rows)
    again = maker.drawer.with_negatives(mine, negatives, valid)
    torch.testing.assert_close(features, again.features)


def test_a_worker_counts_evidence_for_its_own_hyperedges_and_their_negatives() -> None:
    drawer = make_batches(NETWORK, kernels_of("reference"), evidence=True).drawer
    edges = drawer.positives(NETWORK.edge_sets[0]).take(slice(0, 6))
    negatives = edges.nodes.repeat_interleave(K, dim=0).roll(K, dims=0)
    valid = torch.ones(len(negatives), dtype=torch.bool)
    whole = drawer.with_negatives(edges, negatives, valid).features
    some = drawer.with_negatives(edges, negatives, valid, mine=torch.tensor([1, 4])).features
    rows = torch.tensor([1, 4, *(6 + K * e + i for e in (1, 4) for i in range(K))])
    assert whole[rows].any()
    torch.testing.assert_close(some[rows], whole[rows])
    some[rows] = 0
    assert not some.any()
