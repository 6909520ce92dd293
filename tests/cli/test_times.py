"""Times on the command line: read, kept, split by, faded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dhne import load
from tests.cli.runs import CommandLine


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    rows = [f"u{i % 8},m{i * 3 % 23},2024-01-{i % 28 + 1:02}" for i in range(56)]
    path.write_text("\n".join(["user,movie,date", *rows]) + "\n")
    return path


def test_a_column_of_dates_is_named_in_the_command_to_use(cli: CommandLine, dated: Path) -> None:
    status, _, err = cli("train", dated, "--out", dated.parent / "run")
    assert status == 1
    assert "'date' holds dates" in err
    assert "--columns user=user,movie=movie --time date" in err
    assert not (dated.parent / "run").exists()


def test_info_and_convert_keep_times(cli: CommandLine, dated: Path) -> None:
    out = dated.with_name("out.hif.json")
    assert cli("convert", dated, out, "--time", "date")[0] == 0
    status, shown, _ = cli("info", out)
    assert status == 0
    assert "2024-01-01" in shown
    assert "2024-01-28" in shown
    status, shown, _ = cli("info", dated, "--time", "date", "--json", "-")
    assert json.loads(shown)["edge_types"][0]["time"]["last"] == "2024-01-28"


def test_evaluate_on_the_latest_hyperedges(cli: CommandLine, dated: Path) -> None:
    task = ("evaluate", "link-prediction", dated, "--method", "cooccurrence", "--quiet")
    timed = (*task, "--time", "date", "--half-life", "1w", "--json", "-")
    status, out, err = cli(*timed, "--time-split", "0.25")
    assert (status, err) == (0, "")
    assert json.loads(out)["config"]["edges"] == {"train": 42, "test": 14}
    status, _, err = cli(*task, "--columns", "user=user,movie=movie", "--time-split", "0.25")
    assert status == 1
    assert "have no times" in err
    status, _, err = cli(*timed, "--time-split", "0.25", "--keep", "0.5")
    assert status != 0
    assert "--keep" in err


def test_a_half_life_weighs_what_is_trained_on(cli: CommandLine, dated: Path) -> None:
    out = dated.parent / "run"
    given = ("--time", "date", "--epochs", "1", "--dim", "2", "--quiet")
    assert cli("train", dated, "--out", out, "--half-life", "7d", *given)[0] == 0
    weights = load(out).network_.weights()
    assert weights.max() == 1
    assert weights.min() == pytest.approx(2 ** (-27 / 7))
    status, _, err = cli("train", dated, "--out", out, "--overwrite", "--half-life", "7", *given)
    assert status == 1
    assert "needs a unit" in err
