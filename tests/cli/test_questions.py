"""`dhne rank`, `similar`, `score` and `embed`: the questions to a run."""

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
from dhne import HyperNetwork
from dhne.cli.queries import parse_query
from dhne.errors import DHNEError
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns
from tests.cli.runs import COLUMNS, CommandLine, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "120")
    return CommandLine(capsys)


class TestRank:
    def test_the_answer_is_that_of_the_library(self, cli: CommandLine, run: Path) -> None:
        status, out, err = cli("rank", run, "tag=?", "user=ann", "movie=Heat", "--json", "-")
        assert (status, err) == (0, "")
        report = json.loads(out)
        expected = dhne.load(run).rank(("ann", "Heat", None))
        assert [a["names"][0] for a in report["answers"]] == expected.names
        assert [a["score"] for a in report["answers"]] == expected.scores.tolist()
        known = {a["names"][0] for a in report["answers"] if a["known"]}
        assert known == {"heist"}

    def test_known_completions_can_be_left_out(self, cli: CommandLine, run: Path) -> None:
        _, out, _ = cli("rank", run, "user=ann", "movie=Heat", "tag=?", "--new-only", "--json", "-")
        names = [a["names"][0] for a in json.loads(out)["answers"]]
        assert "heist" not in names
        assert len(names) == 4

    def test_two_positions_may_be_open_and_unnamed_ones_are(
        self, cli: CommandLine, run: Path
    ) -> None:
        _, named, _ = cli("rank", run, "user=?", "movie=?", "tag=noir", "-k", "3", "--json", "-")
        _, unnamed, _ = cli("rank", run, "tag=noir", "-k", "3", "--json", "-")
        assert named == unnamed
        answers = json.loads(named)["answers"]
        assert len(answers) == 3
        assert all(a["tuple"][2] == "noir" and len(a["names"]) == 2 for a in answers)

    def test_unnamed_positions_may_hold_anything_beside_one_that_is_asked(
        self, cli: CommandLine, run: Path
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

    def test_people_get_a_table(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
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
    def test_mistakes_are_explained(
        self, cli: CommandLine, run: Path, query: list[str], said: str
    ) -> None:
        status, out, err = cli("rank", run, *query)
        assert (status, out) == (1, "")
        assert said in err

    def test_no_question_is_wrong_usage(self, cli: CommandLine, run: Path) -> None:
        assert cli("rank", run)[0] == 2
        assert cli("rank", run, "tag=?", "-k", "0")[0] == 2


class TestQueries:
    def test_repeated_types_fill_positions_from_left_to_right(self) -> None:
        net = HyperNetwork.from_tuples([("a", "b"), ("b", "c")], ("person", "person"))
        both = ("person", "person")
        assert parse_query(net, ["person=a", "person=?"]) == (both, ("a", None))
        assert parse_query(net, ["person=?", "person=a"]) == (both, (None, "a"))

    def test_sets_may_have_any_size(self) -> None:
        net = HyperNetwork.from_tuples([("a", "b"), ("b", "c")], ("x", "x"), ordered=False)
        assert parse_query(net, ["x=a", "x=b", "x=?"]) == (("x",) * 3, ("a", "b", None))

    def test_names_may_hold_anything(self) -> None:
        net = HyperNetwork.from_tuples([("?", "?"), ("x", "y=z")], ("a=b", "a"))
        assert parse_query(net, [r"a=b=\?", "a=?"]) == (("a=b", "a"), ("?", None))
        assert parse_query(net, ["a=b=?", r"a=\?"]) == (("a=b", "a"), (None, "?"))

    def test_integers_are_names_too(self) -> None:
        net = HyperNetwork.from_tuples([(10, "b")], ("user", "movie"))
        assert parse_query(net, ["user=10", "movie=?"])[1] == (10, None)

    def test_several_edge_types_are_told_apart(self) -> None:
        net = HyperNetwork.from_columns(
            [
                EdgeColumns(EdgeType(("user", "movie")), [["u"], ["m"]]),
                EdgeColumns(EdgeType(("user", "movie", "tag")), [["u"], ["m"], ["t"]]),
                EdgeColumns(EdgeType(("movie", "user")), [["m"], ["u"]]),
            ]
        )
        assert parse_query(net, ["user=u", "movie=?"])[0] == ("user", "movie")
        assert parse_query(net, ["movie=m", "user=?"])[0] == ("movie", "user")
        assert parse_query(net, ["tag=?", "movie=m"])[0] == ("user", "movie", "tag")
        with pytest.raises(DHNEError, match="several edge types"):
            parse_query(net, ["user=u"])


class TestSimilar:
    def test_several_names_give_several_answers(self, cli: CommandLine, run: Path) -> None:
        status, out, _ = cli(
            "similar", run, "movie", "Heat", "12 Monkeys", "-k", "1", "--json", "-"
        )
        assert status == 0
        expected = dhne.load(run).similar("movie", ["Heat", "12 Monkeys"], 1)
        assert [[a["name"] for a in r["answers"]] for r in json.loads(out)] == [
            e.names for e in expected
        ]

    def test_people_get_a_table(self, cli: CommandLine, run: Path) -> None:
        _, out, _ = cli("similar", run, "movie", "Heat")
        assert "like Heat" in out
        assert "Alien" in out

    def test_mistakes_are_explained(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
        assert "'movie'" in cli("similar", run, "moive", "Heat")[2]
        assert "'Heat'" in cli("similar", run, "movie", "heat")[2]
        status, _, err = cli("similar", tmp_path, "movie", "Heat")
        assert status == 1
        assert "not a run" in err


class TestScore:
    def test_the_table_comes_back_with_scores(self, cli: CommandLine, run: Path) -> None:
        status, out, _ = cli("score", run, run.parent / "tags.csv", "--columns", COLUMNS)
        assert status == 0
        rows = list(csv.DictReader(io.StringIO(out)))
        assert list(rows[0]) == ["userId", "movieId", "tag", "when", "score"]
        tuples = [(r["userId"], r["movieId"], r["tag"]) for r in rows]
        expected = dhne.load(run).score(tuples)
        np.testing.assert_array_equal([float(r["score"]) for r in rows], expected)

    def test_scores_are_explained(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
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
    def test_it_goes_to_a_file(
        self, cli: CommandLine, run: Path, tmp_path: Path, name: str
    ) -> None:
        table = tmp_path / "tuples.csv"
        table.write_text("tag,user,movie\nnoir,ann,Heat\nspace,bob,Alien\n")
        status, out, _ = cli("score", run, table, "--sort", "--out", tmp_path / name)
        assert (status, out) == (0, "")
        assert (tmp_path / name).stat().st_size > 0
        if name == "out.parquet":
            scores = pq.read_table(tmp_path / name)["score"].to_pylist()
            assert scores == sorted(scores, reverse=True)

    def test_unknown_names_are_named_or_skipped(
        self, cli: CommandLine, run: Path, tmp_path: Path
    ) -> None:
        table = tmp_path / "tuples.csv"
        table.write_text("user,movie,tag\nann,Heat,noir\nann,Heta,noir\n")
        status, _, err = cli("score", run, table)
        assert status == 1
        assert "tuples.csv:3: column 'movie'" in err
        assert "'Heat'" in err
        status, out, _ = cli("score", run, table, "--skip-unknown", "--json", "-")
        assert status == 0
        assert [r["score"] is None for r in json.loads(out)] == [False, True]

    def test_other_columns_are_explained(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.csv"
        other.write_text("who,what,how\nann,Heat,noir\n")
        status, _, err = cli("score", run, other)
        assert status == 1
        assert "--columns" in err
        status, _, err = cli("score", run, run.parent / "tags.csv", "--out", tmp_path / "x.npz")
        assert status == 1
        assert ".parquet" in err


class TestEmbed:
    def test_every_node_type_is_an_array(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
        status, out, err = cli("embed", run, "--out", tmp_path / "v.npz")
        assert (status, out) == (0, "")
        assert "3 movie" in err
        model = dhne.load(run)
        with np.load(tmp_path / "v.npz", allow_pickle=False) as found:
            for t, matrix in model.vectors_.items():
                np.testing.assert_array_equal(found[t], matrix)
                assert found[f"names/{t}"].tolist() == model.network_.names(t).to_pylist()

    def test_one_type_can_be_chosen(self, cli: CommandLine, run: Path, tmp_path: Path) -> None:
        assert cli("embed", run, "--out", tmp_path / "v.vec", "--type", "movie")[0] == 0
        lines = (tmp_path / "v.vec").read_text().splitlines()
        assert lines[0] == "3 4"
        assert [x.split()[0] for x in lines[1:]] == ["Heat", "Alien", "12%20Monkeys"]
        assert "'movie'" in cli("embed", run, "--out", tmp_path / "v.vec", "--type", "moive")[2]

    def test_new_nodes_are_embedded_from_their_edges(
        self, cli: CommandLine, run: Path, tmp_path: Path
    ) -> None:
        new = tmp_path / "new.csv"
        new.write_text("user,movie,tag\nzoe,Heat,noir\nann,Brazil,space\n")
        assert cli("embed", run, "--out", tmp_path / "v.npz", "--edges", new)[0] == 0
        with np.load(tmp_path / "v.npz") as found:
            assert set(found) == {"user", "names/user", "movie", "names/movie"}
            assert found["names/user"].tolist() == ["zoe"]
            table = dhne.load(run).transform([("zoe", "Heat", "noir"), ("ann", "Brazil", "space")])
            row = table["user"]["name"].to_pylist().index("zoe")
            expected = np.float32(table["user"]["vector"][row].as_py())
            np.testing.assert_array_equal(found["user"][0], expected)

    def test_new_nodes_without_a_known_one_are_refused_or_kept(
        self, cli: CommandLine, run: Path, tmp_path: Path
    ) -> None:
        new = tmp_path / "new.csv"
        new.write_text("user,movie,tag\nzoe,Brazil,odd\nann,Heat,noir\n")
        options = ["embed", run, "--out", tmp_path / "v.npz", "--edges", new]
        status, _, err = cli(*options)
        assert status == 1
        assert "zoe" in err
        assert not (tmp_path / "v.npz").exists()
        assert cli(*options, "--keep-isolated")[0] == 0

    def test_mistakes_are_said_before_the_work(
        self, cli: CommandLine, run: Path, tmp_path: Path
    ) -> None:
        status, _, err = cli("embed", tmp_path / "no-run", "--out", tmp_path / "v.xlsx")
        assert status == 1
        assert ".parquet" in err
        assert cli("embed", run)[0] == 2
        known = tmp_path / "known.csv"
        known.write_text("user,movie,tag\nann,Heat,noir\n")
        assert (
            "known already" in cli("embed", run, "--out", tmp_path / "v.npz", "--edges", known)[2]
        )


@pytest.mark.parametrize("command", ["train", "embed", "score", "rank", "similar", "demo"])
def test_help_has_examples(cli: CommandLine, command: str) -> None:
    status, out, _ = cli(command, "--help")
    assert status == 0
    assert f"dhne {command}" in out
    assert "Example" in out


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


def test_vectors_as_csv(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    assert cli("embed", run, "--out", tmp_path / "v.csv")[0] == 0
    lines = (tmp_path / "v.csv").read_text().splitlines()
    assert lines[0] == "type,name,x1,x2,x3,x4"
    assert any(line.startswith("movie,12 Monkeys,") for line in lines)
