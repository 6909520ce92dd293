"""`--config FILE.toml`: options from a file, flags on top."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dhne
from dhne.cli import main
from tests.cli.runs import TAGS, CommandLine

CONFIG = """
sources = "tags.csv"
columns = { user = "userId", movie = "movieId", tag = "tag" }

[train]
out = "run"
dim = { user = 3, movie = 4, tag = 5 }
hidden = [6, 7]
alpha = 0.5
epochs = 2
batch-size = 4
leave_one_out = true
kernels = "reference"

[tune]
out = "tuned"
trials = 1
search = { alpha = "0.1:1:log", dim = [2, 3] }
set = { epochs = 1, kernels = "reference", negatives = 1 }
validation = 0.3

[evaluate]
task = "link-prediction"
seeds = [0, 1]
ranking = "none"
method = "cooccurrence"
"""


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    Path("tags.csv").write_text(TAGS)
    Path("films.toml").write_text(CONFIG)
    return CommandLine(capsys)


def test_a_training_can_stand_in_a_file(cli: CommandLine) -> None:
    assert cli("train", "--config", "films.toml")[0] == 0
    model = dhne.load("run")
    assert model.network_.node_types == ("user", "movie", "tag")
    assert {t: x.shape[1] for t, x in model.embeddings_.items()} == {
        "user": 3,
        "movie": 4,
        "tag": 5,
    }
    assert (model.alpha, model.leave_one_out, model.hidden) == (0.5, True, [6, 7])
    assert len(model.history_) == 2


def test_what_is_typed_goes_before_the_file(cli: CommandLine) -> None:
    flags = ("--alpha", 2, "--no-leave-one-out", "--out", "other")
    assert cli("train", *flags, "--config", "films.toml")[0] == 0
    model = dhne.load("other")
    assert (model.alpha, model.leave_one_out, len(model.history_)) == (2, False, 2)
    assert not Path("run").exists()


def test_one_file_serves_several_commands(cli: CommandLine) -> None:
    status, out, err = cli("tune", "--config", "films.toml", "--json", "-")
    assert status == 0, err
    trial = json.loads(out)["trials"][0]
    assert 0.1 <= trial["params"]["alpha"] <= 1
    assert trial["params"]["dim"] in (2, 3)


def test_evaluate_reads_it_too(cli: CommandLine) -> None:
    Path("films.toml").write_text(CONFIG.replace("sources", "source"))
    status, out, err = cli("evaluate", "--config", "films.toml", "--json", "-")
    assert status == 0, err
    record = json.loads(out)
    assert (record["method"], len(record["results"])) == ("cooccurrence", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alhpa = 1", "films.toml: unknown option 'alhpa': did you mean 'alpha'?"),
        ("[train]\nlearning-rat = 1", "[train] unknown option 'learning-rat': did you mean 'lea"),
        ("[trian]\nalpha = 1", "unknown option 'trian': did you mean 'train'"),
        ("[xyzzy]\nalpha = 1", "unknown table 'xyzzy'"),
        ("alpha = ", "films.toml: not valid TOML"),
        ("alpha = true", "'alpha' takes a value, not true"),
        ("resume = 'yes'", "'resume' takes true or false, not yes"),
        ("train = 3", "[train] must be a table"),
    ],
)
def test_mistakes_name_the_file(cli: CommandLine, text: str, message: str) -> None:
    Path("films.toml").write_text(text)
    status, _, err = cli("train", "tags.csv", "--out", "run", "--config", "films.toml")
    assert status == 1
    assert err.startswith("dhne: error: films.toml: ")
    assert message in err
    assert err.count("\n") == 1


def test_values_are_checked_as_if_they_were_typed(cli: CommandLine) -> None:
    Path("films.toml").write_text("epochs = 'many'")
    status, _, err = cli("train", "tags.csv", "--out", "run", "--config", "films.toml")
    assert status == 1
    assert err == "dhne: error: films.toml: --epochs must be an integer of at least 1, got 'many'\n"


def test_a_file_that_is_not_there(cli: CommandLine) -> None:
    status, _, err = cli("train", "tags.csv", "--out", "run", "--config", "no.toml")
    assert status == 1
    assert "no.toml: cannot be read: No such file" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dim = " + "9" * 5000, "thousands of digits"),
        ("hidden = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("hidden = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_huge_numbers_and_deep_nesting_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "c.toml").write_text(text)
    arguments = ["train", "wordnet-sample", "--out", str(tmp_path / "run")]
    assert main([*arguments, "--config", str(tmp_path / "c.toml")]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()
