"""The ranking loss against the formula, and what it teaches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dhne
from dhne.kernels import get_kernels
from dhne.model.products import Products, choose_context
from dhne.training.ranking import RankingOptions, RankingTrainer
from tests.kernels.backends import BACKENDS, device_of, kernels_of
from tests.model.product_networks import NETWORKS, drawn, facts

KERNELS = get_kernels("reference", torch.device("cpu"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", NETWORKS)
def test_every_backend_takes_the_same_steps(kind: str, backend: str) -> None:
    """Products, own vectors, evidence and loss, against plain torch on the CPU."""
    network, found = NETWORKS[kind](), []
    for name in ("reference", backend):
        products = drawn(network).to(device_of(name))
        options = RankingOptions(epochs=2, batch_size=8, dropout=0.0)
        history = RankingTrainer(products, network, options, kernels_of(name), seed=0).run()
        found.append((history[-1]["loss"], products.to("cpu").state_dict()))
    (loss, weights), (got, theirs) = found
    assert got == pytest.approx(loss, rel=1e-9)
    for name, expected in weights.items():
        torch.testing.assert_close(theirs[name], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_steps_that_know_a_sample_touch_its_vectors_alone(backend: str) -> None:
    network, found = facts(), []
    for name in ("reference", backend):
        products = drawn(network)
        before = products.vectors_of("entity").detach().clone()
        options = RankingOptions(epochs=1, batch_size=1, dropout=0.0, candidates=1)
        trainer = RankingTrainer(products, network, options, kernels_of(name), seed=0)
        trainer.edges = {t: e[:1] for t, e in list(trainer.edges.items())[:1]}
        trainer.run()
        found.append(products.vectors_of("entity").detach())
        assert (found[-1] == before).all(dim=1).any()
        assert (found[-1] != before).any()
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("edge_type", range(2))
def test_the_loss_is_that_of_the_formula(edge_type: int) -> None:
    """Without evidence, where leaving out has a test of its own; every position once."""
    network = facts()
    products = drawn(network)
    with torch.no_grad():
        products.evidence.weights.zero_()
    trainer = RankingTrainer(products, network, RankingOptions(dropout=0.0), KERNELS, seed=0)
    edges = network.edge_sets[edge_type]
    rows = torch.arange(len(edges))
    got = float(trainer.loss(edges.types, rows).detach())
    per_position = []
    for p in range(1, edges.length):
        logits = products.open_logits(torch.from_numpy(edges.nodes.copy()), edges.types, p)
        losses = []
        for row, line in zip(edges.nodes, logits, strict=True):
            same = (np.delete(edges.nodes, p, 1) == np.delete(row, p)).all(1)
            known = np.unique(edges.nodes[same, p])
            target = 0.5 * line[row[p]] + 0.5 * line[known].mean()
            losses.append(torch.logsumexp(line, 0) - target)
        per_position.append(torch.stack(losses).mean())
    # The context: other known relations of the same entities are no rivals.
    lines = products.product(torch.from_numpy(edges.nodes.copy()), edges.types, 0)
    lines = lines @ products.vectors["type_relation"].T
    losses = []
    for row, line in zip(edges.nodes, lines, strict=True):
        same = (edges.nodes[:, 1:] == row[1:]).all(1)
        rivals = [r for r in range(3) if r == row[0] or r not in edges.nodes[same, 0]]
        losses.append(torch.logsumexp(line[rivals], 0) - line[row[0]])
    expected = torch.stack(per_position).mean() + torch.stack(losses).mean()
    np.testing.assert_allclose(got, float(expected.detach()), rtol=1e-9)


def test_a_sample_of_candidates_estimates_the_sum_over_all() -> None:
    network = facts()
    products = drawn(network)
    options = RankingOptions(dropout=0.0, candidates=1)
    trainer = RankingTrainer(products, network, options, KERNELS, seed=0)
    types = network.edge_sets[0].types
    batch = torch.from_numpy(network.edge_sets[0].nodes[:1].copy())
    logits = torch.randn(9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    own = set(batch[0, 1:].tolist())
    sums = []
    for _ in range(4000):
        drawn_now = trainer.draw_candidates("entity", types, batch)
        assert drawn_now.log_chance is not None
        taken = torch.nonzero(drawn_now.column >= 0)[:, 0]
        others = torch.tensor([v not in own for v in taken.tolist()])
        assert own <= set(taken.tolist())
        sums.append(torch.exp(logits[taken] - drawn_now.log_chance)[others].sum())
    # The batch's own nodes are always in; the others as often as the uniform draw says.
    expected = 0.0
    for v in set(range(9)) - own:
        missed = torch.tensor(1 - 1 / 9, dtype=torch.float64)
        for p in (1, 2):
            missed = missed * (1 - trainer.shares[types, p][v])
        expected += float(torch.exp(logits[v]) * (1 / 9) / (1 - missed))
    assert float(torch.stack(sums).mean()) == pytest.approx(expected, rel=0.1)


def test_products_learn_who_is_whose_where_everyone_met_everyone() -> None:
    """(a, r, b) is a fact for one r of each pair: rows of counts look all alike."""
    n = 12
    rows = [(str(a), f"r{(a - b) % 3}", str(b)) for a in range(n) for b in range(n) if a != b]
    network = dhne.HyperNetwork.from_tuples(rows, ("person", "relation", "person"))
    train, test = network.split(0.2, seed=0)
    context = choose_context(train)
    assert context == "relation"
    products = Products(train, 16, context)
    products.reset(torch.Generator().manual_seed(0))
    options = RankingOptions(epochs=60, batch_size=16, learning_rate=0.02, dropout=0.1)
    history = RankingTrainer(products, train, options, KERNELS, seed=0).run()
    assert history[-1]["loss"] < history[0]["loss"]
    asked = torch.from_numpy(test.edges().copy())
    found = products.open_logits(asked, test.edge_types[0], 1).argmax(1)
    assert float((found == asked[:, 1]).double().mean()) > 0.8


def test_the_same_seed_gives_the_same_bits() -> None:
    network = facts()
    weights = []
    for _ in range(2):
        products = Products(network, 4, "relation")
        products.reset(torch.Generator().manual_seed(0))
        RankingTrainer(products, network, RankingOptions(epochs=3), KERNELS, seed=5).run()
        weights.append(products.state_dict())
    assert all(torch.equal(weights[0][k], weights[1][k]) for k in weights[0])
