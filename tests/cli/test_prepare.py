"""`dhne prepare`: from files to a trained run, and mistakes in one line."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

import dhne as package
from tests.cli.runs import FAST, CommandLine
from tests.io.prepared.tables import random_table

MAPPING = ("--columns", "user=userId,movie=title,tag=tag")


@pytest.fixture
def dhne(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        pa_csv.write_csv(random_table(200, seed=number), tmp_path / f"tags-{number}.csv")
    return tmp_path


def test_from_files_to_a_run(folder: Path, dhne: CommandLine) -> None:
    status, _, said = dhne("prepare", "tags-*.csv", *MAPPING, "--out", "prepared")
    assert status == 0, said
    assert "prepared: prepared; train on it with: dhne train prepared --out RUN" in said
    status, shown, _ = dhne("info", "prepared")
    assert status == 0
    assert "(user, movie, tag)" in shown
    assert "400" in shown
    status, _, said = dhne("train", "prepared", "--out", "run", "--epochs", 2, *FAST)
    assert status == 0, said
    assert package.load("run").network_.num_edges() == 400


def test_options_for_each_source(folder: Path, dhne: CommandLine) -> None:
    Path("rated.csv").write_text("u,m,stars\nuser 1,movie 1,3\n")
    command = ("prepare", "tags-0.csv", "rated.csv", *MAPPING, "--columns", "user=u,movie=m")
    status, _, said = dhne(*command, "--weight", "none", "--weight", "stars", "--out", "both")
    assert status == 0, said
    network = package.read("both")
    assert network.num_edges(("user", "movie")) == 1
    assert network.weights(("user", "movie")).tolist() == [3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tags-0.csv", "--columns", "user=nobody,movie=title"], "no column 'nobody'"),
        (["nothing-*.csv"], "no file matches this pattern"),
        (["tags-0.csv", *MAPPING, "--memory", "lots"], "memory must be at least 256MiB"),
        (["tags-0.csv", *MAPPING, "--out", "."], "exists already"),
    ],
)
def test_mistakes(folder: Path, dhne: CommandLine, arguments: list[str], says: str) -> None:
    out = [] if "--out" in arguments else ["--out", "prepared"]
    status, _, complaint = dhne("prepare", *arguments, *out)
    assert status == 1
    assert says in complaint
    assert complaint.count("\n") == 1


def test_a_prepared_network_needs_no_columns(folder: Path, dhne: CommandLine) -> None:
    assert dhne("prepare", "tags-0.csv", *MAPPING, "--out", "prepared", "--no-pairs")[0] == 0
    status, _, complaint = dhne("info", "prepared", *MAPPING)
    assert status == 1
    assert "a prepared network takes no options: columns" in complaint
