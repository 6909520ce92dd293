"""Tables of any size cut into shards that fit into memory, the names of each numbered within it.

A shard is read, checked and encoded by what reads tables into memory, so its names are exactly
those that :func:`dhne.read_table` gives. It is kept as a directory:

``names-I.parquet``
    the distinct names of node type number I as text: ``shard``, ``code``, ``name`` and ``degree``
``edges.parquet``
    the hyperedges: codes ``n0``, ``n1`` … and, where given, ``weight`` and ``time``
``shard.json``
    a :class:`Shard`

Only distinct names, not rows, are then compared between shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dhne.files.plain_json import read_json, write_json
from dhne.files.reading import StrPath
from dhne.files.writing import replace_directory
from dhne.io.column_mapping import WEIGHT, Mapped
from dhne.io.delimited import stream_delimited
from dhne.io.join_tables import Part, Source, build, typeless
from dhne.io.parquet import is_parquet, stream_parquet
from dhne.io.tables import Reading, file_source, map_file
from dhne.io.times import TIME, time_column, time_kind
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork

_MOST_ROWS = 2**24
_SHARE = 8  # a shard's rows take this share of the memory; numbering their names takes the rest


@dataclass(frozen=True)
class Shard:
    """What is in a shard.

    Attributes
    ----------
    rows : int
    names : mapping of the number of a node type to its number of distinct names
    strings : list of int
        The node types whose names must stay text: they come from a typed column that is not one of
        integers.
    weighted : bool
    time : "date", "integer" or "number", optional
    """

    rows: int
    names: Mapping[str, int]
    strings: Sequence[int]
    weighted: bool
    time: str | None


def stream_shards(
    path: StrPath, how: Reading, memory: int
) -> Iterator[tuple[Source, Mapped, float]]:
    """Yield a file's rows shard by shard, each with the share of the file that has been read.

    Where a file is cut depends on its rows and on `memory` alone.
    """
    mapped, partition = map_file(path, how)
    used = [c for c in mapped.used if c not in partition]
    if is_parquet(path):
        stream = stream_parquet(path, used)
    else:
        text: dict[str, Any] = {"delimiter": how.delimiter, "encoding": how.encoding}
        stream = stream_delimited(path, used, **text, header=how.header)
    held: list[pa.RecordBatch] = []
    first_row = 0
    for batch, share in chain(stream, [(None, 1.0)]):
        if batch is not None:
            held.append(batch)
        rows = sum(b.num_rows for b in held)
        full = rows >= _MOST_ROWS or sum(b.nbytes for b in held) >= memory // _SHARE
        if full or (batch is None and rows):
            table = pa.Table.from_batches(held)
            held.clear()
            yield file_source(path, table, mapped, partition, how, first_row), mapped, share
            first_row += rows


def write_shard(directory: Path, number: int, part: Part, node_types: Sequence[str]) -> Shard:
    """Number the names of a shard's rows and write it; `node_types` are those of all shards."""
    _refuse_decimals(part)
    weighted = part.mapped.weight is not None
    text = typeless([part])
    network = build([part])
    (edges,) = network.edge_sets
    integers = {t for t in network.node_types if network.vocabulary(t).has_integers}
    shard = Shard(
        rows=len(edges),
        names={str(node_types.index(t)): network.num_nodes(t) for t in network.node_types},
        strings=[node_types.index(t) for t in network.node_types if t not in text | integers],
        weighted=weighted,
        time=None if edges.times is None else time_kind(edges.times),
    )

    def fill(target: Path) -> None:
        for t in network.node_types:
            names = _names(network, t, number)
            write_table(names, target / f"names-{node_types.index(t)}.parquet")
        write_table(_edge_table(edges, weighted=weighted), target / "edges.parquet")
        write_json(target / "shard.json", asdict(shard))

    replace_directory(directory, fill)
    return shard


def read_shard(directory: Path) -> Shard:
    """Return what is in a shard that was written before."""
    return Shard(**read_json(directory / "shard.json"))


def _edge_table(edges: EdgeSet, *, weighted: bool) -> pa.Table:
    """Return hyperedges as columns; the codes of a shard fit into 32 bits."""
    table: dict[str, Any] = {
        f"n{p}": edges.nodes[:, p].astype(np.int32) for p in range(edges.length)
    }
    if weighted:
        table[WEIGHT] = edges.weights
    if edges.times is not None:
        table[TIME] = time_column(edges.times, text=False)
    return pa.table(table)


def write_table(table: pa.Table, path: Path, *, compression: str = "none") -> None:
    """Write a table of distinct values, which a dictionary would only slow down."""
    pq.write_table(
        table, path, compression=compression, use_dictionary=False, write_page_checksum=True
    )


def _names(network: HyperNetwork, node_type: str, number: int) -> pa.Table:
    (edges,) = network.edge_sets
    size = network.num_nodes(node_type)
    degree = np.zeros(size, np.int64)
    for position in edges.types.positions_of(node_type):
        degree += np.bincount(edges.nodes[:, position], minlength=size)
    columns: dict[str, Any] = {
        "shard": np.full(size, number, np.int32),
        "code": np.arange(size, dtype=np.int32),
        "name": network.names(node_type).cast(pa.large_string()),
        "degree": degree,
    }
    return pa.table(columns)


def _refuse_decimals(part: Part) -> None:
    """Raise where names are fractions: how they are written would depend on the shard."""
    for name in part.mapped.columns:
        column = part.source.table[name]
        if pa.types.is_floating(column.type):
            row = pc.index(pc.equal(column, pc.round(column)), value=False).as_py()
            if row >= 0:
                raise part.source.error(
                    f"{column[row].as_py()} is a decimal number, not a name; store the column as "
                    "text",
                    row=row,
                    column=name,
                )
