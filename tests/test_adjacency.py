"""A_t against its definition in dense matrices, its scaling, and rows for nodes that come later."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne.adjacency import AdjacencyMatrix, Entries, adjacency
from dhne.errors import ParameterError, UnknownNameError
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary
from tests.random_networks import networks

TYPES = ("user", "movie", "tag")


def dense(net: HyperNetwork) -> tuple[np.ndarray, dict[str, int]]:
    """Return H W Hᵀ − D over all nodes, by the definition, and where each type begins."""
    starts, n = {}, 0
    for t in net.node_types:
        starts[t], n = n, n + net.num_nodes(t)
    incidence, weights = [], []
    for e in net.edge_sets:
        for nodes, weight in zip(e.nodes.tolist(), e.weights, strict=True):
            row = np.zeros(n)
            for t, v in zip(e.types, nodes, strict=True):
                row[starts[t] + v] = 1
            incidence.append(row)
            weights.append(weight)
    H = np.array(incidence).reshape(-1, n).T
    A = H @ np.diag(weights) @ H.T if weights else np.zeros((n, n))
    return A - np.diag(np.diag(A)), starts


def meet(net: HyperNetwork, t: str, s: str) -> bool:
    return any(
        p != q and types[p] == t and types[q] == s
        for types in net.edge_types
        for p in range(len(types))
        for q in range(len(types))
    )


def unscaled(a: AdjacencyMatrix) -> np.ndarray:
    return np.asarray(a.matrix.toarray() * a.column_max)


@given(networks(labels=None))
def test_matrix_is_its_definition(net: HyperNetwork) -> None:
    A, starts = dense(net)
    found = adjacency(net, dtype=np.float64)
    assert list(found) == list(net.node_types)
    for t, a in found.items():
        neighbours = [s for s in net.node_types if meet(net, t, s)]
        assert list(a.blocks) == neighbours
        rows = A[starts[t] : starts[t] + net.num_nodes(t)]
        parts = [rows[:, starts[s] : starts[s] + net.num_nodes(s)] for s in neighbours]
        expected = np.concatenate([np.empty((net.num_nodes(t), 0)), *parts], axis=1)
        assert a.shape == expected.shape
        assert np.allclose(unscaled(a), expected)
        assert np.allclose(a.column_max, expected.max(axis=0, initial=0))
        # nothing of a type is lost: what stands outside its blocks is zero
        assert np.isclose(rows.sum(), expected.sum())


@given(networks(labels=None))
def test_layout_is_sorted_scaled_and_compact(net: HyperNetwork) -> None:
    for a in adjacency(net).values():
        m = a.matrix
        assert isinstance(m, sp.csr_array)
        assert m.dtype == np.float32
        assert m.indices.dtype == m.indptr.dtype == np.int32
        for v in range(m.shape[0]):
            columns = m.indices[m.indptr[v] : m.indptr[v + 1]]
            assert (np.diff(columns) > 0).all()
        largest = np.zeros(m.shape[1])
        np.maximum.at(largest, m.indices, m.data)
        assert ((largest == 1) == (a.column_max > 0)).all()
        assert (m.data > 0).all()
        assert (m.data <= 1).all()


@given(networks(labels=None))
def test_blocks_are_symmetric(net: HyperNetwork) -> None:
    found = adjacency(net, dtype=np.float64)
    for t, a in found.items():
        for s, start in a.blocks.items():
            mine = unscaled(a)[:, start : start + a.sizes[s]]
            b = found[s]
            theirs = unscaled(b)[:, b.blocks[t] : b.blocks[t] + b.sizes[t]]
            assert np.allclose(mine, theirs.T)


def test_own_block_only_where_a_type_repeats() -> None:
    plain = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]})
    assert adjacency(plain)["a"].blocks == {"b": 0}
    repeating = HyperNetwork.from_arrays({("a", "r", "a"): [[0, 0, 1], [1, 0, 0], [1, 0, 1]]})
    a = adjacency(repeating, dtype=np.float64)["a"]
    assert a.blocks == {"a": 0, "r": 2}
    assert unscaled(a).tolist() == [[0, 2, 2], [2, 0, 3]]  # (1, r, 1) holds node 1 once


def test_a_node_type_without_edges_has_no_columns() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]}, {"a": 1, "b": 1, "alone": 4})
    a = adjacency(net)["alone"]
    assert a.shape == (4, 0)
    assert a.blocks == {}
    assert a.matrix.nnz == 0


def test_columns_of_a_matrix() -> None:
    net = HyperNetwork.from_arrays({TYPES: [[0, 1, 2]]})
    movie = adjacency(net)["movie"]
    assert movie.blocks == {"user": 0, "tag": 1}
    assert movie.column("tag", np.array([0, 2])).tolist() == [1, 3]
    assert movie.column("tag", torch.tensor([2])).tolist() == [3]
    assert movie.column("user", 0) == 0
    with pytest.raises(UnknownNameError, match="unknown neighbour of 'movie' 'movie'"):
        movie.column("movie", 0)
    assert repr(movie) == "AdjacencyMatrix(movie: 2 × 4, 2 entries; columns: user, tag)"


def test_only_floats_are_entries() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]})
    with pytest.raises(ParameterError, match="float32 or float64"):
        adjacency(net, dtype=np.int64)


@given(networks(labels=None), st.data())
def test_an_edges_share_can_be_taken_out(net: HyperNetwork, data: st.DataObject) -> None:
    """Leaving an edge out: the row without it is the row less the edge's scaled entries."""
    nonempty = [e for e in net.edge_sets if len(e)]
    if not nonempty:
        return
    edges = data.draw(st.sampled_from(nonempty))
    row = data.draw(st.integers(0, len(edges) - 1))
    without = net.subset({edges.types: np.arange(len(edges)) != row})
    members = dict.fromkeys(zip(edges.types, edges.nodes[row].tolist(), strict=True))
    before, after = adjacency(net, dtype=np.float64), adjacency(without, dtype=np.float64)
    for t, v in members:
        a = before[t]
        dense_row = a.matrix.toarray()[v]
        for s, u in members:
            if (s, u) != (t, v):
                column = a.column(s, np.array([u]))
                dense_row[column] -= a.scaled(column, edges.weights[row])
        assert np.allclose(dense_row * a.column_max, unscaled(after[t])[v], atol=1e-9)


