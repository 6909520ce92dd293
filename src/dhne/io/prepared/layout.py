"""The directory of a prepared network, which any engine may write.

``prepared.json``
    what is in it: node types and edge types, in order
``nodes/I/*.parquet``
    the nodes of type number I: ``id`` (0 … n-1), ``name`` (text or integers) and ``degree``
``edges/J/*.parquet``
    the hyperedges of edge type number J: node ids ``n0``, ``n1`` … and, where given, ``weight``
    (positive numbers) and ``time`` (dates, datetimes or numbers)
``pairs/I-K/*.parquet``
    optional; for node types I ≤ K the pairs that share a hyperedge: ids ``a``, ``b`` and ``weight``

A directory may hold any number of files, in any compression; they are read in the order of their
names. Reading goes batch by batch into the columns of a `HyperNetwork`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dhne.errors import InputError
from dhne.files.plain_json import read_json, write_json
from dhne.files.reading import StrPath, reading
from dhne.io.column_mapping import WEIGHT
from dhne.io.join_tables import Source, read_weights
from dhne.io.parquet import read_parquet, read_parquet_names
from dhne.io.times import TIME, join_times, read_times
from dhne.network.edges import EdgeSet, EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

DESCRIPTION = "prepared.json"
FORMAT, VERSION = "dhne prepared network", 1


def is_prepared(path: StrPath) -> bool:
    """Whether a path is the directory of a prepared network."""
    try:
        return (Path(path) / DESCRIPTION).is_file()
    except (OSError, ValueError):  # too long, or with a NUL byte
        return False


def write_description(
    directory: Path, nodes: dict[str, int], edges: dict[EdgeType, int], **more: Any
) -> None:
    """Write ``prepared.json``: the number of nodes of each type and of hyperedges of each."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": [{"type": t, "count": n} for t, n in nodes.items()],
        "edges": [{**types.to_record(), "count": m} for types, m in edges.items()],
        **more,
    }
    write_json(directory / DESCRIPTION, record)


def read_prepared(path: StrPath) -> HyperNetwork:
    """Read a prepared network, written by :func:`prepare` or by another engine.

    Parameters
    ----------
    path : path
        The directory.

    Raises
    ------
    InputError
        If something is missing, damaged or does not match the description.
    """
    directory = Path(path)
    description = _checked(read_json(directory / DESCRIPTION), directory / DESCRIPTION)
    nodes = {
        entry["type"]: _read_nodes(directory / "nodes" / str(number), entry)
        for number, entry in enumerate(description["nodes"])
    }
    edges = [
        _read_edges(directory / "edges" / str(number), entry)
        for number, entry in enumerate(description["edges"])
    ]
    return HyperNetwork(nodes, edges)


def part_files(directory: Path) -> list[Path]:
    """Return the Parquet files of one directory of the layout, in the order of their names."""
    with reading(directory):
        found = sorted(directory.glob("**/*.parquet")) if directory.is_dir() else []
    if not found:
        raise InputError("there is no Parquet file in this directory", file=directory)
    return found


def _read_nodes(directory: Path, entry: dict[str, Any]) -> Vocabulary:
    files = part_files(directory)
    for file in files:
        _need(["id", "name"], file)
    parts = [read_parquet(file, ["id", "name"]) for file in files]
    with reading(directory):
        table = pa.concat_tables(parts, promote_options="permissive")
    _check_count(table.num_rows, entry, directory)
    ids = _as_ids(table["id"], directory)
    if not np.array_equal(ids, np.arange(len(ids))):
        order = np.argsort(ids, kind="stable")
        if not np.array_equal(ids[order], np.arange(len(ids))):
            raise InputError(f"the ids must be 0 … {len(ids) - 1}, each once", file=directory)
        table = table.take(pa.array(order))
    return Vocabulary(table["name"], node_type=entry["type"])


