"""HIF: what the standard allows is read, what it forbids is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dhne import HyperNetwork, write
from dhne.errors import InputError
from dhne.io import InputWarning, read_hif
from dhne.io.hif_rules import check_hif


def read(tmp_path: Path, document: Any) -> HyperNetwork:
    path = tmp_path / "x.hif.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return read_hif(path)


def incidences(*edges: str, **more: Any) -> dict[str, Any]:
    """Edges as words: "abc" is an edge of the nodes a, b and c."""
    pairs = [{"edge": i, "node": n} for i, word in enumerate(edges) for n in word]
    return {"incidences": pairs, **more}


def test_files_without_types_are_unordered_edges_of_every_size(tmp_path: Path) -> None:
    network = read(tmp_path, incidences("ab", "cba", "bc", "abcd"))
    assert network.node_types == ("node",)
    assert set(network.edge_types) == {("node",) * k for k in (2, 3, 4)}
    assert network.num_edges(("node", "node")) == 2
    assert not any((not e.types.has_sets) for e in network.edge_sets)
    assert network.names("node").to_pylist() == ["a", "b", "c", "d"]


def test_isolated_nodes_and_weights_are_kept(tmp_path: Path) -> None:
    document = incidences("ab", "bc", nodes=[{"node": "z", "weight": 3, "attrs": {"x": [1]}}])
    document["edges"] = [{"edge": 1, "weight": 2.5}, {"edge": 1, "attrs": {"again": None}}]
    network = read(tmp_path, document)
    assert "z" in network.vocabulary("node")
    assert sorted(network.weights().tolist()) == [1, 2.5]


def test_repeated_incidences_count_once(tmp_path: Path) -> None:
    network = read(tmp_path, incidences("abba", "ab"))
    assert network.edges(("node", "node")).tolist() == [[0, 1], [0, 1]]


def test_edges_of_fewer_than_two_nodes_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match=r"2 edge\(s\) of fewer than two nodes"):
        network = read(tmp_path, incidences("ab", "c", edges=[{"edge": "empty"}]))
    assert network.num_edges() == 1
    assert network.num_nodes() == 3


def test_directed_edges_are_two_sets(tmp_path: Path) -> None:
    record = [("x", "head"), ("b", "tail"), ("a", "tail"), ("x", "head"), ("a", "head")]
    pairs = [{"edge": 0, "node": n, "direction": d} for n, d in record]
    network = read(tmp_path, {"network-type": "directed", "incidences": pairs})
    names = network.vocabulary("node")
    assert network.edge_set().types.roles == ("tail", "tail", "head", "head")
    assert names.take(network.edges()[0]).to_pylist() == ["b", "a", "x", "a"]
    assert names.take(np.sort(network.edges()[0][:2])).to_pylist() == ["b", "a"]
    undirected = read(tmp_path, {"incidences": pairs})
    assert undirected.edge_types == (("node",) * 3,)


def test_types_from_elsewhere_make_a_heterogeneous_network(tmp_path: Path) -> None:
    nodes = [{"node": n, "attrs": {"type": t}} for n, t in zip("abx", ("p", "p", "q"), strict=True)]
    network = read(tmp_path, incidences("xab", "bxa", "ax", nodes=nodes))
    assert set(network.edge_types) == {("p", "p", "q"), ("p", "q")}
    assert network.edge_set(("p", "p", "q")).types.has_sets


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ([1, 2], [1, 2]),
        ([1.0, 2], [1, 2]),
        ([1, "b"], ["1", "b"]),
        (["", "b"], ["", "b"]),
        ([2**70, 1], [str(2**70), "1"]),
    ],
)
def test_ids_of_every_kind_the_standard_allows(
    tmp_path: Path, ids: list[Any], names: list[Any]
) -> None:
    pairs = [{"edge": "e", "node": n} for n in ids]
    assert read(tmp_path, {"incidences": pairs}).names("node").to_pylist() == names


def test_same_name_in_two_types_is_no_conflict(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("Heat", "Heat"), ("Heat", "x")], ("movie", "tag"))
    write(network, tmp_path / "x.hif.json")
    document = json.loads((tmp_path / "x.hif.json").read_text("utf-8"))
    assert {"movie:Heat", "tag:Heat"} <= {n["node"] for n in document["nodes"]}
    assert read_hif(tmp_path / "x.hif.json") == network


def test_what_we_write_obeys_the_rules_and_survives_without_metadata(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples(
        [("a", "likes", "b"), ("b", "likes", "b")], ("person", "verb", "person"), weights=[1, 2]
    )
    write(network, tmp_path / "x.hif.json")
    document = json.loads((tmp_path / "x.hif.json").read_text("utf-8"))
    check_hif(document, "x")
    del document["metadata"]
    assert read(tmp_path, document) == network


ALLOWED = {
    "no edges": {"incidences": []},
    "empty lists": {"incidences": [], "nodes": [], "edges": []},
    "metadata": {"incidences": [], "metadata": {"a": {"b": [None, {"c": 1}]}}},
    "asc": {"network-type": "asc", "incidences": []},
    "repeated records": {
        "incidences": [{"edge": 1, "node": 1}, {"edge": 1, "node": 2}] * 2,
        "nodes": [{"node": 1}, {"node": 1}],
        "edges": [{"edge": 1}, {"edge": 1}],
    },
    "everything": {
        "incidences": [
            {"edge": 1, "node": "a", "weight": 0.5, "direction": "head", "attrs": {"role": "PI"}},
            {"edge": 1, "node": 2, "weight": -1, "direction": "tail"},
        ]
    },
    "odd attributes": {
        "incidences": [{"edge": 1, "node": n, "attrs": {"position": "x"}} for n in "ab"],
        "nodes": [{"node": "a", "attrs": {"type": 3, "name": [], "labels": 7}}],
        "edges": [{"edge": 1, "attrs": {"type": {}, "ordered": "yes"}}],
    },
}


@pytest.mark.parametrize("case", ALLOWED)
def test_allowed(tmp_path: Path, case: str) -> None:
    document = ALLOWED[case]
    edges = {i["edge"] for i in document["incidences"]}
    assert read(tmp_path, document).num_edges() == len(edges)


FORBIDDEN = {
    "[]": "a HIF file is a JSON object, this is a list",
    "{}": "the key 'incidences' is missing",
    '{"incidences": {}}': "incidences: must be a list, not an object",
    '{"incidences": [], "test": 1}': "test: HIF has no such top-level key",
    '{"incidences": [], "node": []}': "node: HIF has no such top-level key; did you mean 'nodes'?",
    '{"incidences": [], "network-type": "x"}': "network-type: must be one of undirected",
    '{"incidences": [], "network-type": null}': "network-type: must be one of undirected",
    '{"incidences": [], "metadata": [1]}': "metadata: must be an object, not a list",
    '{"incidences": [3]}': "incidences[0]: must be an object, not a number",
    '{"incidences": [{"edge": 1}]}': "incidences[0]: the key 'node' is missing",
    '{"incidences": [{"node": 1}]}': "incidences[0]: the key 'edge' is missing",
    '{"incidences": [{"edge": 1, "node": 1}, {"edge": 1, "node": 1.5}]}': "incidences[1].node:",
    '{"incidences": [{"edge": true, "node": 1}]}': "incidences[0].edge: an id must be a string",
    '{"incidences": [{"edge": 1, "node": null}]}': "incidences[0].node: an id must be a string",
    '{"incidences": [{"edge": 1, "node": 1, "role": 2}]}': "incidences[0].role: HIF has no",
    '{"incidences": [{"edge": 1, "node": 1, "weight": "x"}]}': "incidences[0].weight: must be",
    '{"incidences": [{"edge": 1, "node": 1, "weight": true}]}': "incidences[0].weight: must be",
    '{"incidences": [{"edge": 1, "node": 1, "attrs": []}]}': "incidences[0].attrs: must be an",
    '{"incidences": [{"edge": 1, "node": 1, "direction": "up"}]}': "incidences[0].direction: must",
    '{"incidences": [], "nodes": [{}]}': "nodes[0]: the key 'node' is missing",
    '{"incidences": [], "nodes": [{"node": 1, "direction": "head"}]}': "nodes[0].direction: HIF",
    '{"incidences": [], "edges": [{"edge": 1}, {"edge": 1.23}]}': "edges[1].edge: an id must be",
    '{"incidences": [], "edges": [{"edge": 1, "test": 1}]}': "edges[0].test: HIF has no such key",
    '{"incidences": [], "edges": [{"edge": 1, "weight": -1}]}': "edges[0].weight: is -1",
    '{"incidences": [], "edges": [{"edge": 1, "weight": 1e999}]}': "edges[0].weight: is inf",
    '{"incidences": [], "incidences": []}': "the key 'incidences' appears twice",
    '{"incidences": [{"edge": 1, "node": NaN}]}': "NaN is not a JSON number",
    '{"incidences": [{"edge": 1, "node": "\\ud800"}]}': "half of a character",
    '{"incidences": [': "x.hif.json:1: this is not JSON",
    "": "the file is empty",
    "[" * 100_000: "nested too deeply",
    '{"incidences": [{"edge": 1, "node": ' + "9" * 5000 + "}]}": "thousands of digits",
    '{"incidences": [{"edge": 1, "node": 1}, {"edge": 1, "node": "1"}]}': "would become one name",
    '{"incidences": [], "metadata": {"dhne-format": 99}}': "metadata.dhne-format: is of a newer",
    '{"incidences": [], "metadata": {"dhne-format": 1}}': "metadata: the lists of node and edge",
}


@pytest.mark.parametrize("document", FORBIDDEN, ids=lambda d: d[:60])
def test_forbidden_is_refused_with_its_place(tmp_path: Path, document: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, document)
    assert FORBIDDEN[document] in str(caught.value)
    assert "x.hif.json" in str(caught.value)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"incidences":\n["\xe9"]}')
    with pytest.raises(InputError, match=r"x\.json:2: this is not UTF-8"):
        read_hif(tmp_path / "x.json")
