"""Tables joined into one network: names shared, integers recognised, fields checked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dhne import read_table
from dhne.errors import InputError
from dhne.io import read_tables


def test_integers_of_csv_and_parquet_meet(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n7,k\n")
    numbers, strings = pa.table({"a": [7], "c": ["z"]}), pa.table({"a": ["7"], "c": ["z"]})
    assert read_tables([tmp_path / "x.csv", numbers]).names("a").to_pylist() == [7]
    assert read_tables([tmp_path / "x.csv", strings]).names("a").to_pylist() == ["7"]


def test_names_missing_in_memory_are_said_by_row() -> None:
    for table in (
        pd.DataFrame({"a": ["x", None], "b": ["y", "z"]}),
        pl.DataFrame({"a": [1.0, float("nan")], "b": ["y", "z"]}),
    ):
        with pytest.raises(InputError, match="column 'a': row 2: the name is missing"):
            read_table(table, ["a", "b"])


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


def test_tables_of_one_type_are_joined_and_a_missing_weight_counts_as_one() -> None:
    weighted = pa.table({"a": ["x"], "b": ["y"], "weight": [2.5]})
    plain = pa.table({"a": ["z"], "b": ["y"]})
    (edges,) = read_tables([weighted, plain]).edge_sets
    assert edges.weights.tolist() == [2.5, 1.0]
    assert edges.nodes.tolist() == [[0, 0], [1, 0]]


def test_an_edge_type_is_ordered_in_every_table_or_in_none() -> None:
    table = pa.table({"a": ["x"], "b": ["y"]})
    columns = [("person", "a"), ("person", "b")]
    tables = [(table, {"columns": columns, "ordered": ordered}) for ordered in (True, False)]
    with pytest.raises(InputError, match="ordered in one table, not in the other"):
        read_tables(tables)
