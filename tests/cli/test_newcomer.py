"""A newcomer's table through the whole command line: four columns, dates, weights, leading zeros.

Beside it a second table with another node type, and a file of labels. Every step uses only what
the steps before it have printed or written.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
import urllib.request
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

import dhne
from tests.cli.runs import CommandLine

HEADER = ["patient", "drug", "reaction", "hospital", "date", "weight"]
START = date(2020, 1, 1)
FAST = ("--epochs", "8", "--dim", "8", "--device", "cpu", "--kernels", "reference")


def patient(i: int) -> str:
    return f"{i * 37:06d}"


def visits(rng: np.random.Generator, days: range, people: range) -> list[list[object]]:
    """Return rows in which patients of one group get the drugs of that group."""
    found: list[list[object]] = []
    for day in days:
        p = int(rng.integers(people.start, people.stop))
        group = p % 3
        names = [f"drug {group * 4 + rng.integers(4)}", f"reaction {group * 3 + rng.integers(3)}"]
        hospital = f"{group * 3 + rng.integers(3):03d}"
        when = (START + timedelta(days=day)).isoformat()
        found.append([patient(p), *names, hospital, when, rng.choice([0.5, 1, 2])])
    return found


def write(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newcomer")
    rng = np.random.default_rng(0)
    write(folder / "visits.csv", HEADER, visits(rng, range(400), range(30)))
    write(folder / "test.csv", HEADER, visits(rng, range(400, 440), range(30)))
    write(folder / "new.csv", HEADER, visits(rng, range(440, 460), range(30, 34)))
    doctors = [[patient(i), f"dr {i % 5}"] for i in range(30)]
    write(folder / "doctors.csv", ["patient", "doctor"], doctors)
    labels = [["patient", patient(i), ("ILL", "WELL", "FAR")[i % 3]] for i in range(30)]
    write(folder / "labels.csv", ["type", "name", "label"], labels)
    return folder


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(folder)
    return CommandLine(capsys)


@pytest.fixture
def run(cli: CommandLine, folder: Path) -> str:
    """Train as the first attempt's message says."""
    if not (folder / "run").exists():
        status, _, said = cli("train", "visits.csv", "doctors.csv", "--out", "run")
        assert status == 1
        assert "'date' holds dates, not names" in said
        proposed = shlex.split(said.split("to use: dhne ")[1])
        options = proposed[proposed.index("--columns") :]
        more = ("--labels", "labels.csv", "--evidence", "--validation", "0.1", "--out", "run")
        status, _, said = cli("train", "visits.csv", "doctors.csv", *options, *more, *FAST)
        assert status == 0, said
        assert "weighted by the column 'weight' where there is one" in said
    return "run"


def test_training_reads_what_the_tables_mean(run: str, folder: Path) -> None:
    network = dhne.load(folder / run).network_
    visit, doctor = network.edge_sets
    assert visit.types == ("patient", "drug", "reaction", "hospital")
    assert doctor.types == ("patient", "doctor")
    assert network.vocabulary("patient").name(1)[:3] in {"000", "001"}  # zeros are kept
    assert set(np.unique(visit.weights)) <= {0.5, 1.0, 2.0}
    assert visit.times is not None
    assert doctor.times is None
    assert network.labels("patient") is not None


def test_info_shows_the_span_and_the_types(cli: CommandLine, run: str) -> None:
    status, out, _ = cli("info", run)
    assert status == 0
    assert all(t in out for t in ("patient", "drug", "reaction", "hospital", "doctor"))
    status, out, _ = cli("info", "visits.csv", "--time", "date")
    assert status == 0
    assert "2020-01-01" in out
    assert "2021-02-03" in out


def test_rank_leaves_positions_unnamed(cli: CommandLine, run: str) -> None:
    known = patient(1)
    status, out, _ = cli("rank", run, f"patient={known}", "drug=?", "--json", "-")
    assert status == 0
    best = json.loads(out)["answers"]
    assert len(best) == 10
    ours = {f"drug {i}" for i in (4, 5, 6, 7)}  # the drugs of the patient's group
    assert len(ours & {a["names"][0] for a in best[:4]}) >= 3
    status, _, said = cli("rank", run, "patient=37", "drug=?")
    assert status == 1
    assert "did you mean '000037'?" in said


