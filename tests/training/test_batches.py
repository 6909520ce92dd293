"""Batches: every hyperedge once an epoch, fresh negatives, and a hyperedge left out of its rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.datasets import planted_clusters, power_law
from dhne.errors import SaturatedNetworkError
from dhne.model.joint import Architecture, Batch, DHNEModel
from dhne.sampling import KnownEdges
from tests.dense_reference import DenseDHNE
from tests.kernels.backends import BACKENDS, kernels_of
from tests.model_building import K, build, corrupt, make_batches
from tests.networks import networks

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


def test_a_saturated_network_says_so() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1], [1, 0], [1, 1]]})
    with pytest.raises(SaturatedNetworkError, match=r"type \('a', 'b'\) is a hyperedge too.*try"):
        epoch(network)


# -- leaving a hyperedge out -----------------------------------------------------------------------


def encoded(
    model: DHNEModel, batch: Batch, backend: str
) -> dict[tuple[str, ...], list[torch.Tensor]]:
    """For each edge type and position, the embeddings that its tuples are scored with."""
    kernels = kernels_of(backend)
    x = {t: model.autoencoder(t).encode(kernels, b.plan) for t, b in batch.types.items()}
    return {
        group.edge_type: [x[t][group.index[:, p]].detach() for p, t in enumerate(group.edge_type)]
        for group in batch.tuples
    }


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@settings(max_examples=15)
@given(network=networks(), seed=st.integers(0, 999), rows=st.sampled_from(["counts", "digits"]))
def test_leaving_out_is_rebuilding_without_the_hyperedge(
    backend: str, network: HyperNetwork, seed: int, rows: str
) -> None:
    """Rows of a network built anew without the hyperedge, columns scaled as in the whole one."""
    model = build(network, Architecture(dict.fromkeys(network.node_types, (3,))), seed)
    reference = DenseDHNE(network, model, rows=rows)
    maker = make_batches(network, kernels_of(backend), backend, leave_one_out=True, rows=rows)
    inputs, items = corrupt(maker, seed)
    if not items:
        return
    groups = encoded(model, maker.assemble(inputs), backend)
    for types, got in groups.items():
        for i, item in enumerate(item for item in items if item.types == types):
            assert item.source is not None
            without = reference.adjacency(reference.without(item.source))
            for p, (t, v) in enumerate(zip(types, item.nodes, strict=True)):
                row = reference.scaled_row(without if item.kept[p] else reference.whole, t, v)
                torch.testing.assert_close(
                    got[p][i], reference.encode(row, t).detach(), rtol=0, atol=1e-9
                )


def test_leaving_out_changes_what_a_hyperedge_is_scored_with() -> None:
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=2)
    model = build(network, Architecture(dict.fromkeys(network.node_types, (3,))))
    plain = make_batches(network, kernels_of("reference"))
    leaves = make_batches(network, kernels_of("reference"), leave_one_out=True)
    (types,) = network.edge_types
    inputs, others = next(plain.epoch(0, 0)), next(leaves.epoch(0, 0))
    drawn = inputs.groups[0]
    assert torch.equal(drawn.edges, others.groups[0].edges)
    one = encoded(model, plain.assemble(inputs), "reference")[types][0]
    other = encoded(model, leaves.assemble(others), "reference")[types][0]
    kept = torch.cat([torch.ones(len(drawn.edges), dtype=torch.bool), drawn.kept[:, 0]])
    same = (one == other).all(1)
    assert torch.equal(same, ~kept)


def test_of_repeats_one_is_left_out() -> None:
    """A repeated hyperedge is there as often as it repeats: leaving one out leaves the others."""
    network = HyperNetwork.from_arrays(
        {("a", "b"): [[0, 0], [0, 0], [0, 1], [1, 1]]}, {"a": 3, "b": 3}
    )
    rows = adjacency(network, dtype=np.float64)["a"].matrix.toarray()
    model = build(network, Architecture(dict.fromkeys(network.node_types, (2,))))
    maker = make_batches(network, kernels_of("reference"), leave_one_out=True)
    inputs = next(maker.epoch(0, 0))
    got = encoded(model, maker.assemble(inputs), "reference")["a", "b"][0]
    coder = model.autoencoder("a")
    for x, (a, b) in zip(got, inputs.groups[0].edges.tolist(), strict=False):
        row = torch.from_numpy(rows[a].copy())
        row[b] -= 1 / adjacency(network)["a"].column_max[b]
        expected = torch.tanh(row @ coder.encoder_table + coder.encoder_bias).detach()
        torch.testing.assert_close(x, expected)


def test_of_rows_of_digits_only_what_a_hyperedge_changes_is_left_out() -> None:
    """(0, 0) is there three times: twice has two digits too, so that nothing has to be taken."""
    edges = [[0, 0], [0, 0], [0, 0], [0, 1], [1, 1]]
    network = HyperNetwork.from_arrays({("a", "b"): edges}, {"a": 3, "b": 3})
    maker = make_batches(network, kernels_of("reference"), leave_one_out=True, rows="digits")
    edges = maker.positives(network.edge_sets[0])
    assert edges.taken[:, :, 0].tolist() == [[0, 0], [0, 0], [0, 0], [-1, -1], [-1, -1]]
    assert maker.sparse["a"].values.tolist() == [2, 1, 1]
    batch = maker.assemble(next(maker.epoch(0, 0)))
    assert len(batch.types["a"].plan[0].base) == 2  # the rows that lose something


@pytest.mark.parametrize("backend", BACKENDS)
def test_evidence_counted_for_many_batches_is_that_counted_for_one(backend: str) -> None:
    maker = make_batches(NETWORK, kernels_of(backend), backend, evidence=True, batch_size=64)
    (drawn,) = next(maker.epoch(0, 0)).groups
    edges, negatives, valid, features = drawn.edges, drawn.negatives, drawn.valid, drawn.features
    assert features.shape[1] > 0
    order = {tuple(e): i for i, e in enumerate(NETWORK.edges().tolist())}
    rows = torch.tensor([order[tuple(e)] for e in edges.tolist()], device=edges.device)
    mine = maker.positives(NETWORK.edge_sets[0]).take(rows)
    torch.testing.assert_close(features, maker.with_negatives(mine, negatives, valid).features)
