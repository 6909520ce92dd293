"""Facts on the command line: from a file to answers, and evaluation of splits and runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dhne.storage import read_config
from tests.cli.runs import FAST, CommandLine


def facts(seed: int, number: int) -> str:
    """Return lines of head, relation, tail, some with a third entity."""
    rng = np.random.default_rng(seed)
    lines = []
    for a, b, c in rng.integers(0, 12, (number, 3)).tolist():
        lines.append(f"p{a}\tkind{(a + b) % 3}\tp{b}" + (f"\tp{c}" if c < 4 else ""))
    return "\n".join(lines) + "\n"


@pytest.fixture
def dhne(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, seed, number in (("train", 0, 120), ("valid", 1, 20), ("test", 2, 30)):
        (tmp_path / f"{name}.tsv").write_text(facts(seed, number))
    return tmp_path


@pytest.fixture
def run(folder: Path, dhne: CommandLine) -> str:
    command = ("train", "train.tsv", "--facts", 2, "--out", "run", "--epochs", 3, *FAST)
    status, _, complaints = dhne(*command)
    assert status == 0, complaints
    return "run"


def measured(answer: tuple[int, str, str]) -> Any:
    status, printed, complaints = answer
    assert status == 0, complaints
    return json.loads(printed)


def test_from_a_file_to_a_ranked_answer(run: str, dhne: CommandLine) -> None:
    assert read_config(Path(run))["source"]["facts"] == 2
    question = ("relation=kind1", "entity=p3", "entity=?")
    found = measured(dhne("rank", run, *question, "-k", 3, "--json", "-"))
    names = json.dumps(found)
    assert names.count('"p') >= 3
    status, shown, _ = dhne("info", "train.tsv", "--facts", 2)
    assert status == 0
    assert "(relation, entity, entity, entity)" in shown


def test_new_facts_are_read_as_those_of_training(run: str, dhne: CommandLine) -> None:
    Path("new.tsv").write_text("zed\tkind1\tp3\nzed\tkind2\tp4\n")
    status, _, complaints = dhne("embed", run, "--edges", "new.tsv", "--out", "new.csv")
    assert status == 0, complaints
    assert "zed" in Path("new.csv").read_text()


def test_a_converted_file_holds_the_same(folder: Path, dhne: CommandLine) -> None:
    status, _, complaints = dhne("convert", "train.tsv", "out.hif.json", "--facts", 2)
    assert status == 0, complaints
    import dhne as library

    assert library.read("out.hif.json") == library.read_facts("train.tsv", relation=2)


def test_completion_with_a_split_of_ones_own(folder: Path, dhne: CommandLine) -> None:
    command = ("evaluate", "completion", "train.tsv", "--facts", 2, "--method", "she", "--dim", 4)
    files = ("--test", "test.tsv", "--valid", "valid.tsv")
    record = measured(dhne(*command, *files, "--position", "entity", "--json", "-"))
    assert record["task"] == "completion"
    assert record["config"]["edges"] == {"train": 120, "valid": 20, "test": 30}
    assert record["config"]["positions"] == ["entity"]
    assert record["config"]["counts"] == {"ranked": 30}
    assert {"mrr", "hits@1", "hits@3", "hits@10", "mean_rank"} <= set(record["mean"])
    assert not any("relation" in name for name in record["mean"])
    more = measured(
        dhne(*command, *files, "--position", "entity", "--known", "test.tsv", "--json", "-")
    )
    assert more["mean"] == record["mean"]  # test is known anyway
    whole = measured(dhne(*command, "--json", "-"))
    assert whole["config"]["split"].startswith("random")
    assert "mrr/relation" in whole["mean"]


def test_the_validation_part_reaches_training(folder: Path, dhne: CommandLine) -> None:
    command = ("evaluate", "completion", "train.tsv", "--facts", 2, "--test", "test.tsv")
    fast = ("--dim", 4, "--set", "epochs=2", "--set", "kernels=reference", "--json", "-")
    record = measured(dhne(*command, "--valid", "valid.tsv", *fast))
    assert record["config"]["edges"]["valid"] == 20


@pytest.mark.parametrize("task", ["completion", "link-prediction"])
def test_a_run_is_evaluated_as_it_is(run: str, dhne: CommandLine, task: str) -> None:
    before = {p: p.read_bytes() for p in Path(run).rglob("*") if p.is_file()}
    record = measured(dhne("evaluate", task, run, "--test", "test.tsv", "--json", "-"))
    assert record["method"] == "dhne"
    assert record["dataset"] == run
    assert record["config"]["split"].startswith("held out")
    assert record["config"]["edges"] == {"train": 120, "test": 30}
    assert record["config"]["left_out"] == 0
    assert {p: p.read_bytes() for p in Path(run).rglob("*") if p.is_file()} == before


def test_unknown_names_are_reported_or_left_out(run: str, dhne: CommandLine) -> None:
    Path("new.tsv").write_text("zed\tkind1\tp3\np1\tkind2\tp4\n")
    command = ("evaluate", "completion", run, "--test", "new.tsv")
    status, _, complaints = dhne(*command)
    assert status == 1
    assert "1 of 2 test hyperedges" in complaints
    assert "--skip-unknown" in complaints
    record = measured(dhne(*command, "--skip-unknown", "--json", "-"))
    assert record["config"]["left_out"] == 1
    assert record["config"]["counts"] == {"ranked": 1}


def test_what_a_run_has_learned_from_is_said(run: str, dhne: CommandLine) -> None:
    status, _, said = dhne("evaluate", "completion", run, "--test", "train.tsv", "--ranking", 5)
    assert status == 0
    assert "has learned from 120 of the 120 test hyperedges" in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("evaluate", "completion", "run"), "--test FILE"),
        (("evaluate", "completion", "run", "--test", "test.tsv", "--method", "line"), "--method"),
        (("evaluate", "completion", "run", "--valid", "a", "--test", "b"), "leave out --valid"),
        (("evaluate", "reconstruction", "run", "--test", "test.tsv"), "not for reconstruction"),
        (("evaluate", "link-prediction", "train.tsv", "--position", "entity"), "completion"),
        (("evaluate", "completion", "train.tsv", "--facts", 2, "--valid", "valid.tsv"), "--test"),
        (("evaluate", "completion", "train.tsv", "--ranking", "none"), "leave out --ranking none"),
        (("info", "train.tsv", "--facts", 2, "--columns", "a=b"), "excludes --columns"),
        (("info", "train.tsv", "--facts", 4), "train.tsv:1: only 3 fields"),
        (("info", "wordnet-sample", "--facts", 1), "is a dataset"),
    ],
)
def test_mistakes_are_one_line(
    run: str, dhne: CommandLine, arguments: tuple[object, ...], what: str
) -> None:
    status, _, complaints = dhne(*arguments)
    assert status == 1, complaints
    assert what in complaints
    assert complaints.count("\n") == 1


def test_a_run_on_a_datasets_train_part_knows_its_test(dhne: CommandLine, folder: Path) -> None:
    command = ("train", "wordnet-sample", "--split", "train", "--out", "places", "--epochs", 1)
    assert dhne(*command, "--dim", 4)[0] == 0
    record = measured(dhne("evaluate", "completion", "places", "--ranking", 5, "--json", "-"))
    assert record["config"]["edges"] == {"train": 4714, "test": 1179}
    assert record["config"]["counts"] == {"ranked": 5}