def _read_edges(directory: Path, entry: dict[str, Any]) -> EdgeSet:
    types, files = EdgeType.from_record(entry), part_files(directory)
    positions = [f"n{p}" for p in range(len(types))]
    with reading(directory):
        rows = [pq.read_metadata(file).num_rows for file in files]
    _check_count(sum(rows), entry, directory)
    nodes = np.empty((sum(rows), len(types)), np.int64)
    weights = np.ones(len(nodes))
    times: list[Any] = []
    start = 0
    for file, count in zip(files, rows, strict=True):
        there = _need(positions, file)
        _fill(nodes[start : start + count], file, positions)
        if WEIGHT in there:
            source = Source(read_parquet(file, [WEIGHT]), file)
            weights[start : start + count] = read_weights(source, WEIGHT)
        has_times = TIME in there
        times.append(
            read_times(Source(read_parquet(file, [TIME]), file), TIME) if has_times else None
        )
        start += count
    return EdgeSet.build(types, nodes, weights, times=join_times(times, types), copy=False)


def _fill(out: NodeArray, file: Path, columns: list[str]) -> None:
    """Write the ids of one file into `out`, batch by batch."""
    start = 0
    for batch in batches(file, columns):
        for position, column in enumerate(columns):
            out[start : start + len(batch), position] = _as_ids(batch[column], file)
        start += len(batch)


def batches(file: Path, columns: list[str], rows: int = 2**20) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one file."""
    with reading(file), pq.ParquetFile(file, page_checksum_verification=True) as opened:
        yield from opened.iter_batches(rows, columns=columns)


def _as_ids(column: pa.Array | pa.ChunkedArray, file: Path) -> NodeArray:
    if not pa.types.is_integer(column.type) or column.null_count:
        raise InputError(f"node ids must be integers, none missing; got {column.type}", file=file)
    ids: NodeArray = pc.cast(column, pa.int64()).to_numpy(zero_copy_only=False)
    return ids


def _need(columns: list[str], file: Path) -> list[str]:
    there = read_parquet_names(file)
    missing = [c for c in columns if c not in there]
    if missing:
        raise InputError(f"the column {missing[0]!r} is missing", file=file)
    return there


def _check_count(found: int, entry: dict[str, Any], directory: Path) -> None:
    expected = entry.get("count")
    if expected is not None and found != expected:
        raise InputError(
            f"there are {found:,} rows here, {DESCRIPTION} says {expected:,}; is a file missing?",
            file=directory,
        )


def _checked(found: Any, file: Path) -> dict[str, Any]:
    """Return the description if this version can follow it; it may come from anywhere."""

    def check(good: bool, what: str) -> None:
        if not good:
            raise InputError(what, file=file)

    check(isinstance(found, dict) and found.get("format") == FORMAT, f"format must be {FORMAT!r}")
    version = found.get("version")
    check(version == VERSION, f"version is {version!r}, this dhne reads {VERSION}; update dhne")
    nodes, edges = found.get("nodes"), found.get("edges")
    check(isinstance(nodes, list) and all(isinstance(n, dict) for n in nodes), "nodes: not a list")
    check(isinstance(edges, list) and all(isinstance(e, dict) for e in edges), "edges: not a list")
    counts = [entry.get("count") for entry in [*nodes, *edges]]
    check(all(isinstance(c, int | None) for c in counts), "a count must be a whole number")
    known = [n.get("type") for n in nodes]
    check(all(isinstance(t, str) for t in known), "every entry of nodes needs a type")
    check(len(set(known)) == len(known), "nodes: a type appears twice")
    for entry in edges:
        types = entry.get("types")
        check(
            isinstance(types, list) and len(types) >= 2, "edges: an edge type needs two positions"
        )
        check(all(t in known for t in types), "edges: a node type is not listed under nodes")
        entry.setdefault("ordered", True)
        check(EdgeType.is_record(entry), "edges: roles must name the role of each position")
    return dict(found)
