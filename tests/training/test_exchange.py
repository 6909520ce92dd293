"""The backward pass, split at A W: a group of one has the gradients of an unsplit pass."""

from __future__ import annotations

import torch

from dhne.kernels import Table
from dhne.model.joint import Architecture
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.exchange import Exchange
from dhne.workers import Group
from tests.kernels.backends import kernels_of
from tests.model_building import LOSS, build, make_batches

NETWORK = HyperNetwork.from_arrays(
    {("a", "b"): [[0, 0], [1, 1], [2, 0]], ("a", "c"): [[0, 0], [1, 2]]}, {"a": 4, "b": 3, "c": 3}
)


def test_the_split_changes_no_gradient_and_no_loss() -> None:
    shape = Architecture(dict.fromkeys(NETWORK.node_types, (3,)))
    kernels = kernels_of("reference")
    maker = make_batches(NETWORK, kernels)
    inputs = next(maker.epoch(0, 0))
    plain, split = build(NETWORK, shape), build(NETWORK, shape)
    first, second = plain.loss(kernels, maker.assemble(inputs), LOSS, second_order=True)
    (first + second).backward()

    exchange = Exchange(Group(), split)
    parts = split.loss(kernels, maker.assemble(inputs), LOSS, second_order=True)
    dense = exchange.dense(NETWORK.node_types, NETWORK.edge_types)
    losses = exchange.backward(*parts, dense)
    torch.testing.assert_close(losses, torch.stack([first, second]).detach())
    for (name, p), q in zip(plain.named_parameters(), split.parameters(), strict=True):
        assert p.grad is not None, name
        assert q.grad is not None, name
        torch.testing.assert_close(q.grad.to_dense(), p.grad.to_dense())


def test_dense_weights_are_those_of_the_types_in_a_batch_without_tables() -> None:
    model = build(NETWORK, Architecture(dict.fromkeys(NETWORK.node_types, (3,))))
    exchange = Exchange(Group(), model)
    some = exchange.dense(["a", "b"], [NETWORK.edge_types[0]])
    names = {id(p): name for name, p in model.named_parameters()}
    assert not any(isinstance(p, Table) for p in some)
    every = exchange.dense(NETWORK.node_types, NETWORK.edge_types)
    assert {names[id(p)] for p in some} < {names[id(p)] for p in every}
    tables = [p for p in model.parameters() if isinstance(p, Table)]
    assert len(every) + len(tables) == len(names)
