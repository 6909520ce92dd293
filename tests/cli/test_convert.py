"""`dhne convert`: every format, there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dhne import read
from dhne.datasets import load_dataset
from tests.cli.runs import CommandLine


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "hif.json", "npz"])
def test_convert_there_and_back(cli: CommandLine, tmp_path: Path, ending: str) -> None:
    there, back = tmp_path / f"x.{ending}", tmp_path / "y.hif.json"
    status, out, err = cli("convert", "wordnet-sample", there)
    assert (status, out) == (0, "")
    assert f"{there}: " in err.replace("\n", "")
    assert cli("convert", there, back)[0] == 0
    assert read(back) == read(there) == load_dataset("wordnet-sample", "all")


def test_four_columns_repeated_types_and_two_tables(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "four.csv").write_text("a,b,c,d\n1,2,3,4\n")
    (tmp_path / "links.tsv").write_text("head\trel\ttail\tn\nx\tr\ty\t2\ny\tr\tx\t1\n")
    (tmp_path / "pairs.csv").write_text("u,m\nann,Heat\nbob,Heat\nbob,Alien\n")
    (tmp_path / "triples.csv").write_text("u,m,t\nann,Heat,noir\n")
    assert cli("convert", tmp_path / "four.csv", tmp_path / "four.npz")[0] == 0
    assert read(tmp_path / "four.npz").edge_types == (("a", "b", "c", "d"),)

    columns = "person=head,relation=rel,person=tail"
    arguments = ("--columns", columns, "--weight", "n", "--unordered", "--fold")
    assert cli("convert", tmp_path / "links.tsv", tmp_path / "l.json", *arguments)[0] == 0
    links = read(tmp_path / "l.json")
    assert links.edge_types == (("person", "relation", "person"),)
    assert links.weights().tolist() == [3]

    mappings = ("--columns", "user=u,movie=m", "--columns", "user=u,movie=m,tag=t")
    both = ("convert", tmp_path / "pairs.csv", tmp_path / "triples.csv", tmp_path / "both.parquet")
    assert cli(*both, *mappings)[0] == 0
    network = read(tmp_path / "both.parquet")
    assert network.edge_types == (("user", "movie"), ("user", "movie", "tag"))
    assert network.num_nodes("user") == 2


def test_convert_keeps_what_hif_holds_and_lists_what_is_lost(
    cli: CommandLine, tmp_path: Path
) -> None:
    edges = {"e1": "ab", "e2": "ab", "e3": "bc"}
    pairs = [{"edge": e, "node": n} for e, members in edges.items() for n in members]
    document = {"incidences": pairs, "edges": [{"edge": "e3", "attrs": {"year\x1b[2J": 1999}}]}
    source = tmp_path / "a.hif.json"
    source.write_text(json.dumps(document))
    assert cli("convert", source, tmp_path / "b.hif.json")[:2] == (0, "")
    kept = json.loads((tmp_path / "b.hif.json").read_text())["edges"]
    assert [e["edge"] for e in kept] == ["e3", "e1", "e2"]  # as their records come
    assert kept[0]["attrs"]["year\x1b[2J"] == 1999

    _, _, err = cli("convert", source, tmp_path / "b.csv")
    said = " ".join(err.split())
    assert "only HIF can hold these, left out: ids of edges; attributes of edges (year" in said
    assert "\x1b" not in err
    _, _, err = cli("convert", source, tmp_path / "c.hif.json", "--fold")
    said = " ".join(err.split())
    assert "2 folded hyperedges have lost the ids and attributes" in said
