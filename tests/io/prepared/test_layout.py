"""The layout is a contract: what another program wrote is read, what breaks it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dhne
from dhne import HyperNetwork
from dhne.errors import InputError, ParameterError
from dhne.io import is_prepared, read, read_prepared

DESCRIPTION: dict[str, Any] = {
    "format": "dhne prepared network",
    "version": 1,
    "nodes": [{"type": "user"}, {"type": "movie", "count": 2}],
    "edges": [{"types": ["user", "movie"], "count": 3}],
}


def write(directory: Path, file: str, /, **columns: Any) -> None:
    path = directory / file
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, compression="gzip")


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A layout as an engine writes it: several files per table, in no particular order."""
    folder = tmp_path / "prepared"
    write(folder, "nodes/0/part-b.parquet", name=["ann"], degree=[2], id=[0])
    write(folder, "nodes/0/part-a.parquet", name=["bob"], degree=[1], id=pa.array([1], pa.int16()))
    write(folder, "nodes/1/x.parquet", id=[1, 0], name=[9, 7], degree=[1, 2])
    (folder / "nodes" / "1" / "_SUCCESS").touch()
    ids = pa.array([0, 1], pa.int32())
    days = pa.array(np.array(["2024-05-01", "2024-05-02"], "datetime64[D]"))
    write(folder, "edges/0/part-0.snappy.parquet", n1=[0, 0], n0=ids, weight=[1, 2], time=days)
    late = pa.array(np.array(["2024-05-03"], "datetime64[ns]"))
    write(folder, "edges/0/part-1.parquet", time=late, weight=[0.5], n0=[0], n1=[1])
    (folder / "prepared.json").write_text(json.dumps(DESCRIPTION))
    return folder


def test_what_another_program_wrote(prepared: Path) -> None:
    network = read_prepared(prepared)
    expected = HyperNetwork.from_tuples(
        [("ann", 7), ("bob", 7), ("ann", 9)], ("user", "movie"), weights=[1, 2, 0.5]
    )
    assert network.names("user").to_pylist() == ["ann", "bob"]
    assert network.names("movie").to_pylist() == [7, 9]
    assert network.edges().tolist() == expected.edges().tolist()
    assert network.weights().tolist() == [1, 2, 0.5]
    days = network.edge_set().times
    assert days is not None
    assert days.astype("datetime64[D]").astype(str).tolist() == [f"2024-05-0{d}" for d in (1, 2, 3)]


def test_it_is_a_source_like_any_other(prepared: Path) -> None:
    assert is_prepared(prepared)
    assert read(prepared) == read_prepared(prepared)
    with pytest.raises(ParameterError, match="a prepared network takes no options: columns"):
        read(prepared, columns=["user", "movie"])
    model = dhne.DHNE(dim=2, epochs=1, random_state=0).fit(prepared)
    assert model.embeddings_["user"].shape == (2, 2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "version is 2, this dhne reads 1; update dhne"),
        ({"format": "x"}, "format must be 'dhne prepared network'"),
        ({"nodes": "user"}, "nodes: not a list"),
        ({"nodes": [{"type": "user", "count": "1"}]}, "a count must be a whole number"),
        ({"nodes": [{"type": "user"}] * 2}, "a type appears twice"),
        ({"nodes": [{"type": "user"}]}, "a node type is not listed under nodes"),
        ({"edges": [{"types": ["user"]}]}, "needs two positions"),
        ({"edges": [{"types": ["user", "movie"], "roles": ["a"]}]}, "roles must name the role"),
        (
            {"edges": [{"types": ["user", "movie"], "count": 4}]},
            "3 rows here, prepared",
        ),
        ({"edges": [{"types": ["user", "user"]}]}, "the node ids"),
    ],
)
def test_descriptions_that_do_not_hold(prepared: Path, change: dict[str, Any], says: str) -> None:
    if says == "the node ids":  # a movie's id is beyond the users'
        write(prepared, "edges/0/part-1.parquet", n0=[0], n1=[2])
        says = "have times in one table|hold ids outside 0 … 1"
    (prepared / "prepared.json").write_text(json.dumps(DESCRIPTION | change))
    with pytest.raises(InputError, match=says):
        read_prepared(prepared)


@pytest.mark.parametrize(
    ("file", "columns", "says"),
    [
        (
            "nodes/0/part-a.parquet",
            {"id": [0], "name": ["bob"]},
            "ids must be 0 … 1, each once",
        ),
        ("nodes/0/part-a.parquet", {"name": ["bob"]}, "the column 'id' is missing"),
        ("nodes/0/part-a.parquet", {"id": [1], "name": ["ann"]}, "names 'ann' more than once"),
        ("nodes/0/part-a.parquet", {"id": ["1"], "name": ["bob"]}, "incompatible types"),
        ("edges/0/part-1.parquet", {"n0": [0]}, "the column 'n1' is missing"),
        ("edges/0/part-1.parquet", {"n0": [0], "n1": [1]}, "times in one table, not in the other"),
        ("edges/0/part-1.parquet", {"n0": [None], "n1": [1]}, "node ids must be integers"),
        (
            "edges/0/part-1.parquet",
            {"n0": [0], "n1": [1], "weight": [-1.0], "time": [1]},
            "weights must be positive",
        ),
    ],
)
def test_tables_that_do_not_hold(
    prepared: Path, file: str, columns: dict[str, Any], says: str
) -> None:
    write(prepared, file, **columns)
    with pytest.raises(InputError, match=says):
        read_prepared(prepared)


def test_a_missing_table(prepared: Path) -> None:
    for file in (prepared / "edges" / "0").iterdir():
        file.unlink()
    with pytest.raises(InputError, match="there is no Parquet file in this directory"):
        read_prepared(prepared)
