"""``dhne evaluate``: the contract's JSON, a readable table, and mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dhne.cli import main

CONTRACT = [
    "task", "dataset", "protocol", "method", "results", "mean", "std", "version", "config",
]  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, 12, (260, 3)), axis=0)
    lines = [f"u{a},m{b},t{c}" for a, b, c in rows.tolist()]
    path = tmp_path / "tags.csv"
    path.write_text("\n".join(["userId,movieId,tag", *lines]) + "\n")
    return path


COLUMNS = ["--columns", "user=userId,movie=movieId,tag=tag"]


def test_json_on_standard_output_and_nothing_else(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "link-prediction", str(table), *COLUMNS, "--method", "she"]
    assert main([*arguments, "--dim", "4", "--seeds", "0,1", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert list(record) == CONTRACT
    assert [r["seed"] for r in record["results"]] == [0, 1]
    assert record["config"]["split"].startswith("random")
    assert record["config"]["method"]["dim"] == 4
    metrics = record["mean"]
    assert {"auc", "auc_mean", "auc_min", "aupr", "mrr", "hits@1", "hits@3", "hits@10", "mean_rank"} <= set(metrics)  # noqa: E501  # fmt: skip
    assert {"mrr/user", "mrr/movie", "mrr/tag"} <= set(metrics)


def test_a_file_and_a_table_to_read(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "record.json"
    arguments = ["evaluate", "reconstruction", str(table), *COLUMNS, "--method", "she"]
    assert main([*arguments, "--set", "dim=3", "--protocol", "clean", "--json", str(out)]) == 0
    record = json.loads(out.read_text())
    assert (record["task"], record["protocol"]) == ("reconstruction", "clean")
    assert record["config"]["method"]["dim"] == 3
    shown = capsys.readouterr().out
    assert "auc_mean" in shown
    assert "chosen on validation" in shown


def test_classification_of_the_bundled_sample(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", "classification", "wordnet-sample", "--method", "she", "--dim", "8"]
    assert main([*arguments, "--shares", "0.1", "--repeats", "1", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["dataset"] == "wordnet-sample"
    assert 0 < record["mean"]["micro_f1"] <= 1
    assert "micro_f1@0.1" in record["mean"]


def test_ranking_all_or_none_and_curves(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", "link-prediction", str(table), *COLUMNS, "--method", "she"]
    assert main([*arguments, "--ranking", "none", "--roc", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert "mrr" not in record["mean"]
    assert record["curves"]["0"]["tpr"][-1] == 1
    assert main([*arguments, "--ranking", "all", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["config"]["counts"]["ranked"] == record["config"]["edges"]["test"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["link-predicton", "wordnet-sample"], "did you mean 'link-prediction'"),
        (["link-prediction", "wordnet-sampel"], "did you mean 'wordnet-sample'"),
        (["link-prediction", "wordnet-sample", "--method", "shee"], "did you mean 'she'"),
        (["link-prediction", "wordnet-sample", "--seeds", "a"], "--seeds takes numbers"),
        (["link-prediction", "wordnet-sample", "--set", "dim"], "key=value"),
        (["link-prediction", "wordnet-sample", "--ranking", "some"], "--ranking"),
        (["link-prediction", "wordnet-sample", "--json", "/nowhere/x.json"], "does not exist"),
        (
            ["link-prediction", "wordnet-sample", "--method", "she", "--keep", "2"],
            "between 0 and 1",
        ),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *arguments]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_labels_from_a_file(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", "classification", str(table), *COLUMNS, "--method", "she"]
    arguments += ["--dim", "4", "--shares", "0.5", "--json", "-"]
    assert main(arguments) == 1
    assert "--labels FILE" in capsys.readouterr().err
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "user,kind\n" + "".join(f"u{i},{'odd' if i % 2 else 'even'}\n" for i in range(12))
    )
    assert main([*arguments, "--labels", str(labels)]) == 0
    assert json.loads(capsys.readouterr().out)["mean"]["micro_f1"] > 0
