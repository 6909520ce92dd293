"""`dhne rank`: the best completions of a tuple."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dhne
from tests.cli.runs import CommandLine


def test_the_answer_is_that_of_the_library(cli: CommandLine, run: Path) -> None:
    status, out, err = cli("rank", run, "tag=?", "user=ann", "movie=Heat", "--json", "-")
    assert (status, err) == (0, "")
    report = json.loads(out)
    expected = dhne.load(run).rank(("ann", "Heat", None))
    assert [a["names"][0] for a in report["answers"]] == expected.names
    assert [a["score"] for a in report["answers"]] == expected.scores.tolist()
    known = {a["names"][0] for a in report["answers"] if a["known"]}
    assert known == {"heist"}


def test_known_completions_can_be_left_out(cli: CommandLine, run: Path) -> None:
    _, out, _ = cli("rank", run, "user=ann", "movie=Heat", "tag=?", "--new-only", "--json", "-")
    names = [a["names"][0] for a in json.loads(out)["answers"]]
    assert "heist" not in names
    assert len(names) == 4


def test_two_positions_may_be_open_and_unnamed_ones_are(cli: CommandLine, run: Path) -> None:
    _, named, _ = cli("rank", run, "user=?", "movie=?", "tag=noir", "-k", "3", "--json", "-")
    _, unnamed, _ = cli("rank", run, "tag=noir", "-k", "3", "--json", "-")
    assert named == unnamed
    answers = json.loads(named)["answers"]
    assert len(answers) == 3
    assert all(a["tuple"][2] == "noir" and len(a["names"]) == 2 for a in answers)


def test_unnamed_positions_may_hold_anything_beside_one_that_is_asked(
    cli: CommandLine, run: Path
) -> None:
    _, out, _ = cli("rank", run, "user=ann", "tag=?", "-k", "3", "--json", "-")
    report, model = json.loads(out), dhne.load(run)
    assert (report["open"], report["any"], report["exact"]) == ([2], [1], True)
    for answer in report["answers"]:
        user, movie, tag = answer["tuple"]
        best = model.rank(("ann", None, tag), k=1)
        assert (user, movie, [tag]) == ("ann", best.names[0], answer["names"])
    status, out, _ = cli("rank", run, "user=ann", "tag=?", "--rest", "expected")
    assert status == 0
    assert "(user ann, movie (any), tag ?)" in out


def test_people_get_a_table(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    status, out, _ = cli("rank", run, "user=ann", "movie=12 Monkeys", "--json", file)
    assert status == 0
    assert "(user ann, movie 12 Monkeys, tag ?)" in out
    assert "time travel" in out
    assert json.loads(file.read_text())["query"] == ["ann", "12 Monkeys", None]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (["user=ann", "movie=Heta", "tag=?"], "'Heat'"),
        (["user=ann", "moive=Heat", "tag=?"], "'movie'"),
        (["user=ann", "Heat", "tag=?"], "TYPE=NAME"),
        (["user=ann", "movie=Heat", "tag=noir"], "as in tag=?"),
        (["user=ann", "tag=?", "--rest", "worst"], "rest must be 'best' or 'expected'"),
        (["user=ann", "user=bob", "tag=?"], "no edge type"),
    ],
)
def test_mistakes_are_explained(cli: CommandLine, run: Path, query: list[str], said: str) -> None:
    status, out, err = cli("rank", run, *query)
    assert (status, out) == (1, "")
    assert said in err


def test_no_question_is_wrong_usage(cli: CommandLine, run: Path) -> None:
    assert cli("rank", run)[0] == 2
    assert cli("rank", run, "tag=?", "-k", "0")[0] == 2
