"""`dhne update`: what it reads, what it refuses, and how it goes on after a kill."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dhne
from dhne.storage import read_config, read_manifest, unfinished_run
from tests.cli.runs import COLUMNS, FAST, CommandLine, make_run
from tests.cli.test_train import INTERRUPTED

NEW = "userId,movieId,tag,when\neve,Heat,heist,9\nann,Brazil,noir,10\nbob,Heat,heist,11\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "new.csv").write_text(NEW)
    return make_run(tmp_path, "--time", "when")


def bytes_of(run: Path) -> dict[str, bytes]:
    """All files of a run but its history, which has times."""
    return {
        p.relative_to(run).as_posix(): p.read_bytes()
        for p in sorted(run.rglob("*"))
        if p.is_file() and p.name not in ("history.jsonl", "manifest.json")
    }


def test_the_columns_of_training_are_remembered(cli: CommandLine, run: Path) -> None:
    before = bytes_of(run)
    other = run.parent / "other"
    status, out, err = cli("update", run, run.parent / "new.csv", "--out", other, "--json", "-")
    assert status == 0, err
    assert bytes_of(run) == before
    report = json.loads(out)
    assert (report["hyperedges"], report["nodes"]) == (3, {"user": 1, "movie": 1})
    assert cli("update", run, run.parent / "new.csv")[0] == 0
    found = dhne.load(run)
    assert found.network_ == dhne.load(other).network_
    assert found.network_.edge_set().times.max() == 11
    assert cli("update", run, run.parent / "new.csv")[0] == 0
    assert len(dhne.load(run).updates_) == 2


def test_history_and_parentage(cli: CommandLine, run: Path) -> None:
    parent, other = read_manifest(run)["checksum"], run.parent / "other"
    new = run.parent / "new.csv"
    assert cli("update", run, new, "--out", other, "--replay", "0.5", "--epochs", "2")[0] == 0
    record = read_config(other)["updates"][0]
    assert record["run"] == str(run)
    assert record["parent"] == parent
    assert record["files"] == [str(new)]
    assert (record["epochs"], record["replay"], record["number"]) == (2, 0.5, 1)
    assert [r.get("update") for r in dhne.load(other).history_[-3:]] == [None, 1, 1]


def test_without_new_rows_no_bit_changes(cli: CommandLine, run: Path) -> None:
    before, manifest = bytes_of(run), (run / "manifest.json").read_bytes()
    (run.parent / "none.csv").write_text(NEW.splitlines()[0] + "\n")
    status, _, err = cli("update", run, run.parent / "none.csv")
    assert status == 0
    assert "nothing was changed" in err
    assert (bytes_of(run), (run / "manifest.json").read_bytes()) == (before, manifest)


def test_known_vectors_are_written_as_before(cli: CommandLine, run: Path) -> None:
    before = {}
    for step in ("before", "after"):
        file = run.parent / f"{step}.npz"
        assert cli("embed", run, "--out", file)[0] == 0
        with np.load(file) as found:
            now = {k: found[k] for k in found.files if found[k].dtype == np.float32}
        if step == "before":
            before = now
            assert cli("update", run, run.parent / "new.csv", "--freeze-known")[0] == 0
    assert before
    for key, matrix in before.items():
        assert now[key][: len(matrix)].tobytes() == matrix.tobytes()
    assert dhne.load(run).updates_[-1]["freeze_known"]


def test_new_node_types_need_columns_and_are_remembered(cli: CommandLine, run: Path) -> None:
    (run.parent / "cities.csv").write_text("userId,city\nann,Rome\neve,Oslo\n")
    (run.parent / "more.csv").write_text("userId,city\nbob,Rome\n")
    before = bytes_of(run)
    assert cli("update", run, run.parent / "cities.csv")[0] == 1
    assert bytes_of(run) == before
    mapping = ("--columns", "user=userId,city=city", "--time", "none")
    status, _, err = cli("update", run, run.parent / "cities.csv", *mapping)
    assert status == 0, err
    status, _, err = cli("update", run, run.parent / "more.csv")
    assert status == 0, err
    assert dhne.load(run).network_.num_edges(("user", "city")) == 3


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a,b,c\n1,2,3\n", [], "--columns"),
        ("userId,movieId,tag\n1,2,3\n", [], "--time"),
        ("a,b\n1,2\n", ["--columns", "user=x,movie=b", "--time", "none"], "'x'"),
        ("userId,movieId,tag,when\n1,2,3,soon\n", [], "soon"),
        (NEW, ["--replay", "-1"], "replay"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_changes(
    cli: CommandLine, run: Path, text: str, options: list[str], said: str
) -> None:
    before = bytes_of(run)
    (run.parent / "bad.csv").write_text(text)
    status, _, err = cli("update", run, run.parent / "bad.csv", *options)
    assert status == 1
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert bytes_of(run) == before
    assert unfinished_run(run) is None
    assert dhne.load(run).updates_ == []


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("signal", ["SIGKILL", "SIGINT"])
def test_a_killed_update_ends_with_the_same_bits(
    cli: CommandLine, run: Path, signal: str, in_place: bool
) -> None:
    new, straight = run.parent / "new.csv", run.parent / "straight"
    options = ["--epochs", "5", "--checkpoint-every", "0"]
    assert cli("update", run, new, "--out", straight, *options)[0] == 0
    before, broken = bytes_of(run), run if in_place else run.parent / "broken"
    out = [] if in_place else ["--out", broken]
    command = [str(a) for a in ("update", run, new, *out, *options)]
    interrupted = [sys.executable, "-c", INTERRUPTED, signal, *command]
    done = subprocess.run(interrupted, capture_output=True, text=True, check=False)
    assert done.returncode == (-9 if signal == "SIGKILL" else 130), done.stderr
    assert unfinished_run(broken) is not None
    if in_place:
        assert before.items() <= bytes_of(run).items()  # it can still be used
        assert cli("train", "--out", run, "--resume")[0] == 1
    else:
        status, _, err = cli("similar", broken, "movie", "Heat")
        assert (status, "dhne update" in err) == (1, True)
    status, _, err = cli(*command)
    assert status == 0
    assert "resuming" in err
    assert unfinished_run(broken) is None
    found, expected = bytes_of(broken), bytes_of(straight)
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name] == expected[name], name


def test_another_update_begins_anew(cli: CommandLine, run: Path) -> None:
    (run.parent / "other.csv").write_text(NEW.replace("eve", "flo"))
    command = ["update", str(run), str(run.parent / "new.csv"), "--epochs", "5"]
    killed = [sys.executable, "-c", INTERRUPTED, "SIGKILL", *command, "--checkpoint-every", "0"]
    assert subprocess.run(killed, check=False).returncode == -9
    status, _, err = cli("update", run, run.parent / "other.csv", "--epochs", "2")
    assert status == 0
    assert "starting over" in err
    assert "flo" in dhne.load(run).network_.names("user").to_pylist()


def test_an_unfinished_training_is_not_thrown_away(cli: CommandLine, run: Path) -> None:
    again = ["train", str(run.parent / "tags.csv"), "--columns", COLUMNS, "--out", str(run)]
    again += [*FAST, "--overwrite", "--epochs", "6", "--checkpoint-every", "0"]
    killed = [sys.executable, "-c", INTERRUPTED, "SIGKILL", *again]
    assert subprocess.run(killed, check=False).returncode == -9
    status, _, err = cli("update", run, run.parent / "new.csv")
    assert status == 1
    assert "unfinished training" in err
