"""`dhne info`: what is in a table, a dataset and a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dhne import HyperNetwork
from dhne.datasets import load_dataset
from tests.cli.runs import CommandLine


@pytest.fixture
def tags(tmp_path: Path) -> Path:
    path = tmp_path / "tags.csv"
    path.write_text("userId,movieId,tag,timestamp\n1,Heat,heist,9\n2,Heat,noir,9\n2,Heat,noir,9\n")
    return path


MAPPING = "user=userId,movie=movieId,tag=tag"


def test_info_shows_readable_names_of_the_sample(cli: CommandLine) -> None:
    status, out, err = cli("info", "wordnet-sample")
    assert (status, err) == (0, "")
    network = load_dataset("wordnet-sample", "all")
    assert f"{network.num_edges():,} hyperedges" in out
    assert "(head, relation, tail)" in out
    assert "part_of" in out
    assert "Labels" in out


def test_info_shows_the_repeats_and_leaks_of_drug(
    cli: CommandLine, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    status, out, _ = cli("info", "drug")
    assert status == 0
    assert "75,691" in out
    assert "23,025 of 34,352 test rows (67%) are also in train" in out
    status, out, _ = cli("info", "drug", "--json", "-")
    report = json.loads(out)
    assert report["parts"]["train"] == {"edges": 137_404, "distinct": 61_713, "repeats": 75_691}
    assert report["parts"]["test_in_train"] == 23_025


def test_info_of_a_table(cli: CommandLine, tags: Path) -> None:
    status, out, _ = cli("info", tags, "--columns", MAPPING)
    assert status == 0
    assert "(user, movie, tag)" in out
    status, out, err = cli("info", tags, "--columns", MAPPING, "--json", "-")
    report = json.loads(out)  # nothing else goes there
    assert report["edge_types"][0]["repeats"] == 1
    assert err == ""


def test_info_writes_json_to_a_file(cli: CommandLine, tags: Path, tmp_path: Path) -> None:
    status, out, _ = cli("info", tags, "--columns", MAPPING, "--json", tmp_path / "x.json")
    assert status == 0
    assert "hyperedges" in out
    assert json.loads((tmp_path / "x.json").read_text())["edges"] == 3


def test_info_of_a_run(cli: CommandLine, tmp_path: Path) -> None:
    from dhne.storage import RunContents, begin_run, save_run

    root = tmp_path / "run"
    begin_run(root, {"dim": 64})
    status, out, _ = cli("info", root)
    assert status == 0
    assert "training" in out
    network = HyperNetwork.from_tuples([("ann", "Heat")], ("the user/s", "movie"))
    save_run(root, RunContents({"alpha": 0.1}, {}, network, {}, [{"epoch": 1, "loss": 0.5}]))
    status, out, _ = cli("info", root)
    assert status == 0
    assert "alpha" in out
    assert "the user/s" in out
    assert "loss 0.5" in out
    (root / "config.json").unlink()
    status, _, err = cli("info", root)
    assert status == 1
    assert "config.json: missing" in err


def test_unmapped_table_shows_its_columns_and_the_command_to_use(
    cli: CommandLine, tags: Path
) -> None:
    status, out, err = cli("info", tags)
    assert (status, out) == (1, "")
    assert "found the columns userId, movieId, tag, timestamp" in err
    assert "--columns userId=userId,movieId=movieId,tag=tag" in err
    assert err.count("\n") == 1
