"""`dhne demo`: everything it promises is there, and what it shows is worth showing."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import urllib.request
from pathlib import Path

import pytest

import dhne
from tests.cli.runs import CommandLine


def served(line: str) -> None:
    """Paste the line that opens the explorer, and look at the page that it announces."""
    pytest.importorskip("fastapi")
    pytest.importorskip("plotly")
    nothing = {**os.environ, "BROWSER": "true"}  # the program of that name, which does nothing
    with subprocess.Popen(
        shlex.split(line), stdout=subprocess.PIPE, text=True, env=nothing
    ) as explorer:
        try:
            assert explorer.stdout is not None
            address = re.search(r"http://[^ ]+", explorer.stdout.readline())
            assert address is not None
            with urllib.request.urlopen(address[0]) as page:
                assert b"dhne explorer" in page.read()
        finally:
            explorer.terminate()


def test_it_shows_accuracy_completions_neighbours_and_a_map(
    cli: CommandLine, tmp_path: Path
) -> None:
    out = tmp_path / "demo"
    status, said, _ = cli("demo", "--out", out, "--json", tmp_path / "report.json")
    assert status == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["auc"]["dhne"] > 0.9 > report["auc"]["cooccurrence"] > 0.5
    assert report["hits@10"] > 0.3
    found = {a["fact"] for c in report["completions"] for a in c["answers"]}
    assert {"learned", "held out"} <= found
    assert "asia" in said
    assert "kyoto" in said
    proposed = [line.strip() for line in said.split("look around:")[1].splitlines() if line.strip()]
    assert len(proposed) == 4
    for line in proposed[:3]:
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
    served(proposed[3])
    assert (out / "map.png").read_bytes().startswith(b"\x89PNG")
    model = dhne.load(out / "run")
    assert model.network_.num_nodes("relation") == 13
    assert model.rank(("tokyo.n.01", "part_of", None), k=3).names


def test_a_place_that_cannot_be_written_is_said_first(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    status, out, err = cli("demo", "--out", tmp_path / "file")
    assert (status, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
