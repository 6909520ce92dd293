"""Networks and XGI's hypergraphs, both ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xgi
from hypothesis import given

from dhne import HyperNetwork, read, write
from dhne.errors import InputError, InputWarning
from dhne.interop import from_xgi, to_xgi
from dhne.network.edges import EdgeType
from tests.interop.models import films
from tests.random_networks import networks


@pytest.mark.parametrize("directed", [False, True])
@given(network=networks())
def test_there_and_back(network: HyperNetwork, directed: bool) -> None:
    assert from_xgi(to_xgi(network, directed=directed)) == network


def test_types_are_node_attributes_and_weights_edge_attributes() -> None:
    graph = to_xgi(films())
    assert graph.nodes["movie:Heat"] == {"type": "movie", "name": "Heat", "labels": ["crime"]}
    assert graph.nodes["tag:Heat"]["type"] == "tag"
    assert graph.edges.members(1) == {"user:bob", "movie:Heat", "tag:Heat"}
    assert graph.edges.attrs("weight").aslist() == [1.0, 2.0, 0.5, 1.0, 1.0]
    assert graph.num_nodes == films().num_nodes()


def test_the_head_of_a_directed_hypergraph_is_the_last_position() -> None:
    graph = to_xgi(films(), directed=True)
    assert graph.edges.tail(0) == {"user:ann", "movie:Heat"}
    assert graph.edges.head(0) == {"tag:noir"}


def test_a_hypergraph_from_elsewhere_is_unordered_and_of_every_size() -> None:
    graph = xgi.Hypergraph([[1, 2, 3], [3, 4], [1, 2, 3, 4]])
    network = from_xgi(graph)
    assert network.node_types == ("node",)
    assert {len(t): network.num_edges(t) for t in network.edge_types} == {2: 1, 3: 1, 4: 1}
    assert not any((not e.types.has_sets) for e in network.edge_sets)
    assert from_xgi(to_xgi(network)) == network


def test_a_bipartite_attribute_gives_node_types() -> None:
    graph = xgi.Hypergraph()
    graph.add_nodes_from([("a", {"type": "person"}), ("b", {"type": "person"}), (7, {})])
    graph.add_edges_from([(["b", 7, "a"], 0, {"weight": 3})])
    network = from_xgi(graph)
    assert network.edge_types == (("person", "person", "node"),)
    assert network.weights().tolist() == [3]


def test_directed_hyperedges_become_two_sets() -> None:
    graph = xgi.DiHypergraph()
    graph.add_nodes_from(["c", "b", "a"])
    graph.add_edges_from([({"a", "b"}, {"c"}), ({"c"}, {"a"})])
    network = from_xgi(graph)
    names = network.names("node").to_pylist()
    rows = {
        (tuple(names[i] for i in row), e.types.roles)
        for e in network.edge_sets
        for row in e.nodes.tolist()
    }
    assert rows == {(("b", "a", "c"), ("tail", "tail", "head")), (("c", "a"), ("tail", "head"))}


def test_a_hyperedge_whose_members_have_changed_is_read_by_its_members() -> None:
    network = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    graph = to_xgi(network)
    graph.add_node_to_edge(0, "Alien")
    graph.set_node_attributes({"Alien": {"type": "movie", "name": "Alien"}})
    changed = from_xgi(graph)
    assert changed.num_edges(("user", "movie", "movie", "tag")) == changed.num_edges() == 1


def test_edges_of_one_node_are_left_out_with_a_warning() -> None:
    with pytest.warns(InputWarning, match="1 edge"):
        assert from_xgi(xgi.Hypergraph([[1], [1, 2]])).num_edges() == 1


def test_mistakes() -> None:
    with pytest.raises(InputError, match="takes an XGI hypergraph, got int"):
        from_xgi(3)
    graph = xgi.Hypergraph()
    graph.add_edges_from([([1, 2], 0, {"weight": "heavy"})])
    with pytest.raises(InputError, match=r"XGI hypergraph: edges\[0\].weight: must be a number"):
        from_xgi(graph)
    twins = xgi.Hypergraph({0: [(1,), "(1,)"]})
    with pytest.raises(InputError, match="would both be named"):
        from_xgi(twins)


def test_hif_files_of_one_are_read_by_the_other(tmp_path: Path) -> None:
    network = films()
    ours, theirs = tmp_path / "ours.hif.json", tmp_path / "theirs.hif.json"
    write(network, ours)
    graph = xgi.read_hif(ours)
    assert graph.num_edges == network.num_edges()
    assert graph.nodes["movie:Alien"]["labels"] == ["horror", "space opera"]
    xgi.write_hif(xgi.Hypergraph([[1, 2, 3], [3, 4]]), theirs)
    assert json.loads(theirs.read_text())["incidences"]
    assert read(theirs).num_edges() == 2


@pytest.mark.parametrize("directed", [False, True])
def test_tails_and_heads_come_back(directed: bool) -> None:
    reaction = EdgeType(("m",) * 3, ("tail", "head", "head"), (True,) * 3)
    turned = EdgeType(("m",) * 3, ("tail", "tail", "head"), (True,) * 3)
    network = HyperNetwork.from_arrays({reaction: [[2, 0, 1]], turned: [[0, 1, 2], [1, 3, 0]]})
    assert from_xgi(to_xgi(network, directed=directed)) == network


def test_a_directed_hypergraph_has_the_tails_and_heads_of_reactions() -> None:
    reaction = EdgeType(("m",) * 3, ("head", "tail", "head"), (True,) * 3)
    graph = to_xgi(HyperNetwork.from_arrays({reaction: [[2, 0, 1]]}), directed=True)
    (sides,) = graph.edges.dimembers()
    assert [{graph.nodes[n]["name"] for n in side} for side in sides] == [{0}, {1, 2}]
