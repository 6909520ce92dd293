"""The container: what goes in comes out, whatever is derived from it agrees with plain Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.errors import DHNEError, InputError, ParameterError, UnknownNameError
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import EdgeColumns, HyperNetwork
from dhne.network.vocabulary import Vocabulary
from tests.random_networks import named_edges, networks

TAGS = [("ann", "Heat", "heist"), ("bob", "Heat", "noir"), ("bob", "Alien", "space")]
TYPES = ("user", "movie", "tag")


@pytest.fixture
def tags() -> HyperNetwork:
    return HyperNetwork.from_tuples(TAGS, TYPES)


# -- making one ------------------------------------------------------------------------------------


def test_tuples_become_types_names_and_ids(tags: HyperNetwork) -> None:
    assert tags.node_types == TYPES
    assert tags.edge_types == (TYPES,)
    assert tags.names("movie").to_pylist() == ["Heat", "Alien"]
    assert tags.edges().tolist() == [[0, 0, 0], [1, 0, 1], [1, 1, 2]]
    assert tags.weights().tolist() == [1, 1, 1]
    assert tags.num_nodes() == 7
    assert (tags.num_edges(), tags.num_edges(TYPES)) == (3, 3)
    assert tags.position_sizes().tolist() == [2, 2, 3]
    assert tags.ids("user", ["bob", "ann"]).tolist() == [1, 0]
    assert tags.labels("user") is None


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30))
def test_tuples_of_any_text_come_back(tuples: list[tuple[str, str]]) -> None:
    net = HyperNetwork.from_tuples(tuples, ("a", "b"))
    a, b = net.names("a").to_pylist(), net.names("b").to_pylist()
    assert [(a[u], b[v]) for u, v in net.edges().tolist()] == tuples


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=30))
def test_tuples_of_integers_come_back(tuples: list[tuple[int, int]]) -> None:
    net = HyperNetwork.from_tuples(tuples, ("x", "x"))
    names = net.names("x").to_pylist()
    assert [(names[u], names[v]) for u, v in net.edges().tolist()] == tuples


def test_the_same_name_in_two_types_is_two_nodes() -> None:
    net = HyperNetwork.from_tuples(
        [("Jordan", "Jordan"), ("Jordan", "Egypt")], ("person", "country")
    )
    assert net.num_nodes("person") == 1
    assert net.names("country").to_pylist() == ["Jordan", "Egypt"]


def test_a_repeated_type_has_one_vocabulary() -> None:
    net = HyperNetwork.from_tuples([("a", "r", "b"), ("b", "r", "c")], ("node", "relation", "node"))
    assert net.names("node").to_pylist() == ["a", "b", "c"]
    assert net.edges().tolist() == [[0, 0, 1], [1, 0, 2]]


def test_unordered_positions_are_sets() -> None:
    net = HyperNetwork.from_tuples([("b", "a"), ("a", "b")], ("author", "author"), ordered=False)
    assert net.fold().weights().tolist() == [2]


def test_several_tables_share_their_node_types() -> None:
    net = HyperNetwork.from_columns(
        [
            EdgeColumns(EdgeType(("user", "movie")), [["ann"], ["Heat"]], [2.0]),
            EdgeColumns(
                EdgeType(("user", "movie", "tag")), [["bob", "ann"], ["Heat", "Alien"], ["x", "y"]]
            ),
        ],
        nodes={"tag": ["never used", "y"]},
        labels={"movie": ["crime", None]},
    )
    assert net.names("user").to_pylist() == ["ann", "bob"]
    assert net.names("tag").to_pylist() == ["never used", "y", "x"]
    assert net.edges(TYPES).tolist() == [[1, 0, 2], [0, 1, 1]]
    assert net.weights(("user", "movie")).tolist() == [2]
    assert net.labels("movie").to_pylist() == [["crime"], []]
    assert net.labelled_types == ("movie",)


@pytest.mark.parametrize("make", [list, np.array, pa.array, pd.Series, pl.Series])
def test_columns_of_every_container(make: object) -> None:
    columns = [make(["b", "a"]), make([7, 8])]  # type: ignore[operator]
    net = HyperNetwork.from_columns([EdgeColumns(EdgeType(("x", "y")), columns)])
    assert net.names("x").to_pylist() == ["b", "a"]
    assert net.names("y").to_pylist() == [7, 8]


def test_chunked_columns_with_empty_chunks() -> None:
    x = pa.chunked_array([["a"], [], ["b", "a"]], pa.string())
    y = pa.chunked_array([["b", "c", "d"]])
    net = HyperNetwork.from_columns([EdgeColumns(EdgeType(("x", "x")), [x, y])])
    assert net.names("x").to_pylist() == ["a", "b", "c", "d"]
    assert net.edges().tolist() == [[0, 1], [1, 2], [0, 3]]


def test_arrays_without_names() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 5]], ("b", "b"): [[1, 2]]})
    assert (net.num_nodes("a"), net.num_nodes("b")) == (1, 6)
    assert HyperNetwork.from_arrays({("a", "b"): [[0, 5]]}, {"a": 9, "b": 6}).num_nodes("a") == 9
    weighted = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]}, weights={("a", "b"): [2]})
    assert weighted.weights().tolist() == [2]


def test_nothing_is_a_network_too() -> None:
    empty = HyperNetwork.from_tuples([], ("a", "b"))
    assert empty.num_edges() == 0
    assert empty.num_nodes() == 0
    assert empty.degrees("a").tolist() == []
    assert HyperNetwork({}, []) == HyperNetwork({}, [])
    assert "0 hyperedges" in repr(HyperNetwork({}, []))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HyperNetwork.from_tuples([("a", "b", "c")], ("x", "y")), "tuple 1 has 3 names"),
        (lambda: HyperNetwork.from_tuples([("a",)], ("x",)), "at least two positions"),
        (lambda: HyperNetwork.from_tuples([()], ()), "at least two positions"),
        (lambda: HyperNetwork.from_tuples([("a", None)], ("x", "y")), "'y': the name in row 1"),
        (lambda: HyperNetwork.from_tuples([("a", 1), ("b", "c")], ("x", "y")), "'y' must all be"),
        (
            lambda: HyperNetwork.from_tuples([("a", "b")], ("x", "y"), weights=[-1]),
            "weight of edge",
        ),
        (lambda: HyperNetwork.from_arrays({("x", "y"): [[0, 9]]}, {"x": 1, "y": 2}), r"0 … 1"),
        (lambda: HyperNetwork.from_arrays({("x", "y"): [[-1, 0]]}), "outside"),
        (
            lambda: HyperNetwork.from_columns(
                [EdgeColumns(EdgeType(("x", "y")), [["a"], ["b", "c"]])]
            ),
            "length",
        ),
        (
            lambda: HyperNetwork.from_columns([EdgeColumns(EdgeType(("x", "y")), [["a"]])]),
            "needs 2 columns, got 1",
        ),
        (
            lambda: HyperNetwork.from_columns(
                [EdgeColumns(EdgeType(("x", "y")), [["a"], ["b"]])] * 2
            ),
            "given twice",
        ),
        (
            lambda: HyperNetwork({"x": Vocabulary(["a"])}, [], {"x": ["l", "m"]}),
            "1 nodes but 2 label entries",
        ),
    ],
)
def test_what_makes_no_network_is_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_the_same_edge_type_twice_is_refused() -> None:
    nodes = {"x": Vocabulary.of_size(2)}
    edges = EdgeSet.build(("x", "x"), [[0, 1]])
    with pytest.raises(InputError, match="given twice"):
        HyperNetwork(nodes, [edges, edges])


def test_edges_of_unknown_node_types_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown node type 'y'"):
        HyperNetwork({"x": Vocabulary.of_size(2)}, [EdgeSet.build(("x", "y"), [[0, 1]])])


def test_unknown_names_come_with_near_ones(tags: HyperNetwork) -> None:
    with pytest.raises(UnknownNameError, match="unknown node type 'moive': did you mean 'movie'"):
        tags.names("moive")
    with pytest.raises(UnknownNameError, match="unknown movie 'Heet': did you mean 'Heat'"):
        tags.ids("movie", ["Heet"])
    with pytest.raises(UnknownNameError, match="unknown edge type"):
        tags.edges(("user", "movie"))


def test_the_edge_type_must_be_named_where_there_are_several() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0]], ("a", "a"): [[0, 0]]})
    with pytest.raises(ParameterError, match=r"2 edge types, name one of: \('a', 'b'\)"):
        net.edges()


# -- immutability ----------------------------------------------------------------------------------


def test_nothing_can_be_written_to(tags: HyperNetwork) -> None:
    for net in (tags, tags.fold(), tags.subset([0, 1]), tags.split(0.5)[0], tags.merge(tags)):
        for array in (net.edges(), net.weights()):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 5


def test_input_arrays_stay_the_callers() -> None:
    ids, weights = np.array([[1, 0]]), np.array([1.0])
    types = ("a", "a")
    net = HyperNetwork.from_arrays({types: ids}, weights={types: weights}, ordered=False)
    ids[:], weights[:] = 0, 9
    assert net.edges().tolist() == [[0, 1]]
    assert net.weights().tolist() == [1]
    assert ids.flags.writeable


# -- deriving others -------------------------------------------------------------------------------


@given(networks())
def test_degrees_count_hyperedges_once(net: HyperNetwork) -> None:
    for t in net.node_types:
        count, weight = np.zeros(net.num_nodes(t)), np.zeros(net.num_nodes(t))
        for e in net.edge_sets:
            for nodes, w in zip(e.nodes.tolist(), e.weights, strict=True):
                for v in {v for v, s in zip(nodes, e.types, strict=True) if s == t}:
                    count[v] += 1
                    weight[v] += w
        assert net.degrees(t).tolist() == count.tolist()
        assert np.allclose(net.degrees(t, weighted=True), weight)


@given(networks(), st.floats(0.01, 0.99), st.integers(0, 100))
def test_split_deals_out_every_hyperedge(net: HyperNetwork, fraction: float, seed: int) -> None:
    train, test = net.split(fraction, seed=seed)
    assert train.merge(test, fold=False) == net
    for types in net.edge_types:
        assert test.num_edges(types) == round(fraction * net.num_edges(types))
    for part in (train, test):
        assert all(part.names(t) is net.names(t) for t in net.node_types)
    assert net.split(fraction, seed=seed) == (train, test)


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2, float("nan")])
def test_split_needs_a_fraction(tags: HyperNetwork, fraction: float) -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        tags.split(fraction)


@given(networks())
def test_fold_keeps_totals_and_is_idempotent(net: HyperNetwork) -> None:
    folded = net.fold()
    assert folded.fold() == folded
    for types, rows in named_edges(net).items():
        total: dict[tuple[str, ...], float] = {}
        for row, weight in rows:
            total[row] = total.get(row, 0) + weight
        assert named_edges(folded)[types] == sorted(total.items())


@given(networks(), st.data())
def test_subset_by_rows(net: HyperNetwork, data: st.DataObject) -> None:
    rows = {
        e.types: np.array(
            data.draw(st.lists(st.booleans(), min_size=len(e), max_size=len(e))), bool
        )
        for e in net.edge_sets
    }
    part, rest = net.subset(rows), net.subset({t: ~mask for t, mask in rows.items()})
    assert part.merge(rest, fold=False) == net
    for types, mask in rows.items():
        assert part.edges(types).tolist() == net.edges(types)[mask].tolist()


@given(networks())
def test_subset_without_isolated_nodes_keeps_names_and_labels(net: HyperNetwork) -> None:
    part = net.subset(drop_nodes=True)
    kept, all_edges = named_edges(part), named_edges(net)
    assert {t: rows for t, rows in kept.items() if rows} == {
        t: rows for t, rows in all_edges.items() if rows
    }
    for t in part.node_types:
        assert (part.degrees(t) > 0).all()
        labels, before = part.labels(t), net.labels(t)
        assert (labels is None) == (before is None)
        if labels is not None:
            old = net.ids(t, part.names(t).to_pylist())
            assert labels.to_pylist() == before.take(pa.array(old)).to_pylist()


def test_subset_forms(tags: HyperNetwork) -> None:
    assert tags.subset([2, 0]).edges().tolist() == [[1, 1, 2], [0, 0, 0]]
    assert tags.subset(np.array([True, False, False])).num_edges() == 1
    assert tags.subset([]).num_edges() == 0
    assert tags.subset() == tags
    two = tags.merge(HyperNetwork.from_tuples([("ann", "Heat")], ("user", "movie")))
    assert two.subset(edge_types=[("user", "movie")]).edge_types == (("user", "movie"),)
    assert two.subset({TYPES: np.array([0])}).num_edges() == 2


def test_subset_of_what_is_not_there_is_refused(tags: HyperNetwork) -> None:
    with pytest.raises(DHNEError):
        tags.subset([17])
    with pytest.raises(UnknownNameError):
        tags.subset({("user", "movie"): np.array([0])})
    with pytest.raises(UnknownNameError):
        tags.subset(edge_types=[("user", "movie")])


def test_labels_can_be_given_later(tags: HyperNetwork) -> None:
    net = tags.with_labels({"movie": [["crime", "drama"], None]})
    assert net.labels("movie").to_pylist() == [["crime", "drama"], []]
    assert net.split(0.5)[0].labels("movie").to_pylist() == [["crime", "drama"], []]
    assert tags.labels("movie") is None


# -- how it looks ----------------------------------------------------------------------------------


def test_repr_tells_what_is_in_it() -> None:
    net = HyperNetwork.from_arrays(
        {("a", "a"): [[0, 1]] * 1200, ("a", "b"): [[0, 0]]}, ordered=False
    ).with_labels({"b": ["x"]})
    assert repr(net) == (
        "HyperNetwork(1,201 hyperedges)\n"
        "  nodes: a 2, b 1\n"
        "  edges: {a, a} 1,200\n"
        "  edges: (a, b) 1\n"
        "  labels: b"
    )


def test_html_escapes_names_and_types() -> None:
    net = HyperNetwork.from_tuples([("<script>alert(1)</script>", "x & y")], ("<b>", '"q"'))
    html = net._repr_html_()
    assert "<script>" not in html
    assert "<b>HyperNetwork</b>" in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "x &amp; y" in html


def test_networks_are_not_hashable(tags: HyperNetwork) -> None:
    with pytest.raises(TypeError):
        hash(tags)
