"""A hyperedge left out of its own nodes' rows: as if the network had been built without it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.datasets import planted_clusters, unordered_sets
from dhne.model.joint import Architecture, Batch, DHNEModel
from tests.dense_reference import DenseDHNE
from tests.kernels.backends import kernels_of
from tests.model_building import build, corrupt, make_batches
from tests.random_networks import numbered_networks


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
@given(
    network=numbered_networks(),
    seed=st.integers(0, 999),
    rows=st.sampled_from(["counts", "digits"]),
)
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
    edges = maker.drawer.positives(network.edge_sets[0])
    assert edges.taken[:, :, 0].tolist() == [[0, 0], [0, 0], [0, 0], [-1, -1], [-1, -1]]
    assert maker.sparse["a"].values.tolist() == [2, 1, 1]
    batch = maker.assemble(next(maker.epoch(0, 0)))
    assert len(batch.types["a"].plan[0].base) == 2  # the rows that lose something


def test_nodes_of_very_long_hyperedges_keep_their_whole_rows() -> None:
    network = unordered_sets(nodes=60, edges=4, communities=1, sizes=(3, 40))
    drawer = make_batches(network, kernels_of("reference"), leave_one_out=True).drawer
    short, long = (drawer.positives(e) for e in network.edge_sets)
    assert short.taken.shape[2] == long.taken.shape[2] == 32
    assert short.taken.any()
    assert not long.taken.any()
