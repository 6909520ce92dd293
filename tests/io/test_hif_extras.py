"""What HIF files of other programs hold is written back; other formats list what they lose."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dhne import HyperNetwork, read, write
from dhne.errors import InputError, InputWarning

FOREIGN: dict[str, Any] = {
    "network-type": "undirected",
    "metadata": {"author": "ann", "node-types": "ours has this name too"},
    "nodes": [
        {"node": "a", "weight": 2, "attrs": {"colour": "red", "type": "p", "x": {"y": [1, None]}}},
        {"node": 7, "attrs": {"type": 3, "labels": "ill"}},
        {"node": "alone", "weight": 0.25},
        {"node": "q:Ann", "attrs": {"type": "q", "name": "Ann"}},
        {"node": "c", "attrs": {"name": "no type, so this is not its name"}},
    ],
    "edges": [
        {"edge": "first", "weight": 3, "attrs": {"year": 1999, "type": "journal", "time": "x"}},
        {"edge": 17, "attrs": {"name": "Umlaut ü", "dose": 1e-300}},
    ],
    "incidences": [
        {"edge": "first", "node": "a", "weight": 0.5, "attrs": {"role": "PI"}},
        {"edge": "first", "node": "b", "direction": "head"},
        {"edge": 17, "node": 7, "attrs": {"position": "left"}},
        {"edge": 17, "node": "b", "weight": -1},
        {"edge": 17, "node": "c"},
        {"edge": "implied", "node": "c"},
        {"edge": "implied", "node": "b"},
    ],
}
DIRECTED: dict[str, Any] = {
    "network-type": "directed",
    "incidences": [
        {"edge": "r1", "node": "b", "direction": "tail", "weight": 2},
        {"edge": "r1", "node": "a", "direction": "tail"},
        {"edge": "r1", "node": "a", "direction": "head", "weight": 3},
        {"edge": "r2", "node": "a", "direction": "tail"},
        {"edge": "r2", "node": "c", "attrs": {"catalyst": True}},
        *(
            {"edge": "placed", "node": n, "direction": "head", "attrs": {"position": p}}
            for p, n in enumerate("dbca")
        ),
    ],
}


def load(tmp_path: Path, document: Any) -> HyperNetwork:
    (tmp_path / "in.hif.json").write_text(json.dumps(document), "utf-8")
    return read(tmp_path / "in.hif.json")


def written(tmp_path: Path, network: HyperNetwork) -> dict[str, Any]:
    write(network, tmp_path / "out.hif.json")
    found: dict[str, Any] = json.loads((tmp_path / "out.hif.json").read_text("utf-8"))
    return found


def by_key(document: dict[str, Any], kind: str, *keys: str) -> dict[Any, dict[str, Any]]:
    return {tuple(r[k] for k in keys if k in r): r for r in document.get(kind, [])}


def in_order(records: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(r, sort_keys=True) for r in records)


def assert_holds(document: dict[str, Any], original: dict[str, Any]) -> None:
    """All that the original says is there; more may be, of our own."""
    assert document["network-type"] == original["network-type"]
    assert original.get("metadata", {}).items() <= document["metadata"].items()
    keys = {"nodes": ("node",), "edges": ("edge",), "incidences": ("edge", "node", "direction")}
    for kind, key in keys.items():
        there = by_key(document, kind, *key)
        for identity, record in by_key(original, kind, *key).items():
            attrs = record.get("attrs", {})
            assert attrs.items() <= there[identity]["attrs"].items()
            assert there[identity].get("weight", 1) == record.get("weight", 1)
    ids = {r["edge"] for r in original["incidences"]}
    assert {r["edge"] for r in document["edges"]} == ids
    assert len(document["incidences"]) == len(original["incidences"])


@pytest.mark.parametrize("original", [FOREIGN, DIRECTED])
def test_everything_survives_two_round_trips(tmp_path: Path, original: dict[str, Any]) -> None:
    network = load(tmp_path, original)
    once = written(tmp_path, network)
    assert_holds(once, original)
    again = load(tmp_path, once)
    assert again == network
    twice = written(tmp_path, again)
    for kind in ("nodes", "edges", "incidences"):
        assert in_order(twice[kind]) == in_order(once[kind])
    assert_holds(twice, original)


def test_an_asc_network_stays_one(tmp_path: Path) -> None:
    document = {"network-type": "asc", "incidences": [{"edge": 0, "node": n} for n in "ab"]}
    assert written(tmp_path, load(tmp_path, document))["network-type"] == "asc"


def test_splits_and_subsets_keep_what_belongs_to_them(tmp_path: Path) -> None:
    network = load(tmp_path, FOREIGN)
    pair, triple = (next(t for t in network.edge_types if len(t) == n) for n in (2, 3))
    part = network.subset(edge_types=[triple], drop_nodes=True)
    document = written(tmp_path, part)
    assert [r["edge"] for r in document["edges"]] == [17]
    assert {r["node"] for r in document["nodes"]} == {7, "b", "c"}
    assert by_key(document, "incidences", "node")["b",]["weight"] == -1
    last = network.subset({pair: np.array([-1])}).edge_set(pair).extras
    assert last.to_pylist() == network.edge_set(pair).extras.to_pylist()[-1:]
    train, test = network.split(0.5, seed=0)
    halves = [{r["edge"] for r in written(tmp_path, part)["edges"]} for part in (train, test)]
    assert halves[0] | halves[1] == {"first", 17, "implied"}
    assert not halves[0] & halves[1]


def test_merging_follows_nodes_whose_ids_change(tmp_path: Path) -> None:
    network = load(tmp_path, DIRECTED)
    other = HyperNetwork.from_tuples([("c", "b"), ("b", "a")], ("node", "node"), ordered=False)
    document = written(tmp_path, other.merge(network, fold=False))
    found = by_key(document, "incidences", "edge", "node", "direction")
    assert found["r1", "b", "tail"]["weight"] == 2
    assert found["r1", "a", "head"]["weight"] == 3
    assert "weight" not in found["r1", "a", "tail"]
    ids = [r["edge"] for r in document["edges"]]
    assert len(set(ids)) == len(ids) == 5


def test_ids_that_two_networks_share_are_told_apart(tmp_path: Path) -> None:
    network = load(tmp_path, {"incidences": [{"edge": "e", "node": n} for n in "ab"]})
    other = load(tmp_path, {"incidences": [{"edge": "e", "node": n} for n in "bc"]})
    both = network.merge(other, fold=False)
    with pytest.warns(InputWarning, match=r"1 edge\(s\) with the id of another"):
        document = written(tmp_path, both)
    assert {r["edge"] for r in document["edges"]} == {"e", 0}
    assert load(tmp_path, document) == both


def test_node_ids_that_are_not_unique_give_way_to_names(tmp_path: Path) -> None:
    def one(name: str) -> HyperNetwork:
        nodes = [{"node": n, "attrs": {"type": "p", "name": f"{name}{n}"}} for n in (1, 2)]
        pairs = [{"edge": name, "node": n} for n in (1, 2)]
        return load(tmp_path, {"nodes": nodes, "incidences": pairs})

    assert {r["node"] for r in written(tmp_path, one("a"))["nodes"]} == {1, 2}
    both = one("a").merge(one("b"), fold=False)
    with pytest.warns(InputWarning, match="are not unique; names were written"):
        document = written(tmp_path, both)
    assert {r["node"] for r in document["nodes"]} == {"a1", "a2", "b1", "b2"}
    assert load(tmp_path, document) == both


def test_folding_drops_the_ids_of_repeated_hyperedges_only(tmp_path: Path) -> None:
    pairs = {"e1": "ab", "e2": "ba", "e3": "bc"}
    document = {"incidences": [{"edge": e, "node": n} for e, ab in pairs.items() for n in ab]}
    folded = load(tmp_path, document).fold().edge_set()
    assert folded.weights.tolist() == [2, 1]
    assert folded.extras.to_pylist() == [None, '{"edge":"e3"}']


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_other_formats_list_what_they_cannot_hold(tmp_path: Path, ending: str) -> None:
    network = load(tmp_path, FOREIGN)
    with pytest.warns(InputWarning) as caught:
        write(network, tmp_path / f"x.{ending}")
    assert len(caught) == 1
    said = str(caught[0].message)
    for what in (
        *(
            "ids of nodes",
            "attributes of nodes (colour, x, type, labels, name)",
            "weights of nodes",
        ),
        *("ids of edges", "attributes of edges (year, type, time, name, dose)"),
        *("attributes of incidences (role, position)", "weights of incidences"),
        *("directions of incidences", "metadata"),
    ):
        assert what in said
    assert read(tmp_path / f"x.{ending}") == network


def test_our_own_files_have_no_extras_and_say_nothing(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a", "a"), ("b", "x")], ("p", "q"), weights=[2, 1])
    write(network.with_labels({"p": {"a": "ILL"}}), tmp_path / "x.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = read(tmp_path / "x.json")
        write(again, tmp_path / "x.csv")
    assert not again.extras
    assert again.edge_set().extras is None


def test_hostile_attributes_are_bounded_as_all_of_the_file_is(tmp_path: Path) -> None:
    def document(depth: int) -> str:
        value = "[" * depth + "]" * depth
        nodes = f'{{"node": "a", "attrs": {{"x": {value}, "__class__": "os.system"}}}}'
        pairs = '{"edge": "e", "node": "a"}, {"edge": "e", "node": "b"}'
        return f'{{"nodes": [{nodes}], "incidences": [{pairs}]}}'

    path = tmp_path / "x.json"
    path.write_text(document(1000))
    with pytest.raises(InputError, match="nested too deeply"):
        read(path)
    path.write_text(document(490))
    kept = by_key(written(tmp_path, read(path)), "nodes", "node")["a",]["attrs"]
    assert kept["__class__"] == "os.system"
    assert json.dumps(kept["x"]) == "[" * 490 + "]" * 490
    assert read(tmp_path / "out.hif.json") == read(path)
