"""Every node of a step's tuples is found among the distinct nodes of its type."""

from __future__ import annotations

import torch

from dhne import HyperNetwork
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.vocabulary import Vocabulary
from dhne.training.node_index import NodeIndex
from tests.kernels.backends import kernels_of
from tests.model_building import make_batches

PAPER = EdgeType(("author", "venue"), ("author", "venue"), (True, False))  # a set and a place
AUTHORS, VENUES = 6, 4
NETWORK = HyperNetwork(
    {"author": Vocabulary.of_size(AUTHORS), "venue": Vocabulary.of_size(VENUES)},
    [
        EdgeSet.build(PAPER.form((2, 1)), [[0, 1, 0], [2, 3, 1]]),
        EdgeSet.build(PAPER.form((3, 1)), [[1, 2, 4, 2]]),
        EdgeSet.build(("author", "venue"), [[0, 3], [5, 0]]),
    ],
)
SIZES = {t: NETWORK.num_nodes(t) for t in NETWORK.node_types}


def test_numbers_lead_back_to_the_nodes_of_tuples_and_of_sets() -> None:
    kernels = kernels_of("reference")
    maker = make_batches(NETWORK, kernels)
    inputs = next(maker.epoch(0, 0))
    index = NodeIndex.build(inputs, kernels, SIZES)
    assert index.num_tuples == sum(len(g.tuples) for g in inputs.groups) + len(inputs.families[0])
    for group, numbers in zip(index.groups, index.of_groups, strict=True):
        for p, t in enumerate(group.types):
            assert torch.equal(index.distinct[t].nodes[numbers[:, p]], group.tuples[:, p])
    (family,), (numbers,) = index.families, index.of_families
    for t in ("author", "venue"):
        mine = family.of_type(t)
        assert mine.any()
        assert torch.equal(index.distinct[t].nodes[numbers[mine]], family.nodes[mine])
    for found in index.distinct.values():
        assert len(found.nodes.unique()) == len(found.nodes)


def test_rows_without_a_hyperedge_follow_those_of_the_distinct_nodes() -> None:
    kernels = kernels_of("reference")
    maker = make_batches(NETWORK, kernels, leave_one_out=True)
    index = NodeIndex.build(next(maker.epoch(0, 0)), kernels, SIZES)
    assert maker.drawer.leave_one_out is not None
    extra = index.leave_out(maker.drawer.leave_one_out)
    ends = {t: len(index.distinct[t].nodes) + len(extra[t]) for t in SIZES}
    (group,), (numbers,) = index.groups, index.of_groups
    for p, t in enumerate(group.types):
        own = numbers[: len(group.edges), p]
        assert (own >= len(index.distinct[t].nodes)).all()  # hyperedges use them
        assert (own < ends[t]).all()
    (family,), (members,) = index.families, index.of_families
    for t in SIZES:
        own = members[: len(family.taken)][family.of_type(t)[: len(family.taken)]]
        # each is used by one member; those of families come after those of tuples
        assert own.tolist() == list(range(ends[t] - len(own), ends[t]))
