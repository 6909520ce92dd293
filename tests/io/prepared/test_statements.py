"""The documented SQL gives the layout that `prepare` gives, run by an engine on whole tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne.io import prepare, read_prepared, read_table
from dhne.io.prepared import statements
from dhne.io.prepared.layout import write_description
from dhne.network.edges import EdgeType
from tests.io.prepared.tables import COLUMNS, random_table

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def copy(connection: duckdb.DuckDBPyConnection, query: str, target: Path) -> None:
    target.mkdir(parents=True)
    connection.execute(f"COPY ({query}) TO '{target}/x.parquet' (FORMAT parquet)")


def test_an_engine_writes_the_same_layout(tmp_path: Path) -> None:
    table, out = random_table(2000, seed=0), tmp_path / "engine"
    table = table.append_column("weight", pa.array([float(1 + i % 3) for i in range(len(table))]))
    whole = read_table(table, COLUMNS)
    connection = duckdb.connect()
    connection.register("tags", table)
    for number, (t, column) in enumerate(COLUMNS.items()):
        counted = statements.names("tags", [column])
        connection.execute(f"CREATE TABLE names_{t} AS {counted}")
        connection.execute(f"CREATE TABLE nodes_{t} AS {statements.nodes(f'names_{t}')}")
        copy(connection, f"FROM nodes_{t}", out / "nodes" / str(number))
    joined = [(f"nodes_{t}", column) for t, column in COLUMNS.items()]
    query = statements.edges("tags", joined, ["weight"])
    connection.execute(f"CREATE TABLE edges AS {query}")
    copy(connection, "FROM edges", out / "edges" / "0")
    types = EdgeType.of(tuple(COLUMNS))
    write_description(out, {t: whole.num_nodes(t) for t in COLUMNS}, {types: 2000})

    pq.write_table(table, tmp_path / "tags.parquet")
    own = prepare(tmp_path / "tags.parquet", tmp_path / "own", columns=COLUMNS)
    found, expected = read_prepared(out), read_prepared(own)
    assert found == expected == whole
    assert all(found.names(t).equals(expected.names(t)) for t in COLUMNS)
    pairs = statements.pairs([("edges", types, True)], "user", "tag")
    copy(connection, pairs, out / "pairs" / "0-2")
    counted, mine = (_sorted(folder / "pairs" / "0-2") for folder in (out, own))
    assert counted.equals(mine.cast(counted.schema))


def _sorted(folder: Path) -> pa.Table:
    return pq.read_table(folder).sort_by([("a", "ascending"), ("b", "ascending")])


@pytest.mark.parametrize(
    "statement",
    [
        statements.names("tags", ["userId"]),
        statements.nodes("names_user"),
        statements.edges("tags", [("nodes_user", "userId"), ("nodes_movie", "title")], ["weight"]),
        statements.pairs([("edges", EdgeType.of(("user", "movie")), True)], "user", "movie"),
    ],
)
def test_the_documentation_shows_them(statement: str) -> None:
    assert statement in PAGE.read_text(encoding="utf-8")


def test_a_node_counts_once_in_a_hyperedge() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE edges AS SELECT * FROM (VALUES (0, 0, 5), (1, 0, 5)) t(n0, n1, n2)"
    )
    tables = [("edges", EdgeType.of(("person", "person", "venue")), False)]
    query = statements.pairs(tables, "person", "person")
    assert connection.execute(query).fetchall() == [(0, 1, 1)]
    query = statements.pairs(tables, "person", "venue")
    assert sorted(connection.execute(query).fetchall()) == [(0, 5, 2), (1, 5, 1)]
