"""Batches: every hyperedge once per epoch, with fresh negatives; each node encoded once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.datasets import power_law
from dhne.sampling import KnownEdges
from tests.kernels.backends import kernels_of
from tests.model_building import K, make_batches

NETWORK = power_law(300, nodes=(40, 30, 20), clusters=4, seed=0)


def epoch(network: HyperNetwork, number: int = 0, seed: int = 0, **options: object):
    maker = make_batches(network, kernels_of("reference"), **options)
    return maker, list(maker.epoch(seed, number))


def test_an_epoch_visits_every_hyperedge_once_and_each_brings_its_negatives() -> None:
    maker, batches = epoch(NETWORK, batch_size=32)
    assert len(batches) == maker.num_batches == 10
    nodes = torch.cat([b.groups[0].edges for b in batches]).numpy()
    assert Counter(map(tuple, nodes.tolist())) == Counter(map(tuple, NETWORK.edges().tolist()))
    known = KnownEdges(NETWORK)
    for (drawn,) in (b.groups for b in batches):
        assert len(drawn.negatives) == len(drawn.valid) == K * len(drawn.edges)
        assert not known.contains(drawn.negatives.numpy()[drawn.valid.numpy()]).any()


def test_epochs_and_seeds_differ_and_the_same_come_back() -> None:
    first = epoch(NETWORK, 0)[1][0]
    again = epoch(NETWORK, 0)[1][0]
    assert first.turn == again.turn
    assert all(torch.equal(a, b) for a, b in zip(first.tensors, again.tensors, strict=True))
    for other in (epoch(NETWORK, 1)[1][0], epoch(NETWORK, 0, seed=1)[1][0]):
        assert not torch.equal(first.groups[0].edges, other.groups[0].edges)
        assert not torch.equal(first.groups[0].negatives, other.groups[0].negatives)


@settings(max_examples=40)
@given(sizes=st.lists(st.integers(1, 12), min_size=1, max_size=3), batch_size=st.integers(1, 9))
def test_no_batch_is_empty_and_none_too_large(sizes: list[int], batch_size: int) -> None:
    edges = {
        (f"a{i}", f"b{i}"): np.stack([np.arange(m), np.arange(m)], 1) for i, m in enumerate(sizes)
    }
    nodes = {t: 13 for r in edges for t in r}
    network = HyperNetwork.from_arrays(edges, nodes)
    maker, batches = epoch(network, batch_size=batch_size)
    assert len(batches) == maker.num_batches
    held = [sum(len(group.edges) for group in b.groups) for b in batches]
    assert sum(held) == sum(sizes)
    assert min(held) >= 1
    assert max(held) <= batch_size + len(sizes) - 1  # each type is rounded up


def test_a_batch_encodes_each_node_once_and_counts_its_visits() -> None:
    maker, batches = epoch(NETWORK, batch_size=64, alpha=1.0)
    inputs = batches[0]
    batch = maker.assemble(inputs)
    tuples = inputs.groups[0].tuples
    assert batch.num_tuples == len(tuples)
    for position, t in enumerate(NETWORK.node_types):
        nodes, count = torch.unique(tuples[:, position], return_counts=True)
        weight = maker.alpha[t] / len(tuples)
        torch.testing.assert_close(batch.types[t].visits, count * weight, check_dtype=False)
        assert batch.tuples[0].index[:, position].max() == len(nodes) - 1