def test_score_and_explain(cli: CommandLine, run: str) -> None:
    status, out, _ = cli("score", run, "test.csv", "--json", "-")
    assert status == 0
    rows = json.loads(out)
    assert len(rows) == 40
    assert rows[0]["patient"].startswith("0")
    status, out, _ = cli("score", run, "test.csv", "--explain", "--json", "-")
    assert status == 0
    reasons = json.loads(out)
    assert reasons[0]["score"] == pytest.approx(rows[0]["score"])
    assert len(reasons[0]["pairs"]) == 6
    assert 0 < reasons[0]["probability"] < 1
    status, out, _ = cli("score", run, "test.csv", "--explain")
    assert status == 0
    assert f"patient {rows[0]['patient']}: in" in out


def test_embed_keeps_the_names(cli: CommandLine, run: str, folder: Path) -> None:
    assert cli("embed", run, "--out", "vectors.csv")[0] == 0
    with (folder / "vectors.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {r["type"] for r in rows} == {"patient", "drug", "reaction", "hospital", "doctor"}
    assert patient(1) in {r["name"] for r in rows}
    assert cli("embed", run, "--out", "new.npz", "--edges", "new.csv")[0] == 0
    with np.load(folder / "new.npz") as found:
        assert found["names/patient"].tolist()[0].startswith("00")


def test_similar_patients_have_the_label(cli: CommandLine, run: str) -> None:
    status, out, _ = cli("similar", run, "patient", patient(1), "-k", "3", "--json", "-")
    assert status == 0
    assert all(a["name"].startswith("0") for a in json.loads(out)[0]["answers"])
    assert "WELL" in cli("similar", run, "patient", patient(1), "-k", "5")[1]


def test_evaluate_a_run_on_later_rows(cli: CommandLine, run: str) -> None:
    status, out, said = cli("evaluate", "link-prediction", run, "--test", "test.csv", "--json", "-")
    assert status == 0, said
    metrics = json.loads(out)["mean"]
    assert metrics["auc"] > 0.6
    assert 0 <= metrics["ece"] <= 1


def test_update_learns_new_patients(cli: CommandLine, run: str, folder: Path) -> None:
    options = ("--out", "run2", "--epochs", "2", "--quiet")
    status, _, said = cli("update", run, "new.csv", *options)
    assert status == 0, said
    network = dhne.load(folder / "run2").network_
    before = dhne.load(folder / run).network_
    assert network.num_nodes("patient") > before.num_nodes("patient")
    assert network.edge_sets[0].times is not None
    assert len(network.edge_sets[0]) == len(before.edge_sets[0]) + 20


def test_explore_with_labels(run: str, folder: Path) -> None:
    pytest.importorskip("fastapi")
    other = [[patient(i), "even" if i % 2 == 0 else "odd"] for i in range(30)]
    write(folder / "parity.csv", ["name", "label"], other)
    command = [sys.executable, "-m", "dhne", "explore", run, "--no-browser"]
    with subprocess.Popen(
        [*command, "--labels", "parity.csv"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as served:
        try:
            assert served.stdout is not None
            address = re.search(r"http://[^ ]+", served.stdout.readline())
            assert address is not None
            with urllib.request.urlopen(f"{address[0]}api/map?type=patient") as answer:
                shown = json.load(answer)
        finally:
            served.terminate()
    assert {c["name"]: c["nodes"] for c in shown["labels"]} == {"even": 15, "odd": 15}


def test_explore_says_what_is_wrong_with_labels(cli: CommandLine, run: str, folder: Path) -> None:
    pytest.importorskip("fastapi")
    write(folder / "strangers.csv", ["name", "label"], [["nobody", "x"]])
    status, _, said = cli("explore", run, "--no-browser", "--labels", "strangers.csv")
    assert status == 1
    assert "strangers.csv" in said
    assert len([line for line in said.splitlines() if "error" in line]) == 1
