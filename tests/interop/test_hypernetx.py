"""Networks and HyperNetX's hypergraphs, both ways."""

from __future__ import annotations

import hypernetx
import pytest
from hypothesis import given, settings

from dhne import HyperNetwork
from dhne.errors import InputError
from dhne.interop import from_hypernetx, to_hypernetx
from dhne.network.edges import EdgeType
from tests.interop.models import films
from tests.random_networks import networks


@settings(max_examples=40)
@given(network=networks())
def test_there_and_back(network: HyperNetwork) -> None:
    kept = network.subset(edge_types=[e.types for e in network.edge_sets if len(e)])
    back = from_hypernetx(to_hypernetx(kept))
    assert set(back.node_types) == {t for t in kept.node_types if kept.num_nodes(t)}
    assert back == HyperNetwork(
        {t: kept.vocabulary(t) for t in back.node_types},
        kept.edge_sets,
        {t: kept.labels(t) for t in kept.labelled_types},
    )


def test_types_are_properties_and_lonely_nodes_come_back() -> None:
    graph = to_hypernetx(films())
    assert graph.nodes["movie:Heat"].properties["labels"] == ["crime"]
    assert graph.edges[1].weight == 2
    assert set(graph.edges[1]) == {"user:bob", "movie:Heat", "tag:Heat"}
    assert "user:eve" not in list(graph.nodes)
    assert from_hypernetx(graph) == films()


def test_a_hypergraph_from_elsewhere() -> None:
    graph = hypernetx.Hypergraph(
        {"e": [1, 2, 3], "f": [3, 4]}, edge_properties={"e": {"weight": 2.5}}
    )
    network = from_hypernetx(graph)
    assert network.node_types == ("node",)
    assert {len(e.types): e.weights.tolist() for e in network.edge_sets} == {3: [2.5], 2: [1.0]}
    assert network.names("node").to_pylist() == [1, 2, 3, 4]


def test_a_mistake() -> None:
    with pytest.raises(InputError, match="takes a HyperNetX Hypergraph, got dict"):
        from_hypernetx({})


def test_tails_and_heads_come_back() -> None:
    reaction = EdgeType(("m",) * 3, ("tail", "head", "head"), (True,) * 3)
    turned = EdgeType(("m",) * 3, ("tail", "tail", "head"), (True,) * 3)
    network = HyperNetwork.from_arrays({reaction: [[2, 0, 1]], turned: [[0, 1, 2], [1, 3, 0]]})
    assert from_hypernetx(to_hypernetx(network)) == network
