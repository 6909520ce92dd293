"""Options given once for training are remembered by the run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dhne.cli import main

_MAPPING = "user=userId,movie=film"


def _run(*arguments: object) -> int:
    return main([str(a) for a in arguments])


def _write(path: Path, users: list[str], delimiter: str = ";") -> Path:
    rows = [f"{u}{delimiter}{i}{delimiter}m{i % 3}" for i, u in enumerate(users)]
    path.write_text("\n".join([delimiter.join(("userId", "row", "film")), *rows]) + "\n")
    return path


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    users = [f"{i:03}" for i in range(12)]
    data = _write(tmp_path / "data.csv", users)
    options = ("--columns", _MAPPING, "--delimiter", ";", "--epochs", "1", "--dim", "2", "-q")
    assert _run("train", data, "--out", tmp_path / "run", *options) == 0
    return tmp_path / "run"


def test_score_reads_new_rows_as_training_did(trained: Path, tmp_path: Path) -> None:
    new = _write(tmp_path / "new.csv", ["007", "003"])
    assert _run("score", trained, new, "--json", tmp_path / "scores.json") == 0
    found = json.loads((tmp_path / "scores.json").read_text())
    assert [row["userId"] for row in found] == ["007", "003"]
    assert all(0 < row["score"] < 1 for row in found)


def test_embed_reads_new_rows_as_training_did(trained: Path, tmp_path: Path) -> None:
    new = _write(tmp_path / "new.csv", ["100", "200"])  # read alone they are integers
    assert _run("embed", trained, "--edges", new, "--out", tmp_path / "v.parquet") == 0
    assert pq.read_table(tmp_path / "v.parquet")["name"].to_pylist() == ["100", "200"]


def test_strings_among_new_rows_of_a_run_with_integers(tmp_path: Path) -> None:
    data = _write(tmp_path / "data.csv", [str(i) for i in range(100, 112)], ",")
    options = ("--columns", _MAPPING, "--epochs", "1", "--dim", "2", "-q")
    assert _run("train", data, "--out", tmp_path / "run", *options) == 0
    new = _write(tmp_path / "new.csv", ["007", "100"], ",")
    assert _run("embed", tmp_path / "run", "--edges", new, "--out", tmp_path / "v.parquet") == 0
    assert pq.read_table(tmp_path / "v.parquet")["name"].to_pylist() == ["007"]


def test_other_columns_may_be_named(trained: Path, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    new = tmp_path / "new.csv"
    new.write_text("who;what\n100;m1\n")
    assert _run("embed", trained, "--edges", new, "--out", tmp_path / "v.npz") == 1
    assert "who" in capsys.readouterr().err
    columns = ("--columns", "user=who,movie=what")
    assert _run("embed", trained, "--edges", new, "--out", tmp_path / "v.npz", *columns) == 0
