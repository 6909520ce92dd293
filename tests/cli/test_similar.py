"""`dhne similar`: the nearest nodes."""

from __future__ import annotations

import json
from pathlib import Path

import dhne
from tests.cli.runs import CommandLine


def test_several_names_give_several_answers(cli: CommandLine, run: Path) -> None:
    status, out, _ = cli("similar", run, "movie", "Heat", "12 Monkeys", "-k", "1", "--json", "-")
    assert status == 0
    expected = dhne.load(run).similar("movie", ["Heat", "12 Monkeys"], 1)
    assert [[a["name"] for a in r["answers"]] for r in json.loads(out)] == [
        e.names for e in expected
    ]


def test_people_get_a_table(cli: CommandLine, run: Path) -> None:
    _, out, _ = cli("similar", run, "movie", "Heat")
    assert "like Heat" in out
    assert "Alien" in out


def test_mistakes_are_explained(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    assert "'movie'" in cli("similar", run, "moive", "Heat")[2]
    assert "'Heat'" in cli("similar", run, "movie", "heat")[2]
    status, _, err = cli("similar", tmp_path, "movie", "Heat")
    assert status == 1
    assert "not a run" in err
