"""Keys that are equal exactly where tuples are, and rows that differ."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dhne.network.edge_keys import distinct_rows, edge_keys, first_in_tuple

from .rows_of_ids import HUGE, SMALL


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
def test_node_first_in_tuple_once_in_each_tuple(nodes: np.ndarray) -> None:
    types = ("a", "b", "a", "a", "b")[: nodes.shape[1]]
    masks = [first_in_tuple(nodes, types, p) for p in range(len(types))]
    for e, row in enumerate(nodes.tolist()):
        firsts = [(types[p], row[p]) for p, m in enumerate(masks) if m is None or bool(m[e])]
        assert len(firsts) == len(set(firsts))
        assert set(firsts) == set(zip(types, row, strict=True))
