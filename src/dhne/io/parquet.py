"""Parquet as Arrow tables, and back; a description of the network travels in the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dhne.files.reading import StrPath, check_file, reading

_KEY = b"dhne"


def is_parquet(path: StrPath) -> bool:
    """Whether a file's name says that it is Parquet."""
    return Path(path).name.lower().endswith((".parquet", ".pq"))


def read_parquet(path: StrPath, columns: list[str] | None = None) -> pa.Table:
    """Return (some columns of) a Parquet file."""
    check_file(path)
    with reading(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read(columns=columns)


def stream_parquet(
    path: StrPath, columns: list[str], rows: int = 2**17
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield a file's rows in batches, each with the share of the file that has been read."""
    check_file(path)
    with reading(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        total, done = max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(rows, columns=columns):
            done += batch.num_rows
            yield batch, done / total


def read_parquet_names(path: StrPath) -> list[str]:
    """Return the names of a Parquet file's columns, from its footer alone."""
    check_file(path)
    with reading(path), pq.ParquetFile(path) as file:
        return list(file.schema_arrow.names)


def read_description(path: StrPath) -> Any:
    """Return the description of the network that the file holds, or None if it has none."""
    check_file(path)
    with reading(path), pq.ParquetFile(path) as file:
        found = (file.schema_arrow.metadata or {}).get(_KEY)
        return None if found is None else json.loads(found)


def write_parquet(table: pa.Table, path: StrPath, description: Any = None) -> None:
    """Write a table, compressed and with page checksums."""
    if description is not None:
        text = json.dumps(description, sort_keys=True)
        table = table.replace_schema_metadata({_KEY: text.encode()})
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def count_rows(path: StrPath) -> int:
    """Return how many rows a Parquet file holds, from its footer alone."""
    check_file(path)
    with reading(path), pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)
