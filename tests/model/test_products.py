"""Products and place evidence against the formulas, written out one tuple at a time."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
import torch

from dhne import HyperNetwork
from dhne.model.products import Products, choose_context
from dhne.network.edges import EdgeType
from tests.model.product_networks import NETWORKS, drawn, facts, pairs_as_sets, triples


def by_hand(products: Products, network: HyperNetwork, row: list[int], types: EdgeType) -> float:
    """ρ of one tuple: the product over positions, and every pair's evidence."""
    at = products.evidence.context_position(types)
    total = torch.ones(products.dim, dtype=torch.float64)
    for p, v in enumerate(row):
        if p != at:
            total = total * products.factor(products.vectors_of(types[p])[[v]], types, p)[0]
    if at is None:
        total = total * next(iter(products.scales.values()))
    else:
        total = total * products.vectors["type_" + types[at]][row[at]]
    return float(total.detach().sum()) + evidence_by_hand(products, network, row, types)


def evidence_by_hand(
    products: Products, network: HyperNetwork, row: list[int], types: EdgeType
) -> float:
    e = products.evidence
    at = e.context_position(types)
    number = {}
    met: dict[tuple[object, ...], Counter[int]] = {}
    for edges in network.edge_sets:
        place = e.context_position(edges.types)
        for nodes in edges.nodes.tolist():
            for i, p in permutations(range(edges.length), 2):
                if place in (i, p):
                    continue
                b = int(e.place_pairs(torch.tensor([nodes]), edges.types, i, p))
                number[b] = (edges.types, i, p)
                key = (edges.types[i], nodes[i], edges.types[p], nodes[p])
                met.setdefault(key, Counter())[b] += 1
    weights = e.weights.detach().reshape(e.num_places, e.num_places)
    total = 0.0
    for i, p in combinations(range(len(types)), 2):
        if at in (i, p):
            continue
        a = int(e.place_pairs(torch.tensor([row]), types, i, p))
        found = met.get((types[i], row[i], types[p], row[p]), Counter())
        if a >= 0:
            total += sum(float(weights[a, b]) * (1 + math.log(n)) for b, n in found.items())
    return total


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_tuple_has_the_product_and_the_evidence_of_the_formula(kind: str) -> None:
    network = NETWORKS[kind]()
    products = drawn(network)
    rng = np.random.default_rng(2)
    for edges in network.edge_sets:
        sizes = network.position_sizes(edges.types)
        random = edges.types.canonical(rng.integers(sizes, size=(10, edges.length)))
        tuples = np.concatenate([edges.nodes[:10], random])
        got = products.logits(torch.from_numpy(tuples.copy()), edges.types)
        expected = [by_hand(products, network, row, edges.types) for row in tuples.tolist()]
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["facts", "triples"])
def test_all_candidates_of_a_position_are_those_tuples_one_by_one(kind: str) -> None:
    network = NETWORKS[kind]()
    products = drawn(network)
    for edges in network.edge_sets:
        asked = torch.from_numpy(edges.nodes[:4].copy())
        for p, n in enumerate(network.position_sizes(edges.types).tolist()):
            got = products.open_logits(asked, edges.types, p)
            whole = asked.repeat_interleave(n, 0)
            whole[:, p] = torch.arange(n).repeat(len(asked))
            expected = products.logits(whole, edges.types).reshape(len(asked), n)
            # A pair has one weight in both directions, in whichever the open node is.
            torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_mean_is_subtracted_from_tuples_and_candidates_of_its_type(kind: str) -> None:
    network = NETWORKS[kind]()
    products = drawn(network)
    found = {}
    for again in (False, True):
        found[again] = [
            products.logits(torch.from_numpy(e.nodes.copy()), e.types) for e in network.edge_sets
        ] + [
            products.open_logits(torch.from_numpy(e.nodes.copy()), e.types, 0)
            for e in network.edge_sets
        ]
        products.center({e.types: 1.5 + k for k, e in enumerate(network.edge_sets)})
    means = [1.5 + k for k in range(len(network.edge_sets))] * 2
    for before, after, mean in zip(found[False], found[True], means, strict=True):
        torch.testing.assert_close(after, before - mean)


def test_a_known_answer_is_scored_without_its_own_hyperedge() -> None:
    network = facts()
    products = drawn(network)
    edges = network.edge_set(("relation", "entity", "entity"))
    row = edges.nodes[:1]
    keep = ~(edges.nodes == row).all(axis=1)
    rest = network.subset({edges.types: keep})
    asked, known = torch.from_numpy(row.copy()), torch.tensor(row[:, 2])
    first, everyone = torch.zeros(1, dtype=torch.int64), torch.arange(9)
    beside = products.evidence.beside(asked, edges.types, 2)
    got = products.evidence.of_candidates(beside, everyone, (1, 9), known=(first, known))
    got = got[0, int(known)]
    repeats = int((~keep).sum())
    if repeats == 1:
        expected = evidence_by_hand(products, rest, row[0].tolist(), edges.types)
        np.testing.assert_allclose(float(got.detach()), expected, rtol=1e-10)


def test_a_node_without_a_vector_of_its_own_drops_out() -> None:
    network = triples()
    products = drawn(network)
    types = network.edge_types[0]
    new = torch.tensor([[7, 2, 3]])  # beyond the seven users
    got = products.product(new, types, None)
    others = products.product(new, types, 0)
    torch.testing.assert_close(got, others)


def test_questions_about_a_node_of_later_have_no_evidence() -> None:
    network = triples()
    products = drawn(network)
    types = network.edge_types[0]
    asked = torch.tensor([[7, 2, -1]])
    got = products.open_logits(asked, types, 2)
    whole = asked.repeat(6, 1)
    whole[:, 2] = torch.arange(6)
    torch.testing.assert_close(got[0], products.logits(whole, types))


def test_the_context_is_a_small_type_in_every_hyperedge() -> None:
    assert choose_context(facts()) == "relation"
    assert choose_context(triples()) is None  # no type is half as large as the others
    assert choose_context(pairs_as_sets()) is None
