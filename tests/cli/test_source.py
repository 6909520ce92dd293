"""What people type for a SOURCE: weights, labels, headers, encodings, several files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import dhne
from dhne.cli.source import open_source
from dhne.errors import ParameterError
from tests.cli.runs import COLUMNS, FAST, TAGS, CommandLine


def put(folder: Path, name: str, text: str, encoding: str = "utf-8") -> str:
    (folder / name).write_text(text, encoding=encoding)
    return str(folder / name)


@pytest.mark.parametrize("columns", [(), ("--columns", "user=user,movie=movie")])
def test_weights_are_used_and_announced(
    cli: CommandLine, tmp_path: Path, columns: tuple[str, ...]
) -> None:
    path = put(tmp_path, "x.csv", "user,movie,weight\nann,Heat,2\nbob,Alien,5\n")
    status, _, err = cli("convert", path, tmp_path / "out.npz", *columns)
    assert status == 0
    assert "weighted by the column 'weight'" in err
    assert "--weight none" in err
    assert dhne.read(tmp_path / "out.npz").edge_sets[0].weights.tolist() == [2, 5]
    status, _, err = cli("convert", path, tmp_path / "out.npz", *columns, "--weight", "none")
    assert "weighted" not in err
    assert dhne.read(tmp_path / "out.npz").edge_sets[0].weights.tolist() == [1, 1]


def test_a_weight_per_file(tmp_path: Path) -> None:
    one = put(tmp_path, "one.csv", "user,movie,n\nann,Heat,2\n")
    two = put(tmp_path, "two.csv", "user,movie,times\nann,Alien,5\n")
    network = open_source([one, two], ["user,movie"], ["n", "times"])
    assert network.edge_sets[0].weights.tolist() == [2, 5]
    with pytest.raises(ParameterError, match="--weight was given 3 times for 2 file"):
        open_source([one, two], ["user,movie"], ["n", "n", "n"])


def test_a_file_without_a_header(cli: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "ann,Heat\nbob,Alien\nann,Alien\n")
    status, _, err = cli("info", path, "--json", tmp_path / "i.json", "--quiet")
    assert status == 0
    assert "--no-header" in err
    status, out, err = cli("info", path, "--no-header", "--columns", "user,movie", "--json", "-")
    assert (status, err) == (0, "")
    assert json.loads(out)["edges"] == 3


def test_an_encoding(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "user,word\nann,größe\n", "latin-1")
    network = open_source(path, encoding="latin-1")
    assert network.names("word").to_pylist() == ["größe"]


def test_a_training_from_standard_input_with_labels(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = put(tmp_path, "labels.csv", "name,label\nHeat,crime\nAlien,horror\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TAGS.encode())))
    out = tmp_path / "run"
    options = ["--columns", COLUMNS, "--labels", labels, "--out", out, "--epochs", 1]
    status, _, err = cli("train", "-", *options, *FAST)
    assert status == 0, err
    found = dhne.load(out).network_.labels("movie")
    assert found is not None
    assert found.to_pylist() == [["crime"], ["horror"], []]


def test_siblings_are_not_overwritten(cli: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", "a,b\nx,y\n")
    other = put(tmp_path, "y.csv", "a,b,c\nx,y,z\n")
    put(tmp_path, "side.2.csv", "dear to somebody")
    status, _, err = cli("convert", path, other, tmp_path / "side.csv")
    assert status == 1
    assert "side.2.csv" in err
    assert (tmp_path / "side.2.csv").read_text() == "dear to somebody"
    assert cli("convert", path, other, tmp_path / "side.csv", "--overwrite")[0] == 0
