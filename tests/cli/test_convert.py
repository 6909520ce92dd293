"""`dhne convert`: every format, there and back."""

from __future__ import annotations

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
