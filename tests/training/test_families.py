"""Sets of every size in one step: the same numbers as the equations, tuple by tuple."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import DHNE, HyperNetwork
from dhne.datasets import unordered_sets
from dhne.model.joint import Architecture
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.vocabulary import Vocabulary
from dhne.sampling import KnownEdges
from dhne.training.step_inputs import FamilyInputs
from tests.dense_reference import DenseDHNE, Edge, Tuple
from tests.kernels.backends import kernels_of
from tests.model_building import LOSS, K, build, make_batches

SETS = EdgeType(("person",), ("member",), (True,))
DIRECTED = EdgeType(("compound", "compound"), ("head", "tail"), (True, True))
MIXED = EdgeType(("author", "venue"), ("author", "venue"), (True, False))


def family_network(
    family: EdgeType, sizes: list[tuple[int, ...]], edges: int = 3, nodes: int = 9, seed: int = 0
) -> HyperNetwork:
    """A few hyperedges of each size, no node twice in one."""
    rng = np.random.default_rng(seed)
    edge_sets = []
    for size in sizes:
        rows = [
            np.concatenate([rng.permutation(nodes)[:n] for n in size])
            if len(set(family)) > 1
            else rng.permutation(nodes)[: sum(size)]
            for _ in range(edges)
        ]
        edge_sets.append(EdgeSet.build(family.form(size), np.array(rows)))
    names = {t: Vocabulary.of_size(nodes, node_type=t) for t in dict.fromkeys(family)}
    return HyperNetwork(names, edge_sets)


KINDS = [
    (SETS, [(2,), (3,), (5,)]),
    (DIRECTED, [(1, 1), (1, 3), (2, 2)]),
    (MIXED, [(1, 1), (3, 1), (4, 1)]),
]


def spelled_out(family: FamilyInputs) -> list[Tuple]:
    """The tuples of a step as the dense reference takes them."""
    items: list[Tuple] = []
    bounds = family.begins.tolist()
    own = torch.cat([torch.arange(len(family.nodes) - len(family.own)), family.own]).tolist()
    for i, (low, high) in enumerate(pairwise(bounds)):
        slots = Counter(family.slots[low:high].tolist())
        form = family.types.form([slots[s] for s in range(len(family.types))])
        nodes = tuple(family.nodes[low:high].tolist())
        if i < family.num_edges:
            items.append(Tuple(form, nodes, 1, True, Edge(form, nodes, 1.0), (True,) * len(nodes)))
            continue
        number = i - family.num_edges
        source = items[number // K].source
        kept = tuple(o >= 0 for o in own[low:high])
        items.append(Tuple(form, nodes, 0, bool(family.valid[number]), source, kept))
    return items


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize(("family", "sizes"), KINDS)
@pytest.mark.parametrize("rows", ["counts", "digits"])
@settings(max_examples=5)
@given(seed=st.integers(0, 999), layers=st.sampled_from([(), (6, 3)]))
def test_a_step_of_many_sizes_is_the_papers_equations(
    backend: str,
    family: EdgeType,
    sizes: list[tuple[int, ...]],
    rows: str,
    seed: int,
    layers: tuple[int, ...],
) -> None:
    network = family_network(family, sizes, seed=seed)
    architecture = Architecture(
        dict.fromkeys(network.node_types, (3,)), hidden=layers, evidence=True
    )
    model = build(network, architecture, seed)
    reference = DenseDHNE(network, model, rows=rows)
    kernels = kernels_of(backend)
    maker = make_batches(network, kernels, backend, leave_one_out=True, rows=rows, evidence=True)
    (inputs,) = maker.epoch(seed, 0)
    assert not inputs.groups
    (drawn,) = inputs.families
    first, second = model.loss(kernels, maker.assemble(inputs), LOSS, second_order=True)
    (first + second).backward()
    expected = reference.loss(spelled_out(drawn), dict(maker.alpha), leave_one_out=True)
    torch.testing.assert_close(first, expected[0])
    torch.testing.assert_close(second, expected[1])
    (expected[0] + expected[1]).backward()
    for name, p in model.named_parameters():
        if "similarities" in name:
            torch.testing.assert_close(p.grad, reference.parameters[name].grad)


def test_an_epoch_visits_every_set_once_whatever_its_size() -> None:
    network = family_network(SETS, [(2,), (3,), (5,)], edges=7)
    maker = make_batches(network, kernels_of("reference"), batch_size=4)
    seen: Counter[tuple[int, ...]] = Counter()
    known = KnownEdges(network)
    for inputs in maker.epoch(0, 0):
        (drawn,) = inputs.families
        for item in spelled_out(drawn):
            if item.target:
                seen[item.nodes] += 1
            elif item.counts:
                assert not known.contains(np.array([item.nodes]), item.types).any()
    every = (tuple(row) for e in network.edge_sets for row in e.nodes.tolist())
    assert seen == Counter(every)


def test_the_same_seed_and_epoch_give_the_same_batches() -> None:
    maker = make_batches(family_network(*KINDS[1]), kernels_of("reference"))
    one, again, other = (next(maker.epoch(0, epoch)) for epoch in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(one.tensors, again.tensors, strict=True))
    assert not torch.equal(one.families[0].nodes, other.families[0].nodes)


def test_order_within_a_role_changes_no_bit_and_roles_matter() -> None:
    network = family_network(DIRECTED, [(1, 1), (1, 2), (2, 2)], edges=6)
    model = DHNE(dim=4, epochs=2, preset="plus").fit(network)
    form = DIRECTED.form((2, 2))
    scores = model.score([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1]], edge_type=form)
    assert scores[0] == scores[1]
    assert scores[0] != scores[2]


def test_what_only_directions_tell_is_learned() -> None:
    """Reactions lead from one group to the next in a circle of three: back is never seen."""
    rng = np.random.default_rng(0)
    rows = []
    for group in rng.integers(3, size=240):
        head, tail = (rng.permutation(6)[:2] + 6 * ((group + step) % 3) for step in (1, 0))
        rows.append([*head, *tail])
    form = DIRECTED.form((2, 2))
    names = {"compound": Vocabulary.of_size(18, node_type="compound")}
    network = HyperNetwork(names, [EdgeSet.build(form, np.array(rows))]).fold()
    model = DHNE(dim=8, epochs=60).fit(network)
    forth = network.edge_sets[0].nodes
    back = forth[:, [2, 3, 0, 1]]
    right = model.score(forth, edge_type=form) > model.score(back, edge_type=form)
    assert right.mean() > 0.75
    together = EdgeSet.build(("compound",) * 4, forth, ordered=False)
    undirected = DHNE(dim=8, epochs=5).fit(HyperNetwork(names, [together]))
    one, other = (undirected.score(rows, edge_type=together.types) for rows in (forth, back))
    assert (one == other).all()  # it cannot tell


def test_an_epoch_is_the_same_whether_or_not_those_before_it_were_drawn() -> None:
    network = unordered_sets(nodes=20, edges=12, communities=2, sizes=(2, 3, 4))
    begun, resumed = (make_batches(network, kernels_of("reference"), "reference") for _ in range(2))
    for epoch in range(20):
        steps = list(begun.epoch(3, epoch))
    again = list(resumed.epoch(3, 19))
    other = list(resumed.epoch(3, 18))
    for step, same in zip(steps, again, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(step.tensors, same.tensors, strict=True))
    assert not torch.equal(again[0].families[0].nodes, other[0].families[0].nodes)
