"""`dhne tune`: it searches, goes on after an interruption, and leaves a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dhne
from dhne.datasets import load_dataset, planted_clusters
from dhne.storage import run_status
from tests.cli.runs import CommandLine

FAST = ("--set", "epochs=2", "--set", "dim=4", "--set", "kernels=reference", "--set", "negatives=1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=4)
    dhne.write(network, tmp_path / "films.npz")
    return tmp_path / "films.npz"


def test_the_best_settings_are_trained_on_everything(
    cli: CommandLine, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    status, text, err = cli("tune", source, "--out", out, "--trials", 2, *FAST)
    assert status == 0
    assert "Best trials" in text
    assert "learning_rate" in text
    assert str(out) in err
    model = dhne.load(out)
    assert model.network_ == dhne.read(source)
    assert model.validation == 0
    assert cli("rank", out, "type1=0", "type2=0", "type3=?")[0] == 0


def test_the_same_command_goes_on(cli: CommandLine, source: Path, tmp_path: Path) -> None:
    command = ("tune", source, "--out", tmp_path / "run", *FAST, "--json", "-", "--trials")
    first = json.loads(cli(*command, 1)[1])
    second = json.loads(cli(*command, 3)[1])
    assert second["trials"][:1] == first["trials"]
    assert len(second["trials"]) == 3
    assert second["validation_auc"] == max(t["auc"] for t in second["trials"])
    whole = cli("tune", source, "--out", tmp_path / "whole", *FAST, "--json", "-", "--trials", 3)
    for one, other in zip(json.loads(whole[1])["trials"], second["trials"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_an_unfinished_search_is_said_to_be_one(
    cli: CommandLine, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    with monkeypatch.context() as context:
        context.setattr(dhne.DHNE, "fit", interrupted)
        assert cli("tune", source, "--out", out, "--trials", 1, *FAST)[0] == 130
    status, _, err = cli("similar", out, "type1", "0")
    assert status == 1
    assert f"dhne tune {source} --out {out}" in err
    assert "--resume" not in err
    assert cli("tune", source, "--out", out, "--trials", 1, *FAST)[0] == 0
    assert cli("similar", out, "type1", "0")[0] == 0


def test_another_search_needs_another_place(cli: CommandLine, source: Path, tmp_path: Path) -> None:
    command = ("tune", source, "--out", tmp_path / "run", "--trials", 1, *FAST)
    assert cli(*command)[0] == 0
    status, _, err = cli(*command, "--seed", 1)
    assert status == 1
    assert "other settings (seed)" in err
    assert cli(*command, "--seed", 1, "--overwrite")[0] == 0
    assert dhne.load(tmp_path / "run").random_state == 1


def test_a_run_that_no_search_made_is_left_alone(
    cli: CommandLine, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    fast = ("--epochs", 1, "--dim", 4, "--kernels", "reference")
    assert cli("train", source, "--out", out, *fast)[0] == 0
    status, _, err = cli("tune", source, "--out", out, "--trials", 1, *FAST)
    assert status == 1
    assert "without a search" in err
    (tmp_path / "dear").mkdir()
    (tmp_path / "dear" / "photo.jpg").write_text("x")
    assert cli("tune", source, "--out", tmp_path / "dear", "--trials", 1, *FAST)[0] == 1
    assert (tmp_path / "dear" / "photo.jpg").exists()


def test_a_damaged_study_is_said(cli: CommandLine, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ("tune", source, "--out", out, "--trials", 1, *FAST)
    assert cli(*command)[0] == 0
    (out / "study.jsonl").write_text("no study\nat all\n")
    status, _, err = cli(*command)
    assert status == 1
    assert "not a readable study" in err


def test_the_test_part_of_a_dataset_is_not_seen(cli: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert cli("tune", "wordnet-sample", "--out", out, "--trials", 1, *FAST)[0] == 0
    assert dhne.load(out).network_ == load_dataset("wordnet-sample", "train")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "alhpa=1"), "did you mean 'alpha'"),
        (("--search", "alpha=2:1"), "the smaller first"),
        (("--preset", "pluss"), "did you mean 'plus'"),
        (("--validation", "1.5"), "between 0 and 1"),
    ],
)
def test_mistakes_are_said_before_anything_is_made(
    cli: CommandLine, source: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    status, _, err = cli("tune", source, "--out", tmp_path / "run", *options)
    assert status == 1
    assert message in err
    assert err.count("\n") == 1
    assert run_status(tmp_path / "run") is None
