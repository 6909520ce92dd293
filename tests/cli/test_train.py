"""`dhne train`: what it makes, what it refuses, and how it goes on after an interruption."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dhne
from dhne.storage import read_config, run_status
from tests.cli.runs import COLUMNS, FAST, TAGS, CommandLine, make_run
from tests.storage.test_locking import holder

# Trains like the command line does, and is hit by a signal right after the third checkpoint.
INTERRUPTED = """
import os, signal, sys
from dhne.cli import main
from dhne.storage import Checkpoints

save = Checkpoints.save

def save_and_fall(self, epoch, *rest):
    save(self, epoch, *rest)
    if epoch == 3:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))

Checkpoints.save = save_and_fall
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def tags(tmp_path: Path) -> Path:
    (tmp_path / "tags.csv").write_text(TAGS)
    return tmp_path / "tags.csv"


def train(tags: Path, out: Path, *options: str) -> list[str]:
    return ["train", str(tags), "--columns", COLUMNS, "--out", str(out), *FAST, *options]


def vectors_of(cli: CommandLine, run: Path) -> bytes:
    assert cli("embed", run, "--out", run.parent / "v.npz")[0] == 0
    return (run.parent / "v.npz").read_bytes()


def test_a_run_is_made_that_python_loads(cli: CommandLine, tags: Path, tmp_path: Path) -> None:
    options = ["--epochs", "3", "--alpha", "0.5", "--seed", "7", "--json", "-"]
    status, out, err = cli(*train(tags, tmp_path / "run", *options))
    assert status == 0
    report = json.loads(out)
    assert report["epochs"] == 3
    assert report["config"]["settings"]["alpha"] == 0.5
    assert report["config"]["params"]["random_state"] == 7
    assert "8 hyperedges" in err
    model = dhne.load(tmp_path / "run")
    assert model.embeddings_["movie"].shape == (3, 4)
    assert read_config(tmp_path / "run")["source"]["names"] == [str(tags)]
    assert list((tmp_path / "run" / "checkpoints").iterdir()) == []


def test_hyper_parameters_reach_the_model(cli: CommandLine, tags: Path, tmp_path: Path) -> None:
    options = ["--preset", "paper", "--epochs", "1", "--hidden", "6,5", "--encoder-layers", "7"]
    options += ["--lr", "0.5", "--negatives", "2", "--optimizer", "adagrad", "--leave-one-out"]
    options += ["--dim", "user=2,movie=3,tag=4", "--dtype", "float64"]
    assert cli(*train(tags, tmp_path / "run", *options))[0] == 0
    model = dhne.load(tmp_path / "run")
    s = model.settings_
    assert (s.activation, s.hidden, s.encoder_layers) == ("sigmoid", (6, 5), (7,))
    assert (s.learning_rate, s.negatives, s.optimizer) == (0.5, 2, "adagrad")
    assert s.leave_one_out
    assert {t: v.shape[1] for t, v in model.embeddings_.items()} == {
        "user": 2,
        "movie": 3,
        "tag": 4,
    }


def test_the_same_seed_gives_the_same_bytes(cli: CommandLine, tmp_path: Path) -> None:
    for name, options in [("a", ()), ("b", ()), ("c", ("--seed", "1"))]:
        (tmp_path / name).mkdir()
        make_run(tmp_path / name, *options)
    a, b, c = (vectors_of(cli, tmp_path / name / "run") for name in "abc")
    assert a == b
    assert a != c


def test_a_run_is_not_lost_without_asking(cli: CommandLine, tmp_path: Path) -> None:
    run = make_run(tmp_path)
    before = vectors_of(cli, run)
    again = train(tmp_path / "tags.csv", run, "--epochs", "1")
    status, _, err = cli(*again)
    assert status == 1
    assert "--overwrite" in err
    assert vectors_of(cli, run) == before
    status, _, err = cli("train", "--out", run, "--resume")
    assert status == 0
    assert "finished already" in err
    assert cli(*again, "--overwrite")[0] == 0
    assert len(dhne.load(run).history_) == 1


def test_overwriting_keeps_the_old_run_until_the_new_one_is_there(
    cli: CommandLine, tmp_path: Path
) -> None:
    run = make_run(tmp_path)
    before, files = vectors_of(cli, run), sorted(run.rglob("*"))
    again = train(tmp_path / "tags.csv", run, "--overwrite", "--epochs", "6", "--seed", "3")
    status, _, err = cli(*again, "--validation", "0.999")
    assert status == 1, err
    assert sorted(run.rglob("*")) == files
    command = [sys.executable, "-c", INTERRUPTED, "SIGKILL", *again, "--checkpoint-every", "0"]
    assert subprocess.run(command, check=False).returncode == -9
    assert vectors_of(cli, run) == before
    assert cli("train", "--out", run, "--resume")[0] == 0
    after = vectors_of(cli, run)
    (tmp_path / "straight").mkdir()
    assert after == vectors_of(cli, make_run(tmp_path / "straight", "--seed", "3"))
    assert sorted(run.rglob("*")) == files


