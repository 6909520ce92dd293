"""Tables, in files and in memory, mapped to node types; what is wrong is said with its place."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne import HyperNetwork, read_table
from dhne.errors import InputError
from dhne.io import UnsuitableColumnsError, read, read_tables

TAGS = {"userId": [1, 1, 2], "movieId": ["Heat", "Alien", "Heat"], "tag": ["a", "b", "a"]}
COLUMNS = {"user": "userId", "movie": "movieId", "tag": "tag"}
EXPECTED = HyperNetwork.from_tuples(
    [(1, "Heat", "a"), (1, "Alien", "b"), (2, "Heat", "a")], ("user", "movie", "tag")
)


def text(delimiter: str = ",") -> str:
    rows = [TAGS.keys(), *zip(*TAGS.values(), strict=True)]
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, dict])
def test_tables_in_memory(make: type) -> None:
    assert read_table(make(TAGS), COLUMNS) == EXPECTED


def test_files_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text())
    (tmp_path / "a.tsv").write_text(text("\t"))
    (tmp_path / "b.csv").write_text(text(";"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text().encode()))
    pq.write_table(pa.table(TAGS), tmp_path / "a.parquet")
    for name in ("a.csv", "a.tsv", "a.csv.gz", "a.parquet"):
        assert read_table(tmp_path / name, COLUMNS) == EXPECTED
        assert read(tmp_path / name, columns=COLUMNS) == EXPECTED
    assert read_table(str(tmp_path / "b.csv"), COLUMNS, delimiter=";") == EXPECTED


def test_every_column_is_a_type_unless_said_otherwise() -> None:
    network = read_table(pa.table({"a": ["x"], "weight": [2.5], "b": ["y"]}))
    assert network.edge_types == (("a", "b"),)
    assert network.weights().tolist() == [2.5]


def test_four_columns_and_categories() -> None:
    frame = pd.DataFrame(
        {c: pd.Categorical(["x", "y", "x"]) for c in "abcd"}, index=["i", "j", "k"]
    )
    assert read_table(frame).edge_types == (("a", "b", "c", "d"),)
    assert read_table(pl.from_pandas(frame)).num_nodes() == 8


def test_repeated_node_types_in_any_order() -> None:
    table = pa.table({"h": ["a", "b"], "r": ["knows", "knows"], "t": ["b", "a"], "n": [2, 3]})
    grouped = read_table(table, {"person": ["h", "t"], "relation": "r"}, weight="n")
    assert grouped.edge_types == (("person", "person", "relation"),)
    paired = read_table(table, [("person", "h"), ("relation", "r"), ("person", "t")])
    assert paired.edge_types == (("person", "relation", "person"),)
    assert paired.num_nodes("person") == 2
    co_authors = read_table(table, {"person": ["h", "t"]}, ordered=False)
    assert co_authors.edge_set().num_distinct() == 1


def test_tables_of_different_lengths_share_names() -> None:
    network = read_tables(
        [
            (
                pa.table({"u": [1, 2], "m": ["Heat", "Alien"]}),
                {"columns": {"user": "u", "movie": "m"}},
            ),
            (pa.table(TAGS), {"columns": COLUMNS}),
            (pa.table({"u": [9], "m": ["Heat"]}), {"columns": {"user": "u", "movie": "m"}}),
        ]
    )
    assert network.edge_types == (("user", "movie"), ("user", "movie", "tag"))
    assert network.num_edges(("user", "movie")) == 3
    assert network.names("user").to_pylist() == [1, 2, 9]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        (["7", "-12"], [7, -12]),
        (["007", "12"], ["007", "12"]),
        (["+7", "12"], ["+7", "12"]),
        (["1", "x"], ["1", "x"]),
        (["NaN", "null"], ["NaN", "null"]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        ([" 7", "8"], [" 7", "8"]),
    ],
)
def test_names_in_text_are_integers_only_as_integers_print(
    tmp_path: Path, fields: list[str], names: list[object]
) -> None:
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{f},k\n" for f in fields))
    assert read_table(tmp_path / "x.csv").names("a").to_pylist() == names


def test_integers_of_csv_and_parquet_meet(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n7,k\n")
    numbers, strings = pa.table({"a": [7], "c": ["z"]}), pa.table({"a": ["7"], "c": ["z"]})
    assert read_tables([tmp_path / "x.csv", numbers]).names("a").to_pylist() == [7]
    assert read_tables([tmp_path / "x.csv", strings]).names("a").to_pylist() == ["7"]


def test_quotes_newlines_blank_lines_and_bom(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes('\ufeff"a",b\r\n\r\n"x\ny","q""q"\r\nü, \r\n'.encode())
    network = read_table(tmp_path / "x.csv")
    assert network.names("a").to_pylist() == ["x\ny", "ü"]
    assert network.names("b").to_pylist() == ['q"q', " "]


def test_other_encodings_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("a,b\né,x\n".encode("latin-1"))
    assert read_table(tmp_path / "x.csv", encoding="latin-1").names("a").to_pylist() == ["é"]


BAD = {
    "empty": (b"", "x.csv: the file is empty"),
    "blank": (b"\n\n", "x.csv: the file is empty"),
    "header only": (b"a,b\n", "x.csv: there is a header but no row below it"),
    "header without end": (b"a,b", "x.csv: there is a header but no row below it"),
    "ragged short": (b"a,b\n1,2\n3\n", "x.csv:3: this line has 1 columns, the header has 2"),
    "ragged long": (b'a,b\n"1\n1",2\n\n3,4,5\n', "x.csv:5: this line has 3 columns"),
    "repeated column": (b"a,a\n1,2\n", "x.csv:1: column 'a': this column appears twice"),
    "one column": (b"a\n1\n", "x.csv: a hyperedge needs at least two columns, got 1: a"),
    "other delimiter": (b"a;b\n1;2\n", "is the delimiter ';'?"),
    "encoding": (b"a,b\n1,2\n3,\xe9t\xe9\n", "x.csv:3: this is not UTF-8 text"),
    "encoding of the header": (b"\xe9,b\n1,2\n", "x.csv:1: this is not UTF-8 text"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "x.csv: this is UTF-16"),
    "null name": (b"a,b\n1,2\n\n,2\n", "x.csv:4: column 'a': the name is missing"),
    "empty name": (b'a,b\n1,2\n"",2\n', "x.csv:3: column 'a': the name is empty"),
    "NaN weight": (b"a,b,weight\n1,2,NaN\n", "x.csv:2: column 'weight': the weight is nan"),
    "negative weight": (
        b"a,b,weight\n1,2,1\n1,2,-3\n",
        "x.csv:3: column 'weight': the weight is -3",
    ),
    "zero weight": (b"a,b,weight\n1,2,0\n", "x.csv:2: column 'weight': the weight is 0.0"),
    "infinite weight": (b"a,b,weight\n1,2,1e999\n", "x.csv:2: column 'weight': the weight is inf"),
    "word for a weight": (
        b"a,b,weight\n1,2,3\n1,2,3\n1,2,many\n1,2,few\n",
        "x.csv:4: column 'weight': the weight 'many' is not a number",
    ),
    "no weight": (b"a,b,weight\n1,2,\n", "x.csv:2: column 'weight': the weight is missing"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_text_gets_one_clear_line(tmp_path: Path, case: str) -> None:
    data, message = BAD[case]
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "x.csv")
    assert message in str(caught.value).replace(f"{tmp_path}/", "")
    assert "\n" not in str(caught.value)


def test_missing_column_suggests_near_ones() -> None:
    with pytest.raises(InputError, match="no column 'movieID'; did you mean 'movieId'"):
        read_table(pa.table(TAGS), {"user": "userId", "movie": "movieID"})
    with pytest.raises(InputError, match="no column 'qqqq'; the columns are: userId, movieId, tag"):
        read_table(pa.table(TAGS), {"user": "userId", "movie": "movieId"}, weight="qqqq")


def test_names_missing_in_memory_are_said_by_row() -> None:
    for table in (
        pd.DataFrame({"a": ["x", None], "b": ["y", "z"]}),
        pl.DataFrame({"a": [1.0, float("nan")], "b": ["y", "z"]}),
    ):
        with pytest.raises(InputError, match="column 'a': row 2: the name is missing"):
            read_table(table, ["a", "b"])


@pytest.mark.parametrize("columns", ["ab", [("a",)], [3], {"a": 3}, {"a": "a"}, []])
def test_nonsense_for_columns_is_refused(columns: object) -> None:
    with pytest.raises(InputError):
        read_table(pa.table({"a": ["x"], "b": ["y"]}), columns)  # type: ignore[arg-type]


def test_measures_and_times_are_not_taken_for_names(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("userId,movieId,rating,timestamp\n1,2,3.5,100\n")
    with pytest.raises(UnsuitableColumnsError, match="'rating' holds decimal numbers") as caught:
        read(tmp_path / "r.csv")
    assert caught.value.suitable == ["userId", "movieId"]
    when = pa.table({"a": ["x"], "b": ["y"], "t": pa.array([0], pa.timestamp("s"))})
    with pytest.raises(UnsuitableColumnsError, match="'t' holds times"):
        read_table(when)


@pytest.mark.parametrize("source", [3, None, [("a", "b")], object()])
def test_what_is_no_table_is_refused(source: object) -> None:
    with pytest.raises(InputError, match="give a file's name"):
        read_table(source)
