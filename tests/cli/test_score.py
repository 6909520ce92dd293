"""`dhne score`: tables of tuples with their similarity, and why."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import dhne
from tests.cli.runs import COLUMNS, CommandLine


def test_the_table_comes_back_with_scores(cli: CommandLine, run: Path) -> None:
    status, out, _ = cli("score", run, run.parent / "tags.csv", "--columns", COLUMNS)
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["userId", "movieId", "tag", "when", "score"]
    tuples = [(r["userId"], r["movieId"], r["tag"]) for r in rows]
    expected = dhne.load(run).score(tuples)
    np.testing.assert_array_equal([float(r["score"]) for r in rows], expected)


def test_scores_are_explained(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    table = tmp_path / "tuples.csv"
    table.write_text("tag,user,movie\nnoir,ann,Heat\n")
    status, out, err = cli("score", run, table, "--explain")
    assert (status, err) == (0, "")
    assert str(dhne.load(run).explain(("ann", "Heat", "noir"))) in out
    _, out, _ = cli("score", run, table, "--explain", "--json", "-")
    assert json.loads(out)[0]["names"] == ["ann", "Heat", "noir"]
    status, _, err = cli("score", run, table, "--explain", "--out", tmp_path / "x.csv")
    assert status == 1
    assert "--explain writes no table" in err


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet"])
def test_it_goes_to_a_file(cli: CommandLine, run: Path, tmp_path: Path, name: str) -> None:
    table = tmp_path / "tuples.csv"
    table.write_text("tag,user,movie\nnoir,ann,Heat\nspace,bob,Alien\n")
    status, out, _ = cli("score", run, table, "--sort", "--out", tmp_path / name)
    assert (status, out) == (0, "")
    assert (tmp_path / name).stat().st_size > 0
    if name == "out.parquet":
        scores = pq.read_table(tmp_path / name)["score"].to_pylist()
        assert scores == sorted(scores, reverse=True)


def test_unknown_names_are_named_or_skipped(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    table = tmp_path / "tuples.csv"
    table.write_text("user,movie,tag\nann,Heat,noir\nann,Heta,noir\n")
    status, _, err = cli("score", run, table)
    assert status == 1
    assert "tuples.csv:3: column 'movie'" in err
    assert "'Heat'" in err
    status, out, _ = cli("score", run, table, "--skip-unknown", "--json", "-")
    assert status == 0
    assert [r["score"] is None for r in json.loads(out)] == [False, True]


def test_other_columns_are_explained(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("who,what,how\nann,Heat,noir\n")
    status, _, err = cli("score", run, other)
    assert status == 1
    assert "--columns" in err
    status, _, err = cli("score", run, run.parent / "tags.csv", "--out", tmp_path / "x.npz")
    assert status == 1
    assert ".parquet" in err


def test_unscored_tuples_are_counted(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("user,movie,tag\nann,Heat,noir\nx,y,z\n,,\n")
    out = tmp_path / "scored.csv"
    status, _, err = cli("score", run, tmp_path / "asked.csv", "--skip-unknown", "--out", out)
    assert status == 0
    assert "1 of 3 tuples scored; the others hold unknown names" in err


def test_tuples_without_a_header_and_from_standard_input(
    cli: CommandLine, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = io.TextIOWrapper(io.BytesIO("ann,Heat,noir\nbob,Alien,größe\n".encode("latin-1")))
    monkeypatch.setattr(sys, "stdin", asked)
    options = ["--no-header", "--encoding", "latin-1", "--columns", "user=c1,movie=c2,tag=c3"]
    status, out, err = cli("score", run, "-", *options, "--skip-unknown")
    assert status == 0, err
    assert out.splitlines()[0] == "c1,c2,c3,score"
    assert out.splitlines()[2] == "bob,Alien,größe,"
