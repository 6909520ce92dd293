"""Known completions: the nodes that make a known hyperedge, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.answers.known_completions import KnownCompletions
from tests.random_networks import numbered_networks


@given(numbered_networks(), st.data())
def test_they_are_those_of_trying_every_node(network: HyperNetwork, data: st.DataObject) -> None:
    network = network.fold()
    edges = data.draw(st.sampled_from(network.edge_sets))
    position = data.draw(st.integers(0, edges.length - 1))
    sizes = network.position_sizes(edges.types)
    known = KnownCompletions.build(edges, sizes, position)
    rows, nodes = known.of(known.contexts(edges.nodes))
    found = Counter(zip(rows.tolist(), nodes.tolist(), strict=True))
    true = {tuple(row) for row in edges.nodes.tolist()}
    for row, query in enumerate(edges.nodes):
        for node in range(sizes[position]):
            tried = query[None].copy()
            tried[0, position] = node
            is_known = tuple(edges.types.canonical(tried)[0].tolist()) in true
            assert (found[row, node] > 0) == is_known


def test_contexts_without_a_known_hyperedge_have_no_completions() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 2]]}, {"a": 2, "b": 3})
    known = KnownCompletions.build(network.edge_set(), network.position_sizes(), 1)
    rows, nodes = known.of(known.contexts(np.array([[1, 0], [0, 1]])))
    assert (rows.tolist(), nodes.tolist()) == ([1, 1], [0, 2])


@given(numbered_networks(), st.data())
def test_queries_that_share_work_are_put_together(
    network: HyperNetwork, data: st.DataObject
) -> None:
    edges = data.draw(st.sampled_from(network.edge_sets))
    position = data.draw(st.integers(0, edges.length - 1))
    known = KnownCompletions.build(edges, network.position_sizes(edges.types), position)
    order = known.together(edges.nodes)
    assert sorted(order) == list(range(len(edges)))
    fixed = [p for p, many in enumerate(edges.types.many) if p != position and not many]
    columns = [edges.nodes[order, p] for p in fixed] or [known.contexts(edges.nodes)[order]]
    runs = [len(list(groupby(column.tolist()))) for column in columns]
    assert any(n == len(np.unique(c)) for n, c in zip(runs, columns, strict=True))
