"""The model against the paper's equations, and what must hold of every part of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.model.joint import Architecture, DHNEModel
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.vocabulary import Vocabulary
from dhne.training.optimizers import RULES, Optimizer
from tests.dense_reference import DenseDHNE
from tests.kernels.backends import (
    BACKENDS,
    DTYPES,
    assert_near,
    dense_gradient,
    device_of,
    kernels_of,
    take_step,
)
from tests.model_building import LOSS, build, corrupt, make_batches
from tests.random_networks import numbered_networks


@st.composite
def architectures(draw: st.DrawFn, network: HyperNetwork) -> Architecture:
    layers = draw(st.sampled_from([(), (5,)]))
    return Architecture(
        {t: (*layers, 2 + i) for i, t in enumerate(network.node_types)},
        hidden=draw(st.sampled_from([(), (6,), (6, 3)])),
        activation=draw(st.sampled_from(["tanh", "sigmoid"])),
        evidence=draw(st.booleans()),
        scales=draw(st.sampled_from([{}, dict.fromkeys(network.node_types, 0.5)])),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(
    data=st.data(),
    network=numbered_networks(),
    seed=st.integers(0, 999),
    leave_one_out=st.booleans(),
    rows=st.sampled_from(["counts", "digits"]),
)
def test_losses_and_gradients_are_those_of_the_papers_equations(
    backend: str,
    dtype: torch.dtype,
    data: st.DataObject,
    network: HyperNetwork,
    seed: int,
    leave_one_out: bool,
    rows: str,
) -> None:
    architecture = data.draw(architectures(network))
    model = build(network, architecture, seed)
    reference = DenseDHNE(network, model, rows=rows)
    model = model.to(device_of(backend), dtype)
    kernels = kernels_of(backend)
    maker = make_batches(
        network,
        kernels,
        backend,
        dtype,
        leave_one_out=leave_one_out,
        rows=rows,
        evidence=architecture.evidence,
    )
    inputs, items = corrupt(maker, seed)
    if not items:
        return

    first, second = model.loss(kernels, maker.assemble(inputs), LOSS, second_order=True)
    (first + second).backward()
    expected, expected_second, _ = reference.loss(items, maker.alpha, leave_one_out=leave_one_out)
    (expected + expected_second).backward()

    assert_near(first, expected, dtype)
    assert_near(second, expected_second, dtype)
    for name, parameter in model.named_parameters():
        assert_near(dense_gradient(parameter), dense_gradient(reference.parameters[name]), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=10)
@given(network=numbered_networks(), seed=st.integers(0, 999))
def test_similarities_are_those_of_the_papers_equations(
    backend: str, dtype: torch.dtype, network: HyperNetwork, seed: int
) -> None:
    model = build(network, Architecture(dict.fromkeys(network.node_types, (3,))), seed)
    reference = DenseDHNE(network, model)
    model, kernels = model.to(device_of(backend), dtype), kernels_of(backend)
    maker = make_batches(network, kernels, backend, dtype)
    inputs, items = corrupt(maker, seed)
    if not items:
        return
    batch = maker.assemble(inputs)
    x = {t: model.autoencoder(t).encode(kernels, b.plan) for t, b in batch.types.items()}
    got = torch.cat(
        [
            torch.sigmoid(
                model.similarity(g.edge_type).logits(
                    kernels, [x[t] for t in g.edge_type], g.index, g.edge_type
                )
            )
            for g in batch.tuples
        ]
    )
    _, _, expected = reference.loss(items, dict.fromkeys(network.node_types, 0.0))
    assert_near(got, expected, dtype)


def mixed_network(m: int = 8) -> HyperNetwork:
    """Two edge types, one of them unordered, over three node types; every node has an edge."""
    rng = np.random.default_rng(3)
    triples = np.stack([rng.integers(n, size=m) for n in (5, 4, 6)], axis=1)
    triples[:6] = np.stack([np.arange(6) % n for n in (5, 4, 6)], axis=1)
    pairs = np.array([[0, 1], [0, 1], [1, 2], [3, 4], [0, 4], [2, 3]])  # one of them twice
    edge_sets = [
        EdgeSet.build(("user", "movie", "tag"), triples, 1 + rng.random(m)),
        EdgeSet.build(("user", "user"), pairs, ordered=False),
    ]
    sizes = {"user": 5, "movie": 4, "tag": 6}
    return HyperNetwork(
        {t: Vocabulary.of_size(n, node_type=t) for t, n in sizes.items()}, edge_sets
    )


FULL = Architecture({"user": (4, 3), "movie": (4, 2), "tag": (4, 3)}, hidden=(5, 4), evidence=True)


def gradients(
    network: HyperNetwork, model: DHNEModel, alpha: float, **options: bool
) -> dict[str, torch.Tensor]:
    kernels = kernels_of("reference")
    maker = make_batches(network, kernels, alpha=alpha, evidence=True, **options)
    model.zero_grad()
    inputs = next(maker.epoch(0, 0))
    first, second = model.loss(kernels, maker.assemble(inputs), LOSS, second_order=alpha > 0)
    (first + second).backward()
    return {name: dense_gradient(p) for name, p in model.named_parameters()}


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_every_parameter_of_every_part_moves_in_one_step(
    backend: str, rule: str, leave_one_out: bool
) -> None:
    network, kernels = mixed_network(), kernels_of(backend)
    model = build(network, FULL).to(device_of(backend))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    assert set(before) == set(model.state_dict())  # nothing is left out of the parameters
    optimizer = Optimizer(model.named_parameters(), rule, kernels)
    maker = make_batches(network, kernels, backend, evidence=True, leave_one_out=leave_one_out)
    first, second = model.loss(
        kernels, maker.assemble(next(maker.epoch(0, 0))), LOSS, second_order=True
    )
    (first + second).backward()
    take_step(optimizer, 0.05)
    for name, parameter in model.named_parameters():
        moved = (parameter.detach() != before[name]).reshape(len(parameter), -1).any(1)
        if name.endswith(".evidence"):  # what so small a network never shows has no gradient
            assert moved.sum() > len(moved) / 2
        else:
            assert moved.all(), f"{name}: rows {(~moved).nonzero()[:, 0].tolist()} stood still"


def test_the_parts_are_registered_parameters() -> None:
    names = {name for name, _ in build(mixed_network(), FULL).named_parameters()}
    for t in ("user", "movie", "tag"):
        for part in ("encoder_table", "encoder_bias", "decoder_table", "decoder_bias"):
            assert f"autoencoders.type_{t}.{part}" in names
        for layer in ("encoder_layers.0", "decoder_layers.0"):
            assert f"autoencoders.type_{t}.{layer}.weight" in names
    assert sum(n.endswith(".output") for n in names) == 2  # one similarity per edge type


def test_the_reconstruction_reaches_the_encoder() -> None:
    """The second-order loss alone has a gradient in every weight of every encoder and decoder."""
    network = mixed_network()
    model, kernels = build(network, FULL), kernels_of("reference")
    maker = make_batches(network, kernels, evidence=True)
    _, second = model.loss(
        kernels, maker.assemble(next(maker.epoch(0, 0))), LOSS, second_order=True
    )
    second.backward()
    for name, p in model.named_parameters():
        assert bool(dense_gradient(p).any()) == name.startswith("autoencoders"), name


def test_alpha_changes_the_gradient_of_the_encoder() -> None:
    network = mixed_network()
    model = build(network, FULL)
    small, large = gradients(network, model, 0.1), gradients(network, model, 0.2)
    none = gradients(network, model, 0.0)
    for name in small:
        if "encoder_" in name:
            assert not torch.allclose(small[name], large[name]), name
        if name.startswith("similarities"):
            assert torch.allclose(small[name], large[name]), name
        # The loss is linear in alpha, so its gradient is too.
        torch.testing.assert_close(large[name] - small[name], small[name] - none[name])


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_without_alpha_the_decoder_stands_still(backend: str, rule: str) -> None:
    network, kernels = mixed_network(), kernels_of(backend)
    model = build(network, FULL).to(device_of(backend))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = Optimizer(model.named_parameters(), rule, kernels)
    maker = make_batches(network, kernels, backend, alpha=0, evidence=True)
    for second_order in (False, True):  # left out, or there with weight 0
        batch = maker.assemble(next(maker.epoch(0, 0)))
        first, second = model.loss(kernels, batch, LOSS, second_order=second_order)
        assert second == 0
        (first + second).backward()
        take_step(optimizer, 0.05)
    for name, parameter in model.named_parameters():
        still = torch.equal(parameter.detach(), before[name])
        assert still == ("decoder" in name), name


# -- invariances -----------------------------------------------------------------------------------


def permuted(
    network: HyperNetwork, model: DHNEModel, seed: int
) -> tuple[HyperNetwork, DHNEModel, dict[str, np.ndarray]]:
    """The same network with its nodes numbered anew, and the model with its tables to match."""
    rng = np.random.default_rng(seed)
    new_id = {t: rng.permutation(network.num_nodes(t)) for t in network.node_types}
    edge_sets = [
        EdgeSet.build(
            e.types,
            np.stack([new_id[t][e.nodes[:, p]] for p, t in enumerate(e.types)], 1),
            e.weights,
            ordered=not e.types.has_sets,
        )
        for e in network.edge_sets
    ]
    other = HyperNetwork({t: network.vocabulary(t) for t in network.node_types}, edge_sets)
    twin = build(other, model.architecture)
    twin.load_state_dict(model.state_dict())
    for t, matrix in adjacency(network).items():
        coder = twin.autoencoder(t)
        column = np.empty(matrix.shape[1], np.int64)
        for s, start in matrix.blocks.items():
            column[start + new_id[s]] = start + np.arange(network.num_nodes(s))
        for table in (coder.encoder_table, coder.decoder_table, coder.decoder_bias):
            table.data = table.data[torch.from_numpy(column)]
    return other, twin, new_id


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@settings(max_examples=15)
@given(network=numbered_networks(), seed=st.integers(0, 999), leave_one_out=st.booleans())
def test_numbering_the_nodes_anew_changes_nothing_but_their_order(
    backend: str, network: HyperNetwork, seed: int, leave_one_out: bool
) -> None:
    kernels = kernels_of(backend)
    model = build(
        network, Architecture(dict.fromkeys(network.node_types, (3,)), evidence=True), seed
    )
    other, twin, new_id = permuted(network, model, seed)
    options = {"leave_one_out": leave_one_out, "evidence": True}
    maker = make_batches(network, kernels, **options)
    other_maker = make_batches(other, kernels, **options)
    inputs, items = corrupt(maker, seed)
    if not items:
        return
    renamed = []
    for group in inputs.groups:
        for nodes in (edges := group.edges.clone(), negatives := group.negatives.clone()):
            for p, t in enumerate(group.types):
                nodes[:, p] = torch.from_numpy(new_id[t])[nodes[:, p]]
        weights = [i.source.weight for i in items if i.types == group.types and i.target]
        mine = other_maker.drawer.positives(EdgeSet(group.types, edges.numpy(), np.array(weights)))
        renamed.append(other_maker.drawer.with_negatives(mine, negatives, group.valid))
    moved = replace(inputs, groups=tuple(renamed))
    one = model.loss(kernels, maker.assemble(inputs), LOSS, second_order=True)
    two = twin.loss(kernels, other_maker.assemble(moved), LOSS, second_order=True)
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


def test_unordered_similarity_has_one_projection_a_type_and_serves_every_size() -> None:
    sets = [EdgeSet.build(("a",) * n, np.arange(n)[None], ordered=False) for n in (2, 3, 4)]
    network = HyperNetwork({"a": Vocabulary.of_size(5, node_type="a")}, sets)
    model = build(network, Architecture({"a": (3,)}))
    assert len(model.similarities) == 1
    two, seven = (EdgeType.of(("a",) * n, ordered=False) for n in (2, 7))
    assert model.similarity(two) is model.similarity(seven)
    assert len(model.similarity(two).projections) == 1


def test_ordered_similarity_has_a_projection_a_position() -> None:
    network = HyperNetwork.from_arrays({("a", "a", "b"): [[0, 1, 0], [1, 0, 1]]})
    model = build(network, Architecture({"a": (3,), "b": (2,)}))
    similarity = model.similarity(network.edge_types[0])
    assert [tuple(u.shape) for u in similarity.projections] == [(3, 8), (3, 8), (2, 8)]


@pytest.mark.parametrize(
    ("one", "two"), [(("a b", "c"), ("a", "b c")), (("a type_b", "c"), ("a", "b", "c"))]
)
def test_edge_types_of_odd_names_keep_their_own_similarity(
    one: tuple[str, ...], two: tuple[str, ...]
) -> None:
    network = HyperNetwork.from_arrays({one: [[0] * len(one)], two: [[0] * len(two)]})
    model = build(network, Architecture(dict.fromkeys(network.node_types, (2,))))
    first, second = network.edge_types
    assert model.similarity(first) is not model.similarity(second)


def test_hidden_size_is_the_sum_of_the_embeddings_and_that_of_sets_free_of_their_size() -> None:
    network = mixed_network()
    shape = Architecture({"user": (3,), "movie": (4,), "tag": (5,)})
    model = build(network, shape)
    assert len(model.similarity(EdgeType(("user", "movie", "tag"))).output) == 12
    pair, seven = (EdgeType.of(("user",) * n, ordered=False) for n in (2, 7))
    assert len(model.similarity(pair).output) == len(model.similarity(seven).output) == 9
    assert len(build(network, replace(shape, hidden=(7,))).similarity(pair).output) == 7
