"""`prepare`: tables of any size become a prepared network, stage by stage.

1. *shards*: each file is read and encoded part by part, the names numbered within each part
2. *nodes*: the names of all shards are counted and numbered together
3. *ids*: the node id of each name of each shard
4. *edges*: the codes of each shard are replaced by node ids, in the order of the rows
5. *pairs*: how often two nodes share a hyperedge

Stages 2, 3 and 5 run in DuckDB, which spills to disk. Everything is built in ``OUT.partial``, which
becomes OUT at the end. A file there is complete or absent, so a build that was interrupted goes on
where it stopped, unless the sources or the options have changed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError
from dhne.files.plain_json import plain, read_json, write_json
from dhne.files.reading import StrPath
from dhne.files.writing import replacing, temporary_name
from dhne.io.column_mapping import WEIGHT
from dhne.io.inputs import TABLE_ENDINGS, table_files
from dhne.io.join_tables import Source
from dhne.io.parquet import count_rows, read_parquet
from dhne.io.tables import Reading, checked_part, map_file
from dhne.io.times import TIME, read_times
from dhne.network.edges import EdgeSet, EdgeType

from . import engine, statements
from .layout import VERSION, batches, is_prepared, write_description
from .shards import Shard, edge_table, read_shard, stream_shards, write_shard, write_table

Progress = Callable[[str, int, int], None]

_PLAN = "plan.json"  # what a build was asked for; there until it is complete
_SCRATCH = ("shards", "ids", "spill")
_SMALLEST_MEMORY = 2**28
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def prepare(
    sources: Any,
    out: StrPath,
    *,
    memory: str | int = "4GiB",
    pairs: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Path:
    """Prepare tables that may be larger than memory for training; needs the extra ``big``.

    Parameters
    ----------
    sources : path, or sequence of paths or of (path, options)
        CSV, TSV or Parquet files, directories (also partitioned: ``year=2024/…``) and patterns of
        them. Options are those of :func:`dhne.read_table`, for all sources or for each.
    out : path
        The directory to write; it appears when it is complete.
    memory : str or int
        How much memory to use, ``"4GiB"`` or bytes. Whatever needs more is spilled to disk, beside
        `out`.
    pairs : bool
        Whether to count the pairs of nodes that share a hyperedge.
    overwrite : bool
        Whether to replace a prepared network at `out`.
    progress : callable, optional
        Called as ``progress(what, done, total)``.

    Returns
    -------
    Path
        `out`, for :func:`read_prepared`.
    """
    target, limit = Path(out), parse_memory(memory)
    if target.exists() and not (overwrite and is_prepared(target)):
        what = (
            "this is not a prepared network, so it is not replaced; name another directory"
            if overwrite
            else "it exists already; name another directory, or replace it with --overwrite"
        )
        raise InputError(what, file=target)
    with engine.explained(target):
        files = _files(sources, options)
        build = _Build(target.with_name(target.name + ".partial"), files, limit, progress)
        if not build.start():
            build.run(pairs=pairs)
        _replace(build.directory, target)
    return target


def parse_memory(text: str | int) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> parse_memory("4GiB"), parse_memory("512 MB"), parse_memory(2**30)
    (4294967296, 536870912, 1073741824)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(text), re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].casefold()]) if match else 0
    if size < _SMALLEST_MEMORY:
        raise ParameterError(f"memory is at least 256MiB, written like 4GiB; got {text!r}")
    return size


@dataclass(frozen=True)
class _File:
    path: Path
    how: Reading
    types: EdgeType


def _files(sources: Any, options: dict[str, Any]) -> list[_File]:
    """Return the files in order, each with the edge type of its rows."""
    items = [sources] if isinstance(sources, str | PathLike) else list(sources)
    found = []
    for item in items:
        source, own = item if isinstance(item, tuple) else (item, {})
        how = Reading(**{**options, **own})
        for path in table_files(source):
            if not path.name.lower().endswith(TABLE_ENDINGS):
                raise InputError("only CSV, TSV and Parquet files can be prepared", file=path)
            mapped, _ = map_file(path, how)
            found.append(_File(path, how, EdgeType.of(mapped.types, ordered=how.ordered)))
    if not found:
        raise InputError("no table was given")
    types = list(dict.fromkeys(f.types for f in found))
    if len({tuple(t) for t in types}) < len(types):
        raise InputError("an edge type is ordered in one table, not in the other")
    return found


class _Build:
    """The stages, in a directory that is not yet complete."""

    def __init__(
        self, directory: Path, files: list[_File], memory: int, progress: Progress | None
    ) -> None:
        self.directory, self.files, self.memory = directory, files, memory
        self.report = progress or (lambda what, done, total: None)
        self.edge_types = list(dict.fromkeys(f.types for f in files))
        self.node_types = list(dict.fromkeys(t for types in self.edge_types for t in types))
        self.shards: list[tuple[int, Path, Shard]] = []  # number of the edge type, place, contents

    def start(self) -> bool:
        """Keep what an interrupted build of the same has left; return whether that is all."""
        plan = {
            "version": VERSION,
            "memory": self.memory,
            "files": [[*_fingerprint(f.path), asdict(f.how)] for f in self.files],
        }
        place = self.directory / _PLAN
        if self.directory.exists() and not (place.is_file() and read_json(place) == plain(plan)):
            shutil.rmtree(self.directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        write_json(place, plan)
        return is_prepared(self.directory)

    def run(self, *, pairs: bool) -> None:
        """Do all stages; those that are complete cost nothing."""
        self._write_shards()
        strings = {i for _, _, shard in self.shards for i in shard.strings}
        with engine.connect(self.directory / "spill", self.memory) as connection:
            for i in range(len(self.node_types)):
                self.report("numbering nodes", i, len(self.node_types))
                self._number(connection, i, text=i in strings)
            self._write_edges()
            if pairs:
                self._count_pairs(connection)
        nodes = {t: self._count_nodes(i) for i, t in enumerate(self.node_types)}
        edges = dict.fromkeys(self.edge_types, 0)
        for number, _, shard in self.shards:
            edges[self.edge_types[number]] += shard.rows
        write_description(self.directory, nodes, edges, sources=[str(f.path) for f in self.files])

    # -- shards ----------------------------------------------------------------------------------

    def _write_shards(self) -> None:
        folder = self.directory / "shards"
        folder.mkdir(exist_ok=True)
        sizes = [f.path.stat().st_size for f in self.files]
        total = sum(sizes)
        for number, file in enumerate(self.files):
            before = sum(sizes[:number])
            finished = folder / f"{number:05d}.json"
            found: list[str] = read_json(finished) if finished.is_file() else []
            edge_type = self.edge_types.index(file.types)
            for name in found:
                self.shards.append((edge_type, folder / name, read_shard(folder / name)))
            if found:
                continue
            for source, mapped, share in stream_shards(file.path, file.how, self.memory):
                place = folder / f"{number:05d}-{len(found):05d}"
                if place.is_dir():
                    shard = read_shard(place)
                else:
                    part = checked_part(source, mapped, file.how)
                    shard = write_shard(place, len(self.shards), part, self.node_types)
                found.append(place.name)
                self.shards.append((edge_type, place, shard))
                done = before + share * sizes[number]
                self.report("reading (MiB)", int(done) >> 20, total >> 20)
            if not found:
                raise InputError("there is a header but no row below it", file=file.path)
            write_json(finished, found)
        self._check_times()

    def _check_times(self) -> None:
        for number, types in enumerate(self.edge_types):
            kinds = {shard.time for n, _, shard in self.shards if n == number}
            if None in kinds and len(kinds) > 1:
                raise InputError(f"edges {tuple(types)!r} have times in one table, not in another")
            if "date" in kinds and len(kinds) > 1:
                raise InputError(
                    f"edges {tuple(types)!r} have dates as times in one place, numbers in another"
                )

    # -- nodes -----------------------------------------------------------------------------------

    def _number(self, connection: engine.Connection, i: int, *, text: bool) -> None:
        """Number the names of node type i, and give each name of each shard its number."""
        nodes, ids = self._nodes(i), self.directory / "ids" / f"{i}.parquet"
        places = [p / f"names-{i}.parquet" for _, p, s in self.shards if str(i) in s.names]
        names = engine.table(places)
        if not nodes.is_file():
            query = statements.nodes(names)
            if not text and engine.all_integers(connection, names):
                query = f"SELECT * REPLACE (CAST(name AS BIGINT) AS name) FROM ({query})"
            engine.copy(connection, query, nodes)
        if not ids.is_file():
            known = f"(SELECT id, CAST(name AS VARCHAR) AS name FROM {engine.table([nodes])})"
            engine.copy(connection, statements.shard_ids(names, known), ids)

    def _nodes(self, i: int) -> Path:
        return self.directory / "nodes" / str(i) / "part-00000.parquet"

    def _count_nodes(self, i: int) -> int:
        return count_rows(self._nodes(i))

    # -- edges -----------------------------------------------------------------------------------

    def _write_edges(self) -> None:
        """Replace the codes of each shard by node ids."""
        weighted = {n for n, _, shard in self.shards if shard.weighted}
        streams = {
            str(i): _IdStream(self.directory / "ids" / f"{i}.parquet")
            for i in range(len(self.node_types))
        }
        for number, (edge_type, place, shard) in enumerate(self.shards):
            self.report("writing edges", number, len(self.shards))
            ids = {i: streams[i].take(count) for i, count in shard.names.items()}
            target = self._edges(edge_type) / f"part-{number:05d}.parquet"
            if not target.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                edges = _with_ids(place, self.edge_types[edge_type], self.node_types, ids)
                with replacing(target) as (temporary,):
                    table = edge_table(edges, weighted=edge_type in weighted)
                    write_table(table, temporary, compression="snappy")

    def _edges(self, edge_type: int) -> Path:
        return self.directory / "edges" / str(edge_type)

    # -- pairs -----------------------------------------------------------------------------------

    def _count_pairs(self, connection: engine.Connection) -> None:
        weighted = {n for n, _, shard in self.shards if shard.weighted}
        tables = [
            (engine.table(sorted(self._edges(j).glob("*.parquet"))), types, j in weighted)
            for j, types in enumerate(self.edge_types)
        ]
        meeting = statements.meeting_types(self.edge_types, self.node_types)
        for done, (i, k) in enumerate(meeting):
            self.report("counting pairs", done, len(meeting))
            target = self.directory / "pairs" / f"{i}-{k}" / "part-00000.parquet"
            if not target.is_file():
                query = statements.pairs(tables, self.node_types[i], self.node_types[k])
                engine.copy(connection, query, target)


class _IdStream:
    """The ids of one node type's names, shard after shard."""

    def __init__(self, file: Path) -> None:
        self._batches: Iterator[Any] = batches(file, ["id"])
        self._left: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def take(self, count: int) -> npt.NDArray[np.int64]:
        """Return the next `count` ids."""
        parts, missing = [self._left], count - len(self._left)
        while missing > 0:
            parts.append(next(self._batches)["id"].to_numpy())
            missing -= len(parts[-1])
        found = np.concatenate(parts)
        self._left = found[count:]
        return found[:count]


def _with_ids(
    place: Path,
    types: EdgeType,
    node_types: Sequence[str],
    ids: dict[str, npt.NDArray[np.int64]],
) -> EdgeSet:
    """Return a shard's hyperedges with node ids instead of its codes."""
    file = place / "edges.parquet"
    table = read_parquet(file)
    nodes = np.empty((table.num_rows, len(types)), np.int64)
    for position, t in enumerate(types):
        known = ids[str(node_types.index(t))]
        nodes[:, position] = known[table[f"n{position}"].to_numpy()]
    weights = table[WEIGHT].to_numpy() if WEIGHT in table.column_names else None
    times = read_times(Source(table, file), TIME) if TIME in table.column_names else None
    return EdgeSet.build(types, nodes, weights, times=times, copy=False)


def _fingerprint(path: Path) -> list[Any]:
    found = path.stat()
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]


def _replace(directory: Path, target: Path) -> None:
    """Put a complete directory in the place of what may be there."""
    for left in _SCRATCH:
        shutil.rmtree(directory / left, ignore_errors=True)
    aside = target.with_name(temporary_name(target.name))
    if target.exists():
        target.rename(aside)
    directory.rename(target)
    (target / _PLAN).unlink()
    shutil.rmtree(aside, ignore_errors=True)
