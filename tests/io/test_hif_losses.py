"""What a HIF file says that cannot be kept is listed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from dhne import HyperNetwork, read, write
from dhne.errors import InputWarning

FOREIGN = {
    "network-type": "undirected",
    "metadata": {"author": "ann"},
    "nodes": [{"node": "a", "weight": 2, "attrs": {"colour": "red", "type": "p"}}],
    "edges": [{"edge": "first", "weight": 3, "attrs": {"year": 1999}}],
    "incidences": [
        {"edge": "first", "node": "a", "weight": 0.5, "attrs": {"role": "PI"}},
        {"edge": "first", "node": "b"},
    ],
}


def test_everything_that_is_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(FOREIGN))
    with pytest.warns(InputWarning) as caught:
        network = read(tmp_path / "x.json")
    said = str(caught[0].message)
    for what in (
        *("attributes of nodes (colour)", "weights of nodes", "attributes of edges (year)"),
        *("attributes of incidences (role)", "weights of incidences", "names of edges"),
        "metadata",
    ):
        assert what in said
    assert network.edge_sets[0].weights.tolist() == [3]


def test_our_own_files_lose_nothing_and_say_nothing(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a", "x")], ("p", "q"), weights=[2])
    write(network.with_labels({"p": {"a": "ILL"}}), tmp_path / "x.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(tmp_path / "x.json").edge_sets[0].weights.tolist() == [2]
