"""Hyperedges as arrays: checked, frozen, folded, and keys that tell equal ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dhne.errors import InputError, ParameterError
from dhne.network.edge_keys import distinct_rows, edge_keys, first_in_tuple
from dhne.network.edges import EdgeSet, EdgeType

SMALL = hnp.arrays(
    np.int64, st.tuples(st.integers(0, 20), st.integers(2, 5)), elements=st.integers(0, 3)
)
HUGE = hnp.arrays(
    np.int64,
    st.tuples(st.integers(0, 20), st.integers(2, 4)),
    elements=st.sampled_from([0, 1, 2**40]),
)


def types_of(nodes: np.ndarray) -> tuple[str, ...]:
    return tuple("abcdef"[: nodes.shape[1]])


@given(SMALL | HUGE)
def test_fold_adds_weights_and_keeps_first_seen_order(nodes: np.ndarray) -> None:
    weights = np.arange(1.0, len(nodes) + 1)
    folded = EdgeSet.build(types_of(nodes), nodes, weights).fold()
    expected: dict[tuple[int, ...], float] = {}
    for row, weight in zip(nodes.tolist(), weights, strict=True):
        expected[tuple(row)] = expected.get(tuple(row), 0) + weight
    assert [tuple(r) for r in folded.nodes.tolist()] == list(expected)
    assert folded.weights.tolist() == list(expected.values())
    assert folded.num_distinct() == len(folded)
    assert folded.fold().nodes.tolist() == folded.nodes.tolist()


@given(SMALL | HUGE)
def test_distinct_rows_number_rows_by_first_appearance(nodes: np.ndarray) -> None:
    first, inverse = distinct_rows(nodes)
    rows = [tuple(r) for r in nodes.tolist()]
    assert [rows[i] for i in first] == list(dict.fromkeys(rows))
    assert [rows[first[g]] for g in inverse] == rows


@given(SMALL | HUGE, st.booleans())
def test_keys_are_equal_exactly_where_tuples_are(nodes: np.ndarray, huge: bool) -> None:
    sizes = np.full(nodes.shape[1], 2**41 if huge else max(4, int(nodes.max(initial=0)) + 1))
    keys = edge_keys(nodes, sizes)
    assert keys.dtype == np.int64
    rows = [tuple(r) for r in nodes.tolist()]
    assert len(set(keys.tolist())) == len(set(rows))
    assert Counter(zip(rows, keys.tolist(), strict=True)).keys() == {
        (r, k) for r, k in dict(zip(rows, keys.tolist(), strict=True)).items()
    }


@given(SMALL | HUGE, st.booleans())
def test_keys_of_tensors_are_those_of_arrays(nodes: np.ndarray, huge: bool) -> None:
    sizes = np.full(nodes.shape[1], 2**41 if huge else max(4, int(nodes.max(initial=0)) + 1))
    assert edge_keys(torch.tensor(nodes), sizes).tolist() == edge_keys(nodes, sizes).tolist()


def test_hashed_keys_of_many_tuples_do_not_collide() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(60)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    keys = edge_keys(grid, [2**40] * 3)
    assert len(np.unique(keys)) == len(grid)


def test_keys_do_not_change_what_they_are_made_from() -> None:
    nodes = np.array([[1, 2], [3, 4]])
    edge_keys(nodes, [5, 5])
    assert nodes.tolist() == [[1, 2], [3, 4]]


@given(SMALL)
def test_unordered_positions_of_a_type_are_sorted(nodes: np.ndarray) -> None:
    types = ("a", "b", "a", "a", "b")[: nodes.shape[1]]
    edges = EdgeSet.build(types, nodes, ordered=False)
    for before, after in zip(nodes.tolist(), edges.nodes.tolist(), strict=True):
        for t in set(types):
            ids = [v for v, s in zip(before, types, strict=True) if s == t]
            assert [v for v, s in zip(after, types, strict=True) if s == t] == sorted(ids)
    assert EdgeType.of(types, ordered=False).canonical(nodes).tolist() == edges.nodes.tolist()
    assert EdgeType.of(types).canonical(nodes).tolist() == nodes.tolist()


def test_types_that_do_not_repeat_are_ordered_anyway() -> None:
    assert not EdgeSet.build(("a", "b"), [[1, 0]], ordered=False).types.has_sets
    assert EdgeSet.build(("a", "a"), [[1, 0]], ordered=False).types.has_sets


@given(SMALL)
def test_node_first_in_tuple_once_in_each_tuple(nodes: np.ndarray) -> None:
    types = ("a", "b", "a", "a", "b")[: nodes.shape[1]]
    masks = [first_in_tuple(nodes, types, p) for p in range(len(types))]
    for e, row in enumerate(nodes.tolist()):
        firsts = [(types[p], row[p]) for p, m in enumerate(masks) if m is None or bool(m[e])]
        assert len(firsts) == len(set(firsts))
        assert set(firsts) == set(zip(types, row, strict=True))


def test_edges_are_frozen_and_do_not_follow_their_input() -> None:
    nodes, weights = np.array([[0, 1]]), np.array([2.0])
    edges = EdgeSet.build(("a", "b"), nodes, weights)
    nodes[0, 0], weights[0] = 7, 7.0
    assert edges.nodes.tolist() == [[0, 1]]
    assert edges.weights.tolist() == [2.0]
    for derived in (edges, edges.take(np.array([0])), edges.fold()):
        with pytest.raises(ValueError, match="read-only"):
            derived.nodes[0, 0] = 3
        with pytest.raises(ValueError, match="read-only"):
            derived.weights[0] = 3
    with pytest.raises(AttributeError):
        edges.types = ()  # type: ignore[misc]


def test_take_by_mask_by_rows_and_by_nothing() -> None:
    edges = EdgeSet.build(("a", "b"), [[0, 0], [1, 1], [2, 2]], [1, 2, 3])
    assert edges.take(np.array([True, False, True])).weights.tolist() == [1, 3]
    assert edges.take(np.array([2, 0, 2])).weights.tolist() == [3, 1, 3]
    assert len(edges.take(np.array([]))) == 0
    for rows in ([3], [True], [0.5]):
        with pytest.raises(ParameterError):
            edges.take(np.array(rows))


def test_no_edges() -> None:
    edges = EdgeSet.build(("a", "b", "c"), [])
    assert edges.nodes.shape == (0, 3)
    assert edges.length == 3
    assert len(edges.fold()) == edges.num_distinct() == 0


@pytest.mark.parametrize(
    ("types", "nodes", "weights", "message"),
    [
        (("a",), [[0]], None, "at least two positions"),
        ((), [], None, "at least two positions"),
        (("a", "b"), [[0, 1, 2]], None, r"shape \[m, 2\], got \[1, 3\]"),
        (("a", "b"), [0, 1], None, "shape"),
        (("a", "b"), [[0.5, 1.0]], None, "integer node ids"),
        (("a", "b"), [["x", "y"]], None, "integer node ids"),
        (("a", "b"), [[0, 1]], [1, 2], "as many weights"),
        (("a", "b"), [[0, 1], [0, 2]], [1, -2], r"weight of edge 2 is -2"),
        (("a", "b"), [[0, 1]], [0], "must be positive"),
        (("a", "b"), [[0, 1]], [np.nan], "must be positive"),
        (("a", "b"), [[0, 1]], [np.inf], "must be positive"),
        (("a", "b"), [[0, 1]], ["heavy"], "weights"),
        (("a", "b"), [[0, 1]], [None], "weights"),
    ],
)
def test_bad_edges_are_refused(
    types: tuple[str, ...], nodes: object, weights: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        EdgeSet.build(types, nodes, weights)  # type: ignore[arg-type]