# -- nodes that come later -------------------------------------------------------------------------


@settings(max_examples=50)
@given(networks(labels=None), st.data())
def test_new_rows_are_rows_of_the_larger_network(net: HyperNetwork, data: st.DataObject) -> None:
    """Train on the hyperedges without some node; its row then is what the full network gives it."""
    t = data.draw(st.sampled_from(net.node_types))
    left_out = net.num_nodes(t) - 1
    keep = {}
    for e in net.edge_sets:
        at_t = [p for p, s in enumerate(e.types) if s == t]
        keep[e.types] = ~(e.nodes[:, at_t] == left_out).any(axis=1)
    nodes = {
        s: Vocabulary(net.names(s).slice(0, left_out) if s == t else net.names(s))
        for s in net.node_types
    }
    edges = [e.take(keep[e.types]) for e in net.edge_sets]
    trained = adjacency(HyperNetwork(nodes, edges), dtype=np.float64)[t]
    whole = adjacency(net, dtype=np.float64)[t]
    rows, empty = trained.rows_from(net.edge_sets, [left_out])
    expected = np.zeros(trained.shape[1])
    for s, start in trained.blocks.items():
        block = unscaled(whole)[left_out, whole.blocks[s] : whole.blocks[s] + trained.sizes[s]]
        expected[start : start + trained.sizes[s]] = block
    expected[trained.column_max == 0] = 0
    assert rows.shape == (1, trained.shape[1])
    assert np.allclose(rows.toarray()[0] * trained.column_max, expected)
    assert empty.tolist() == ([] if expected.any() else [0])


@given(networks(labels=None))
def test_rows_from_the_same_edges_are_the_matrix(net: HyperNetwork) -> None:
    for t, a in adjacency(net).items():
        nodes = np.arange(net.num_nodes(t))[::-1]
        rows, empty = a.rows_from(net.edge_sets, nodes)
        assert rows.dtype == a.matrix.dtype
        assert np.allclose(rows.toarray(), a.matrix.toarray()[::-1])
        assert set(nodes[empty]) == set(np.flatnonzero(np.diff(a.matrix.indptr) == 0))


def test_new_rows_by_name_through_a_merge() -> None:
    net = HyperNetwork.from_tuples([("ann", "Heat", "x"), ("bob", "Heat", "y")], TYPES)
    new = HyperNetwork.from_tuples(
        [("eve", "Heat", "x"), ("eve", "Alien", "x"), ("zoe", "Alien", "z"), ("ann", "Heat", "x")],
        TYPES,
    )
    both = net.merge(new, fold=False)
    user = adjacency(net)["user"]
    rows = user.rows_from(both.edge_sets, both.ids("user", ["zoe", "eve", "zoe"]))
    # columns: Heat (largest 1 for any user), x, y; Alien and z were never seen
    assert rows.matrix.toarray().tolist() == [[0, 0, 0], [1, 2, 0], [0, 0, 0]]
    assert rows.empty.tolist() == [0, 2]


def test_rows_of_entries_drop_what_training_has_not_seen() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 0], [1, 0]]}, {"a": 2, "b": 2, "c": 1})
    a = adjacency(net)["a"]
    ids, weights = np.array([0, 1, -1, 7, 0]), np.array([3.0, 1, 1, 1, 1])
    rows = a.rows_of(
        [Entries(np.array([0, 0, 1, 1, 0]), "b", ids, weights), Entries(ids, "c", ids, weights)], 2
    )
    assert rows.matrix.toarray().tolist() == [[2, 0], [0, 0]]
    assert rows.empty.tolist() == [1]
    with pytest.raises(ParameterError, match="between 0 and 0"):
        a.rows_of([Entries(np.array([1]), "b", np.array([0]), np.array([1.0]))], 1)
    assert a.rows_of([], 3).empty.tolist() == [0, 1, 2]


def test_edges_given_twice_count_twice() -> None:
    edges = EdgeSet.build(("a", "b"), [[0, 0], [0, 0], [0, 1]], [1, 2, 6])
    net = HyperNetwork({"a": Vocabulary.of_size(1), "b": Vocabulary.of_size(2)}, [edges])
    a = adjacency(net)["b"]
    assert a.column_max.tolist() == [6]
    assert a.matrix.toarray().tolist() == [[0.5], [1.0]]
    assert adjacency(net.fold())["b"].matrix.toarray().tolist() == [[0.5], [1.0]]
