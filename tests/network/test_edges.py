"""Hyperedges as arrays: checked, frozen, folded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from dhne.errors import InputError, ParameterError
from dhne.network.edges import EdgeSet, EdgeType

from .rows_of_ids import HUGE, SMALL


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