def test_two_writers_of_one_run(cli: CommandLine, tags: Path, tmp_path: Path) -> None:
    with holder(tmp_path / "run") as first:
        status, _, err = cli(*train(tags, tmp_path / "run", "--epochs", "1"))
        assert status == 1
        assert f"process {first.pid} on" in err
        assert len(err.strip().splitlines()) == 1
        first.kill()
    assert cli(*train(tags, tmp_path / "run", "--epochs", "1"))[0] == 0


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGINT"])
def test_an_interrupted_run_resumes_to_the_same_bytes(
    cli: CommandLine, tags: Path, tmp_path: Path, signal: str
) -> None:
    (tmp_path / "whole").mkdir()
    whole = make_run(tmp_path / "whole", "--validation", "0.3")
    broken = tmp_path / "broken"
    options = ["--epochs", "6", "--validation", "0.3", "--checkpoint-every", "0"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, signal, *train(tags, broken, *options)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run_status(broken) == "training"
    if signal == "SIGINT":
        assert done.returncode == 130
        assert f"dhne train --out {broken} --resume" in done.stderr
        assert "Traceback" not in done.stderr
    else:
        assert done.returncode == -9
    status, _, err = cli("embed", broken, "--out", tmp_path / "v.npz")
    assert status == 1
    assert "--resume" in err
    status, _, err = cli(*train(tags, broken, *options))
    assert status == 1
    assert "--resume" in err
    assert cli("train", "--out", broken, "--resume")[0] == 0
    assert run_status(broken) == "complete"
    assert vectors_of(cli, broken) == vectors_of(cli, whole)


def test_resuming_with_other_settings_is_refused(
    cli: CommandLine, tags: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    options = train(tags, run, "--epochs", "6", "--checkpoint-every", "0")
    subprocess.run([sys.executable, "-c", INTERRUPTED, "SIGKILL", *options], check=False)
    status, _, err = cli("train", "--out", run, "--resume", "--epochs", "9")
    assert status == 1
    assert "params.epochs was 6, is 9" in err


def test_a_run_is_named_like_its_source_if_not_told_otherwise(
    cli: CommandLine, tags: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = cli("train", str(tags), "--columns", COLUMNS, "--epochs", "1")
    assert status == 0, err
    assert (tmp_path / "runs" / tags.stem / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["train", "--out", "RUN"], 1, "SOURCE"),
        (["train"], 2, "--out"),
        (["train", "--out", "RUN", "--resume"], 1, "no run"),
        (["train", "TAGS", "--out", "RUN", "--resume", "--overwrite"], 2, "choose one"),
        (["train", "nothing.csv", "--out", "RUN"], 1, "no such file"),
        (["train", "wordnet-sampel", "--out", "RUN"], 1, "wordnet-sample"),
        (["train", "TAGS", "--out", "RUN", "--preset", "papre"], 1, "paper"),
        (["train", "TAGS", "--out", "RUN", "--dim", "many"], 1, "--dim"),
        (["train", "TAGS", "--out", "RUN", "--alpha", "-1"], 1, "alpha"),
        (["train", "TAGS", "--out", "RUN", "--epochs", "0.5"], 1, "--epochs must be an integer of"),
        (["train", "TAGS", "--out", "RUN", "--kernels", "gpu"], 1, "unknown --kernels 'gpu'"),
        (["train", "TAGS", "--out", "TAGS"], 1, "is a file"),
        (["train", "TAGS", "--out", "RUN", "--device", "gpu"], 1, "unknown device 'gpu'"),
        (["train", "TAGS", "--out", "RUN", "--kernels", "foo"], 1, "unknown --kernels 'foo'"),
        (["train", "TAGS", "--out", "RUN", "--dtype", "int8"], 1, "unknown --dtype 'int8'"),
        (["train", "TAGS", "--out", "RUN", "--seed", "-1"], 1, "integer between 0"),
        (["train", "TAGS", "--out", "RUN", "--seed", str(2**64)], 1, "integer between 0"),
        (["train", "TAGS", "--out", "RUN", "--checkpoint-every", "nan"], 2, "of at least 0"),
        (["train", "TAGS", "--out", "RUN", "--checkpoint-every", "-1"], 2, "of at least 0"),
        (["train", "TAGS", "--out", "RUN", "--validation", "0.999"], 1, "leaves no hyperedge"),
    ],
)
def test_mistakes_are_one_clear_line(
    cli: CommandLine, tags: Path, tmp_path: Path, options: list[str], status: int, said: str
) -> None:
    places = {"RUN": str(tmp_path / "run"), "TAGS": str(tags)}
    columns = ["--columns", COLUMNS] if "TAGS" in options else []
    found, out, err = cli(*[places.get(o, o) for o in options], *columns)
    assert found == status
    assert said in err
    assert out == ""
    assert "Traceback" not in err
    if status == 1:
        assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
