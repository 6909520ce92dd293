"""Directories, patterns and standard input as tables."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne import read, read_table
from dhne.errors import InputError


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    (folder / "year=2024").mkdir(parents=True)
    (folder / "a.csv").write_text("user,movie\nann,Heat\n")
    (folder / "b.csv").write_text("user,movie\nbob,Alien\nann,Alien\n")
    pq.write_table(pa.table({"user": ["cy"], "movie": ["Heat"]}), folder / "year=2024/c.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.csv").write_text("x")
    (folder / "notes.md").write_text("x")
    return folder


@pytest.mark.parametrize("reader", [read, read_table])
def test_a_directory_is_one_table(parts: Path, reader) -> None:  # type: ignore[no-untyped-def]
    network = reader(parts)
    assert network.num_edges() == 4
    assert network.names("user").to_pylist() == ["ann", "bob", "cy"]


@pytest.mark.parametrize("reader", [read, read_table])
def test_a_pattern_is_one_table(parts: Path, reader) -> None:  # type: ignore[no-untyped-def]
    assert reader(parts / "*.csv").num_edges() == 3
    with pytest.raises(InputError, match="no file matches this pattern"):
        reader(parts / "*.tsv")


def test_a_directory_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a directory without"):
        read(tmp_path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".csv.gz", ".hif.json"])
def test_standard_input_of_any_format(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    import dhne

    network = read_table(parts / "b.csv")
    dhne.write(network, tmp_path / f"x{ending}")
    data = (tmp_path / f"x{ending}").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read("-") == network


def test_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="standard input is empty"):
        read_table("-")
