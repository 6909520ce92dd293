"""CSV and TSV: what is refused, and where."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dhne import HyperNetwork, read, read_table, write
from dhne.errors import InputError, InputWarning
from dhne.io.delimited import read_delimited, stream_delimited


def put(folder: Path, data: bytes | str, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("place", ["header", "name", "line"])
def test_nul_bytes_are_refused_with_their_line(tmp_path: Path, place: str) -> None:
    rows = [f"u{i},m{i % 7}" for i in range(2000)]
    lines = ["user,movie", *rows]
    number = {"header": 0, "name": 1234, "line": 2000}[place]
    lines[number] = lines[number][:2] + "\0" + lines[number][2:]
    path = put(tmp_path, "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"x\.csv:{number + 1}: this line contains a NUL byte"):
        read_table(path)


def test_names_with_nul_bytes_are_written_where_they_can_be_kept(tmp_path: Path) -> None:
    network = HyperNetwork.from_tuples([("a\0b", "x"), ("c", "y")], ("p", "q"))
    for ending in (".csv", ".tsv.gz"):
        with pytest.raises(InputError, match=r"NUL byte.*\.parquet"):
            write(network, tmp_path / f"x{ending}")
        assert list(tmp_path.iterdir()) == []
    for ending in (".parquet", ".hif.json", ".npz"):
        write(network, tmp_path / f"x{ending}")
        assert read(tmp_path / f"x{ending}") == network


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\nx,y\n"z,w\nq,r\n', 3),
        ('a,b\nx,"y\nz,w\n', 2),
        ('a,b\nx,y\nz,w"\nq,"r\n', 4),
        ('a,b\nx,y\nz,"w', 3),
        ('"a,b\nx,y\n', 1),
    ],
)
def test_an_unclosed_quote_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"x\.csv:{line}: a quote .* is never closed"):
        read_table(put(tmp_path, text))


def test_quotes_that_are_closed_are_no_problem(tmp_path: Path) -> None:
    text = 'a,b\n"x\ny",5" disk\nz,"say ""hi"""\n"last\n",w\n'
    network = read_table(put(tmp_path, text))
    assert network.names("a").to_pylist() == ["x\ny", "z", "last\n"]
    assert network.names("b").to_pylist() == ['5" disk', 'say "hi"', "w"]


@pytest.mark.parametrize("text", ["ann,Heat\nbob,Alien\nann,Alien\n", "17,ann\n18,bob\n"])
def test_a_missing_header_is_noticed(tmp_path: Path, text: str) -> None:
    with pytest.warns(InputWarning, match="--no-header"):
        read_table(put(tmp_path, text))


def test_a_file_without_a_header(tmp_path: Path) -> None:
    path = put(tmp_path, "ann,Heat,3\nbob,Alien,4\nann,Alien,5\n")
    network = read_table(path, header=False)
    assert network.edge_types == (("c1", "c2", "c3"),)
    assert network.num_edges() == 3
    network = read_table(path, ["user", "movie"], header=False)
    assert network.edge_types == (("user", "movie"),)
    assert network.names("movie").to_pylist() == ["Heat", "Alien"]
    network = read_table(path, {"movie": "c2", "user": "c1"}, weight="c3", header=False)
    assert network.edge_set(("movie", "user")).weights.tolist() == [3, 4, 5]


def test_errors_in_a_file_without_a_header_name_the_right_line(tmp_path: Path) -> None:
    path = put(tmp_path, "ann,Heat\nbob,\n")
    with pytest.raises(InputError, match=r"x\.csv:2: column 'c2': the name is missing"):
        read_table(path, header=False)
    with pytest.raises(InputError, match="3 columns, the first line has 2"):
        read_table(put(tmp_path, "ann,Heat\nbob,Alien,x\n"), header=False)


@pytest.mark.parametrize("columns", [None, {"user": "user", "movie": "movie"}])
def test_a_weight_column_counts_with_and_without_columns(
    tmp_path: Path, columns: dict[str, str] | None
) -> None:
    path = put(tmp_path, "user,movie,weight\nann,Heat,2\nbob,Alien,5\n")
    assert read_table(path, columns).edge_sets[0].weights.tolist() == [2, 5]
    assert read_table(path, columns, weight=False).edge_sets[0].weights.tolist() == [1, 1]
    assert read_table(path, columns, weight=False).edge_types == (("user", "movie"),)


def test_a_weight_column_may_be_a_position(tmp_path: Path) -> None:
    path = put(tmp_path, "user,weight\nann,heavy\nbob,light\n")
    network = read_table(path, {"user": "user", "class": "weight"})
    assert network.edge_sets[0].weights.tolist() == [1, 1]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [False, True])
def test_blocks_end_anywhere(
    ending: str, quoted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are the same wherever blocks are cut, read at once or in batches."""
    rows = [("user", "movie"), *((f"u{i}", f"m{i % 7}" * (i % 5 + 1)) for i in range(200))]
    mark = '"' if quoted else ""
    text = "".join(f"{mark}{a}{mark},{b}{ending}" for a, b in rows)
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    for block in (64, 65, 66, 97, 2**20):
        monkeypatch.setattr("dhne.io.delimited._BLOCK", block)
        table = read_delimited(path)
        assert list(zip(*table.to_pydict().values(), strict=True)) == rows[1:]
        batches = [batch for batch, _ in stream_delimited(path, ["movie", "user"])]
        assert pa.Table.from_batches(batches).equals(table.select(["movie", "user"]))
