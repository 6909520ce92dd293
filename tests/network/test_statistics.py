"""What is said about a network is what is in it."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given

from dhne.network.hypernetwork import HyperNetwork
from dhne.network.statistics import as_html, describe
from tests.random_networks import networks


@given(networks())
def test_counts_agree_with_the_network(net: HyperNetwork) -> None:
    found = net.statistics()
    json.dumps(found)  # plain data
    assert found["nodes"] == net.num_nodes()
    assert found["edges"] == net.num_edges()
    assert [r["type"] for r in found["node_types"]] == list(net.node_types)
    for record in found["node_types"]:
        degrees = net.degrees(record["type"])
        assert record["nodes"] == len(degrees)
        assert record["isolated"] == (degrees == 0).sum()
        assert record["degree"]["max"] == degrees.max()
        assert np.isclose(record["degree"]["mean"], degrees.mean())
        assert len(record["examples"]) == min(3, len(degrees))
    for record, edges in zip(found["edge_types"], net.edge_sets, strict=True):
        distinct = len({tuple(row) for row in edges.nodes.tolist()})
        assert record["type"] == list(edges.types)
        assert (record["edges"], record["distinct"]) == (len(edges), distinct)
        assert record["repeats"] == len(edges) - distinct
        assert 0 <= record["density"] <= 1
    assert as_html(net).count("<tr>") == len(net.node_types) + 1


def test_examples_are_the_busiest_nodes() -> None:
    tuples = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y"), ("c", "z"), ("d", "z")]
    net = HyperNetwork.from_tuples(tuples, ("user", "item"))
    assert describe(net)["node_types"][0]["examples"] == ["c", "b", "a"]


def test_density_is_one_where_every_tuple_is_an_edge() -> None:
    def density(types: tuple[str, ...], edges: list[list[int]], *, ordered: bool) -> float:
        net = HyperNetwork.from_arrays({types: edges}, ordered=ordered)
        return float(net.statistics()["edge_types"][0]["density"])

    pairs = [[u, v] for u in range(4) for v in range(4)]
    assert density(("a", "b"), pairs, ordered=True) == 1
    assert density(("a", "a"), pairs, ordered=True) == 1
    assert density(("a", "a"), [p for p in pairs if p[0] < p[1]], ordered=False) == 1
    assert density(("a", "a"), [p for p in pairs if p[0] <= p[1]], ordered=False) == 1


def test_names_and_labels_are_described() -> None:
    net = HyperNetwork.from_tuples([("a", 1), ("b", 2)], ("x", "y"))
    net = net.with_labels({"x": [["l", "m"], None]})
    x, y = net.statistics()["node_types"]
    assert (x["names"], x["labelled"], x["labels"]) == ("string", 1, 2)
    assert y["names"] == "int64"
    assert "labels" not in y
    unnamed = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]})
    assert unnamed.statistics()["node_types"][0]["names"] == "none"


def test_nothing_can_be_described() -> None:
    empty = HyperNetwork.from_tuples([], ("a", "b"))
    record = empty.statistics()["edge_types"][0]
    assert record["density"] == 0
    assert record["weight"] == {"min": 0.0, "median": 0.0, "mean": 0.0, "max": 0.0}
    assert "0 hyperedges" in empty._repr_html_()
