"""`dhne embed`: vectors in files, of known and of new nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dhne
from tests.cli.runs import CommandLine


def test_every_node_type_is_an_array(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    status, out, err = cli("embed", run, "--out", tmp_path / "v.npz")
    assert (status, out) == (0, "")
    assert "3 movie" in err
    model = dhne.load(run)
    with np.load(tmp_path / "v.npz", allow_pickle=False) as found:
        for t, matrix in model.vectors_.items():
            np.testing.assert_array_equal(found[t], matrix)
            assert found[f"names/{t}"].tolist() == model.network_.names(t).to_pylist()


def test_one_type_can_be_chosen(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    assert cli("embed", run, "--out", tmp_path / "v.vec", "--type", "movie")[0] == 0
    lines = (tmp_path / "v.vec").read_text().splitlines()
    assert lines[0] == "3 4"
    assert [x.split()[0] for x in lines[1:]] == ["Heat", "Alien", "12%20Monkeys"]
    assert "'movie'" in cli("embed", run, "--out", tmp_path / "v.vec", "--type", "moive")[2]


def test_new_nodes_are_embedded_from_their_edges(
    cli: CommandLine, run: Path, tmp_path: Path
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
    cli: CommandLine, run: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("user,movie,tag\nzoe,Brazil,odd\nann,Heat,noir\n")
    options = ["embed", run, "--out", tmp_path / "v.npz", "--edges", new]
    status, _, err = cli(*options)
    assert status == 1
    assert "zoe" in err
    assert not (tmp_path / "v.npz").exists()
    assert cli(*options, "--keep-isolated")[0] == 0


def test_mistakes_are_said_before_the_work(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    status, _, err = cli("embed", tmp_path / "no-run", "--out", tmp_path / "v.xlsx")
    assert status == 1
    assert ".parquet" in err
    assert cli("embed", run)[0] == 2
    known = tmp_path / "known.csv"
    known.write_text("user,movie,tag\nann,Heat,noir\n")
    assert "known already" in cli("embed", run, "--out", tmp_path / "v.npz", "--edges", known)[2]


def test_vectors_as_csv(cli: CommandLine, run: Path, tmp_path: Path) -> None:
    assert cli("embed", run, "--out", tmp_path / "v.csv")[0] == 0
    lines = (tmp_path / "v.csv").read_text().splitlines()
    assert lines[0] == "type,name,x1,x2,x3,x4"
    assert any(line.startswith("movie,12 Monkeys,") for line in lines)
