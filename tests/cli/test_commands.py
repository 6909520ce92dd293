"""`dhne info`, `dhne convert` and `dhne datasets`, as people call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dhne import HyperNetwork, __version__, load, read
from dhne.cli import main
from dhne.cli.registry import COMMANDS
from dhne.datasets import load_dataset


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Return a function that runs the command line and gives (status, output, complaints)."""
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def tags(tmp_path: Path) -> Path:
    path = tmp_path / "tags.csv"
    path.write_text("userId,movieId,tag,timestamp\n1,Heat,heist,9\n2,Heat,noir,9\n2,Heat,noir,9\n")
    return path


MAPPING = "user=userId,movie=movieId,tag=tag"


def test_info_shows_readable_names_of_the_sample(run) -> None:  # type: ignore[no-untyped-def]
    status, out, err = run("info", "wordnet-sample")
    assert (status, err) == (0, "")
    network = load_dataset("wordnet-sample", "all")
    assert f"{network.num_edges():,} hyperedges" in out
    assert "(head, relation, tail)" in out
    assert "part_of" in out
    assert "Labels" in out


def test_info_shows_the_repeats_and_leaks_of_drug(
    run, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    status, out, _ = run("info", "drug")
    assert status == 0
    assert "75,691" in out
    assert "23,025 of 34,352 test rows (67%) are also in train" in out
    status, out, _ = run("info", "drug", "--json", "-")
    report = json.loads(out)
    assert report["parts"]["train"] == {"edges": 137_404, "distinct": 61_713, "repeats": 75_691}
    assert report["parts"]["test_in_train"] == 23_025


def test_info_of_a_table(run, tags: Path) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = run("info", tags, "--columns", MAPPING)
    assert status == 0
    assert "(user, movie, tag)" in out
    status, out, err = run("info", tags, "--columns", MAPPING, "--json", "-")
    report = json.loads(out)  # nothing else goes there
    assert report["edge_types"][0]["repeats"] == 1
    assert err == ""


def test_info_writes_json_to_a_file(run, tags: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = run("info", tags, "--columns", MAPPING, "--json", tmp_path / "x.json")
    assert status == 0
    assert "hyperedges" in out
    assert json.loads((tmp_path / "x.json").read_text())["edges"] == 3


def test_info_of_a_run(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from dhne.storage import RunContents, begin_run, save_run

    root = tmp_path / "run"
    begin_run(root, {"dim": 64})
    status, out, _ = run("info", root)
    assert status == 0
    assert "training" in out
    network = HyperNetwork.from_tuples([("ann", "Heat")], ("the user/s", "movie"))
    save_run(root, RunContents({"alpha": 0.1}, {}, network, {}, [{"epoch": 1, "loss": 0.5}]))
    status, out, _ = run("info", root)
    assert status == 0
    assert "alpha" in out
    assert "the user/s" in out
    assert "loss 0.5" in out
    (root / "config.json").unlink()
    status, _, err = run("info", root)
    assert status == 1
    assert "config.json: missing" in err


def test_unmapped_table_shows_its_columns_and_the_command_to_use(run, tags: Path) -> None:  # type: ignore[no-untyped-def]
    status, out, err = run("info", tags)
    assert (status, out) == (1, "")
    assert "found the columns userId, movieId, tag, timestamp" in err
    assert "--columns userId=userId,movieId=movieId,tag=tag" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "hif.json", "npz"])
def test_convert_there_and_back(run, tmp_path: Path, ending: str) -> None:  # type: ignore[no-untyped-def]
    there, back = tmp_path / f"x.{ending}", tmp_path / "y.hif.json"
    status, out, err = run("convert", "wordnet-sample", there)
    assert (status, out) == (0, "")
    assert f"{there}: " in err.replace("\n", "")
    assert run("convert", there, back)[0] == 0
    assert read(back) == read(there) == load_dataset("wordnet-sample", "all")


def test_four_columns_repeated_types_and_two_tables(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "four.csv").write_text("a,b,c,d\n1,2,3,4\n")
    (tmp_path / "links.tsv").write_text("head\trel\ttail\tn\nx\tr\ty\t2\ny\tr\tx\t1\n")
    (tmp_path / "pairs.csv").write_text("u,m\nann,Heat\nbob,Heat\nbob,Alien\n")
    (tmp_path / "triples.csv").write_text("u,m,t\nann,Heat,noir\n")
    assert run("convert", tmp_path / "four.csv", tmp_path / "four.npz")[0] == 0
    assert read(tmp_path / "four.npz").edge_types == (("a", "b", "c", "d"),)

    columns = "person=head,relation=rel,person=tail"
    arguments = ("--columns", columns, "--weight", "n", "--unordered", "--fold")
    assert run("convert", tmp_path / "links.tsv", tmp_path / "l.json", *arguments)[0] == 0
    links = read(tmp_path / "l.json")
    assert links.edge_types == (("person", "relation", "person"),)
    assert links.weights().tolist() == [3]

    mappings = ("--columns", "user=u,movie=m", "--columns", "user=u,movie=m,tag=t")
    both = ("convert", tmp_path / "pairs.csv", tmp_path / "triples.csv", tmp_path / "both.parquet")
    assert run(*both, *mappings)[0] == 0
    network = read(tmp_path / "both.parquet")
    assert network.edge_types == (("user", "movie"), ("user", "movie", "tag"))
    assert network.num_nodes("user") == 2


def test_convert_keeps_what_hif_holds_and_lists_what_is_lost(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    edges = {"e1": "ab", "e2": "ab", "e3": "bc"}
    pairs = [{"edge": e, "node": n} for e, members in edges.items() for n in members]
    document = {"incidences": pairs, "edges": [{"edge": "e3", "attrs": {"year\x1b[2J": 1999}}]}
    source = tmp_path / "a.hif.json"
    source.write_text(json.dumps(document))
    assert run("convert", source, tmp_path / "b.hif.json")[:2] == (0, "")
    kept = json.loads((tmp_path / "b.hif.json").read_text())["edges"]
    assert [e["edge"] for e in kept] == ["e3", "e1", "e2"]  # as their records come
    assert kept[0]["attrs"]["year\x1b[2J"] == 1999

    _, _, err = run("convert", source, tmp_path / "b.csv")
    said = " ".join(err.split())
    assert "only HIF can hold these, left out: ids of edges; attributes of edges (year" in said
    assert "\x1b" not in err
    _, _, err = run("convert", source, tmp_path / "c.hif.json", "--fold")
    said = " ".join(err.split())
    assert "2 folded hyperedges have lost the ids and attributes" in said


def test_datasets_lists_them_and_where_they_are(run) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = run("datasets")
    assert status == 0
    assert "wordnet-sample" in out
    assert "bundled" in out
    status, out, _ = run("datasets", "--json", "-")
    names = [d["name"] for d in json.loads(out)]
    assert {"gps", "movielens", "drug", "wordnet", "wordnet-sample"} <= set(names)


def test_datasets_build_says_what_is_missing(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "w.parquet"
    status, _, err = run("datasets", "build", "wordnet", "--from", tmp_path, "--out", out)
    assert status == 1
    assert str(tmp_path) in err.replace("\n", "")
    assert not out.exists()
    status, _, err = run("datasets", "build", "wordnett", "--from", tmp_path, "--out", out)
    assert status == 1
    assert "did you mean 'wordnet'" in err


MISTAKES = [
    (["info", "wordnet-sampel"], "did you mean 'wordnet-sample'"),
    (["info", "nowhere.csv"], "nowhere.csv: there is no such file"),
    (["info", "/"], "this is a directory"),
    (["convert", "wordnet-sample", "x.docx"], "unknown format"),
    (["convert", "wordnet-sample", "nowhere/x.csv"], "there is no directory 'nowhere'"),
    (["info", "wordnet-sample", "--weight", "n"], "it needs none of --weight"),
    (["info", "a.csv", "--columns", "user="], "cannot make sense of 'user='"),
    (["info", "a.csv", "--columns", "a=b,c=d", "--columns", "x,y"], "given 2 times for 1 file"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_one_line_and_status_1(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("dhne: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [["inf"], ["info"], ["info", "x.csv", "--colums", "a"], ["convert", "wordnet-sample"]],
)
def test_wrong_usage_is_status_2(run, arguments: list[str]) -> None:  # type: ignore[no-untyped-def]
    status, _, err = run(*arguments)
    assert status == 2
    assert "dhne" in err or "Usage" in err


def test_warnings_are_one_line(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "x.json"
    path.write_text('{"incidences": [{"edge": 1, "node": 1}]}')
    status, out, err = run("info", path, "--json", "-")
    assert status == 0
    assert json.loads(out)["nodes"] == 1
    assert err.startswith("dhne: warning: ")
    assert err.count("\n") == 1


def test_names_from_data_are_not_markup(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from dhne import write

    write(HyperNetwork.from_tuples([("[red]x", "[/b]")], ("[bold]a", "b")), tmp_path / "x.npz")
    status, out, _ = run("info", tmp_path / "x.npz")
    assert status == 0
    assert "[bold]a" in out
    assert "[red]x" in out


def test_help_and_version(run) -> None:  # type: ignore[no-untyped-def]
    assert run("--version")[:2] == (0, f"dhne {__version__}\n")
    for arguments in ([], ["--help"]):
        status, out, _ = run(*arguments)
        assert status == 0
        assert "convert" in out
    for command in ("info", "convert", "datasets"):
        status, out, _ = run(command, "--help")
        assert status == 0
        assert "Usage" in out


def test_every_command_of_the_list_has_a_summary() -> None:
    assert all(summary.endswith(".") for _, summary in COMMANDS)


def test_info_and_help_load_no_torch() -> None:
    code = (
        "import sys; from dhne.cli import main; main({!r}); "
        "sys.exit(any(m in sys.modules for m in ('torch', 'numba', 'sklearn')))"
    )
    for arguments in (["--help"], ["info", "wordnet-sample"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(arguments)], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_no_colour_in_pipes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dhne", "info", "wordnet-sample"], capture_output=True, check=True
    )
    assert b"\x1b" not in done.stdout


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    rows = [f"u{i % 8},m{i * 3 % 23},2024-01-{i % 28 + 1:02}" for i in range(56)]
    path.write_text("\n".join(["user,movie,date", *rows]) + "\n")
    return path


def test_a_column_of_dates_is_named_in_the_command_to_use(run, dated: Path) -> None:  # type: ignore[no-untyped-def]
    status, _, err = run("train", dated, "--out", dated.parent / "run")
    assert status == 1
    assert "'date' holds dates" in err
    assert "--columns user=user,movie=movie --time date" in err
    assert not (dated.parent / "run").exists()


def test_info_and_convert_keep_times(run, dated: Path) -> None:  # type: ignore[no-untyped-def]
    out = dated.with_name("out.hif.json")
    assert run("convert", dated, out, "--time", "date")[0] == 0
    status, shown, _ = run("info", out)
    assert status == 0
    assert "2024-01-01" in shown
    assert "2024-01-28" in shown
    status, shown, _ = run("info", dated, "--time", "date", "--json", "-")
    assert json.loads(shown)["edge_types"][0]["time"]["last"] == "2024-01-28"


def test_evaluate_on_the_latest_hyperedges(run, dated: Path) -> None:  # type: ignore[no-untyped-def]
    task = ("evaluate", "link-prediction", dated, "--method", "cooccurrence", "--quiet")
    timed = (*task, "--time", "date", "--half-life", "1w", "--json", "-")
    status, out, err = run(*timed, "--time-split", "0.25")
    assert (status, err) == (0, "")
    assert json.loads(out)["config"]["edges"] == {"train": 42, "test": 14}
    status, _, err = run(*task, "--columns", "user=user,movie=movie", "--time-split", "0.25")
    assert status == 1
    assert "have no times" in err
    status, _, err = run(*timed, "--time-split", "0.25", "--keep", "0.5")
    assert status != 0
    assert "--keep" in err


def test_a_half_life_weighs_what_is_trained_on(run, dated: Path) -> None:  # type: ignore[no-untyped-def]
    out = dated.parent / "run"
    given = ("--time", "date", "--epochs", "1", "--dim", "2", "--quiet")
    assert run("train", dated, "--out", out, "--half-life", "7d", *given)[0] == 0
    weights = load(out).network_.weights()
    assert weights.max() == 1
    assert weights.min() == pytest.approx(2 ** (-27 / 7))
    status, _, err = run("train", dated, "--out", out, "--overwrite", "--half-life", "7", *given)
    assert status == 1
    assert "needs a unit" in err
