"""The ranking loss against the formula, and what it teaches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dhne
from dhne.kernels import get_kernels
from dhne.model.products import Products, choose_context
from dhne.training.candidates import CandidateSampler
from dhne.training.queries import Asked, Queries
from dhne.training.random_numbers import Random
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_steps_that_know_a_sample_touch_its_vectors_alone(backend: str) -> None:
    network, found = facts(), []
    types = network.edge_types[0]
    for name in ("reference", backend):
        products = drawn(network).to(device_of(name))
        options = RankingOptions(dropout=0.0, candidates=1)
        trainer = RankingTrainer(products, network, options, kernels_of(name), seed=0)
        first = torch.zeros(1, dtype=torch.int64, device=device_of(name))
        trainer.loss(types, [Asked(q, first) for q in trainer.queries[types]]).backward()
        gradient = products.vectors_of("entity").grad
        assert gradient is not None
        assert gradient.is_sparse
        found.append(gradient.to_dense())
    untouched = (found[0] == 0).all(dim=1)
    assert untouched.any()
    assert not untouched.all()
    if backend != "cuda":  # which draws other numbers
        torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("edge_type", range(2))
def test_the_loss_is_that_of_the_formula(edge_type: int) -> None:
    """The mean over hyperedges, although hyperedges that ask the same are one query.

    Without evidence, where leaving out has a test of its own.
    """
    network = facts()
    products = drawn(network)
    with torch.no_grad():
        products.evidence.weights.zero_()
    trainer = RankingTrainer(products, network, RankingOptions(dropout=0.0), KERNELS, seed=0)
    edges = network.edge_sets[edge_type]
    asked = [Asked(q, torch.arange(len(q))) for q in trainer.queries[edges.types]]
    got = float(trainer.loss(edges.types, asked).detach())
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
    products, random = drawn(network), Random(0, 0, torch.device("cpu"))
    types = network.edge_types[0]
    sizes = network.position_sizes(types)
    queries = [Queries.of(network.edge_set(types), sizes, p, torch.device("cpu")) for p in range(3)]
    sampler = CandidateSampler(products, {types: queries}, 1)
    logits = torch.randn(9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    sums = []
    for _ in range(4000):
        asked = [Asked(q, random.integers(len(q), 1)) for q in queries]
        drawn_now = sampler.draw("entity", types, asked, random)
        assert drawn_now.log_chance is not None
        taken = torch.nonzero((drawn_now.place >= 0) & (drawn_now.place < drawn_now.size))[:, 0]
        order = drawn_now.place[taken]
        sums.append(torch.exp(logits[taken] - drawn_now.log_chance[order]).sum())
        for a in asked[1:]:  # answers in sufficiently many hyperedges are always candidates
            query, _, column, chosen = drawn_now.answers(a)
            assert chosen.all()
            assert (query == 0).all()
            assert len(column) == len(a.answers[1])
    expected = float(torch.exp(logits).sum())
    assert float(torch.stack(sums).mean()) == pytest.approx(expected, rel=0.05)


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
