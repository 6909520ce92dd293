"""Every format keeps everything: names, labels, weights, order, nodes without an edge."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from dhne import HyperNetwork, read, write
from dhne.datasets import load_dataset
from dhne.errors import InputError
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns
from tests.random_networks import odd_networks

ENDINGS = [".csv", ".tsv.gz", ".parquet", ".hif.json", ".json.gz", ".npz"]


@pytest.mark.parametrize("ending", ENDINGS)
@given(network=odd_networks())
@settings(max_examples=60)
def test_any_network_reads_back_equal(ending: str, network: HyperNetwork) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"net{ending}"
        assert write(network, path)[-1] == path
        assert read(path) == network


@pytest.mark.parametrize("ending", ENDINGS)
def test_sample_reads_back_equal_through_every_format(tmp_path: Path, ending: str) -> None:
    network = load_dataset("wordnet-sample", "all")
    write(network, tmp_path / f"x{ending}")
    write(read(tmp_path / f"x{ending}"), tmp_path / "y.hif.json")
    assert read(tmp_path / "y.hif.json") == network


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_networks_are_equal_bytes(tmp_path: Path, ending: str) -> None:
    network = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Heat")], ("user", "movie"))
    path = tmp_path / f"x{ending}"
    write(network, path)
    first = path.read_bytes()
    write(network, path)
    assert path.read_bytes() == first


def test_simple_network_is_one_plain_csv(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples(
        [("ann", 7), ("bob", 7)], ("user", "movie"), weights=[1, 2.5]
    )
    write(network, tmp_path / "x.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "user,movie,weight\nann,7,1\nbob,7,2.5\n"


def test_plain_csv_forgets_the_description_of_an_earlier_network(tmp_path: Path) -> None:
    plain = HyperNetwork.from_tuples([("ann", "Heat")], ("user", "movie"))
    write(plain.with_labels({"user": ["x"]}), tmp_path / "x.csv")
    write(plain, tmp_path / "x.csv")
    assert read(tmp_path / "x.csv") == plain


def test_what_a_table_cannot_hold_stands_beside_it(tmp_path: Path) -> None:
    network = HyperNetwork.from_columns(
        [
            EdgeColumns(EdgeType(("user", "movie")), [["ann"], ["Heat"]]),
            EdgeColumns(EdgeType.of(("user", "user"), ordered=False), [["ann"], ["bob"]]),
        ],
        labels={"movie": [["crime", "noir"], []]},
        nodes={"movie": ["Heat", "Alien"]},
    )
    files = write(network, tmp_path / "x.csv")
    assert [f.name for f in files] == ["x.csv.meta.json", "x.2.csv", "x.nodes.csv", "x.csv"]
    assert (tmp_path / "x.2.csv").read_text() == "user,user.2\nann,bob\n"
    assert read(tmp_path / "x.csv") == network


def test_missing_companion_is_an_error_and_not_a_loss(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a", "b")], ("x", "y")).with_labels({"x": ["l"]})
    write(network, tmp_path / "x.parquet")
    (tmp_path / "x.nodes.parquet").unlink()
    with pytest.raises(InputError, match=r"x\.nodes\.parquet: there is no such file"):
        read(tmp_path / "x.parquet")


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", "", 3, None])
def test_description_cannot_lead_elsewhere(tmp_path: Path, file: object) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    table = {"file": file, "positions": [["a", "a"], ["b", "b"]], "weight": None, "ordered": True}
    meta = {"dhne": 1, "names": {"a": "string", "b": "string"}, "tables": [table], "nodes": None}
    (tmp_path / "x.csv.meta.json").write_text(json.dumps(meta))
    with pytest.raises(InputError, match="description is damaged"):
        read(tmp_path / "x.csv")


def test_description_of_another_table_says_what_to_do(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a", "b")], ("x", "y")).with_labels({"x": ["l"]})
    write(network, tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("p,q\n1,2\n")
    with pytest.raises(InputError, match=r"delete x\.csv\.meta\.json"):
        read(tmp_path / "x.csv")


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a", "b")], ("x", "y"))
    (tmp_path / "dir.npz").mkdir()
    with pytest.raises(InputError, match="directory"):
        write(network, tmp_path / "dir.npz")
    with pytest.raises(InputError, match="no directory"):
        write(network, tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match="unknown format"):
        write(network, tmp_path / "x.docx")
    assert [p.name for p in tmp_path.iterdir()] == ["dir.npz"]


def test_authors_code_finds_its_keys_in_our_npz(tmp_path: Path) -> None:
    network = HyperNetwork.from_arrays({("a", "b", "c"): [[0, 1, 2], [2, 1, 0]]})
    write(network, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert arrays["train_data"].tolist() == [[0, 1, 2], [2, 1, 0]]
        assert arrays["nums_type"].tolist() == [3, 2, 3]
