"""Pairs counted by sorting are those that the SQL counts, in however many ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne.io.prepared import pairs, statements
from dhne.io.prepared.pairs import EdgeFile, write_pairs
from dhne.network.edges import EdgeType

TYPES = EdgeType.of(("person", "venue", "person", "person"))


@pytest.fixture
def files(tmp_path: Path) -> list[EdgeFile]:
    """Hyperedges in which nodes repeat and one person is a hub."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(3):
        columns: dict[str, Any] = {f"n{p}": rng.zipf(1.4, 500) % 40 for p in range(4)}
        columns["weight"] = rng.integers(1, 9, 500) / 4
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
        found.append(EdgeFile(tmp_path / f"{number}.parquet", TYPES, weighted=True))
    return found


@pytest.mark.parametrize("types", [("person", "venue"), ("person", "person")])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("memory", [2**30, 2**12])
def test_as_sql_counts(
    files: list[EdgeFile],
    types: tuple[str, str],
    weighted: bool,
    memory: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairs, "_ROWS_AT_ONCE", 100)
    files = [f._replace(weighted=weighted) for f in files]
    write_pairs(tmp_path / "pairs" / "0-1", files, types, 40, memory)
    parts = sorted((tmp_path / "pairs" / "0-1").iterdir())
    assert (len(parts) > 5) == (memory == 2**12)
    table = pa.concat_tables([pq.read_table(part) for part in parts])
    found = list(zip(*table.to_pydict().values(), strict=True))
    query = statements.pairs([(f"'{tmp_path}/*.parquet'", TYPES, weighted)], *types)
    counted = [(a, b, float(w)) for a, b, w in duckdb.connect().execute(query).fetchall()]
    assert found == sorted(counted)  # weights are quarters, whose sums are exact


def test_weights_beside_none(files: list[EdgeFile], tmp_path: Path) -> None:
    mixed = [files[0], *(f._replace(weighted=False) for f in files[1:])]
    write_pairs(tmp_path / "out", mixed, ("person", "venue"), 40, 2**30)
    alone = [(f, tmp_path / f"{n}") for n, f in enumerate(mixed)]
    for file, target in alone:
        write_pairs(target, [file], ("person", "venue"), 40, 2**30)
    total = sum(pq.read_table(target)["weight"].to_numpy().sum() for _, target in alone)
    assert pq.read_table(tmp_path / "out")["weight"].to_numpy().sum() == total
