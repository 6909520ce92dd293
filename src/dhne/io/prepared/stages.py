"""The stages of `prepare`, each complete or repeated.

1. *shards*: each file is read and encoded part by part, the names numbered within each part
2. *nodes*: the names of all shards are counted and numbered together
3. *ids*: the node id of each name of each shard
4. *edges*: the codes of each shard are replaced by node ids, in the order of the rows
5. *pairs*: how often two nodes share a hyperedge

Stages 2 and 3 run in DuckDB, which spills to disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError
from dhne.files.plain_json import plain, read_json, write_json
from dhne.files.writing import replacing, sweep
from dhne.io.column_mapping import WEIGHT, Mapped
from dhne.io.join_tables import Source
from dhne.io.parquet import count_rows, read_parquet
from dhne.io.tables import Reading, checked_part
from dhne.network.edges import EdgeType

from . import engine, statements
from .ahead import ahead
from .layout import VERSION, batches, is_prepared, write_description
from .pairs import EdgeFile, write_pairs
from .shards import Shard, read_shard, stream_shards, write_shard, write_table

Progress = Callable[[str, int, int], None]
Rows = tuple[Source, Mapped, float]  # of a shard, with the share of the file that has been read
Ids = npt.NDArray[Any]  # int32, or int64 where there are more nodes

PLAN = "plan.json"  # the options of a build; removed when it is complete
SCRATCH = ("shards", "ids", "spill")


@dataclass(frozen=True)
class SourceFile:
    """A file, how to read it, and the edge type of its rows."""

    path: Path
    how: Reading
    types: EdgeType


class Build:
    """The stages, in a directory that is not yet complete."""

    def __init__(
        self, directory: Path, files: list[SourceFile], memory: int, progress: Progress | None
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
        place = self.directory / PLAN
        if self.directory.exists() and not (place.is_file() and read_json(place) == plain(plan)):
            shutil.rmtree(self.directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        for folder in [self.directory, *self.directory.glob("*/"), *self.directory.glob("*/*/")]:
            sweep(folder)
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
            self._count_pairs()
        nodes = {t: self._count_nodes(i) for i, t in enumerate(self.node_types)}
        edges = dict.fromkeys(self.edge_types, 0)
        for number, _, shard in self.shards:
            edges[self.edge_types[number]] += shard.rows
        write_description(self.directory, nodes, edges, sources=[str(f.path) for f in self.files])

    # -- shards ----------------------------------------------------------------------------------

    def _write_shards(self) -> None:
        folder = self.directory / "shards"
        folder.mkdir(exist_ok=True)
        lists = [folder / f"{number:05d}.json" for number in range(len(self.files))]
        unread = [f for f, place in zip(self.files, lists, strict=True) if not place.is_file()]
        with closing(ahead(self._read(unread))) as parts:
            for number, place in enumerate(lists):
                if place.is_file():
                    edge_type = self.edge_types.index(self.files[number].types)
                    for name in read_json(place):
                        self.shards.append((edge_type, folder / name, read_shard(folder / name)))
                else:
                    write_json(place, self._write_file(folder, number, parts))
        self._check_times()

    def _read(self, files: list[SourceFile]) -> Iterator[Rows | None]:
        """Yield the rows of some files shard by shard, and None at the end of each."""
        for file in files:
            yield from stream_shards(file.path, file.how, self.memory)
            yield None

    def _write_file(self, folder: Path, number: int, parts: Iterator[Rows | None]) -> list[str]:
        """Write the shards of one file, except those that are there; return their names."""
        file, found = self.files[number], list[str]()
        sizes = [f.path.stat().st_size for f in self.files]
        edge_type = self.edge_types.index(file.types)
        for source, mapped, share in iter(partial(next, parts), None):
            place = folder / f"{number:05d}-{len(found):05d}"
            if place.is_dir():
                shard = read_shard(place)
            else:
                part = checked_part(source, mapped, file.how)
                shard = write_shard(place, len(self.shards), part, self.node_types)
            found.append(place.name)
            self.shards.append((edge_type, place, shard))
            done = sum(sizes[:number]) + share * sizes[number]
            self.report("reading (MiB)", int(done) >> 20, sum(sizes) >> 20)
        if not found:
            raise InputError("there is a header but no row below it", file=file.path)
        return found

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
        nodes, ids = self._nodes(i), self._ids(i)
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

    def _ids(self, i: int) -> Path:
        return self.directory / "ids" / f"{i}.parquet"

    def _count_nodes(self, i: int) -> int:
        return count_rows(self._nodes(i))

    # -- edges -----------------------------------------------------------------------------------

    def _write_edges(self) -> None:
        """Replace the codes of each shard by node ids, several shards at a time."""
        weighted = {n for n, _, shard in self.shards if shard.weighted}
        streams = {i: _IdStream(self._ids(i)) for i in range(len(self.node_types))}
        with ThreadPoolExecutor(2) as pool:  # NumPy and Arrow leave the interpreter free
            waiting: list[Future[None]] = []
            for number, (edge_type, place, shard) in enumerate(self.shards):
                self.report("writing edges", number, len(self.shards))
                ids = {
                    self.node_types[int(i)]: streams[int(i)].take(n) for i, n in shard.names.items()
                }
                target = self._part(number)
                if target.is_file():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                types = self.edge_types[edge_type]
                waiting.append(
                    pool.submit(_replace_codes, place, types, ids, target, edge_type in weighted)
                )
                if len(waiting) > 1:  # what is waiting takes memory
                    waiting.pop(0).result()
            for shard_written in waiting:
                shard_written.result()

    def _part(self, number: int) -> Path:
        edge_type, _, _ = self.shards[number]
        return self.directory / "edges" / str(edge_type) / f"part-{number:05d}.parquet"

    # -- pairs -----------------------------------------------------------------------------------

    def _count_pairs(self) -> None:
        """Count the pairs of every two node types that meet, two of them at a time."""
        weighted = {n for n, _, shard in self.shards if shard.weighted}
        files = [
            EdgeFile(self._part(number), self.edge_types[n], n in weighted)
            for number, (n, _, _) in enumerate(self.shards)
        ]
        meeting = statements.meeting_types(self.edge_types, self.node_types)
        with ThreadPoolExecutor(2) as pool:
            jobs = []
            for i, k in meeting:
                target = self.directory / "pairs" / f"{i}-{k}"
                types = self.node_types[i], self.node_types[k]
                if not target.is_dir():
                    size = self._count_nodes(k)
                    jobs.append(
                        pool.submit(write_pairs, target, files, types, size, self.memory // 3)
                    )
            for done, job in enumerate(jobs):
                self.report("counting pairs", done, len(jobs))
                job.result()


class _IdStream:
    """The ids of one node type's names, shard after shard; 32 bits where they fit."""

    def __init__(self, file: Path) -> None:
        self._batches: Iterator[Any] = batches(file, ["id"])
        self._left: Ids = np.empty(0, np.int32 if count_rows(file) < 2**31 else np.int64)

    def take(self, count: int) -> Ids:
        """Return the next `count` ids."""
        parts, missing = [self._left], count - len(self._left)
        while missing > 0:
            parts.append(next(self._batches)["id"].to_numpy().astype(self._left.dtype))
            missing -= len(parts[-1])
        found = np.concatenate(parts)
        self._left = found[count:]
        return found[:count]


def _replace_codes(
    place: Path, types: EdgeType, ids: dict[str, Ids], target: Path, weighted: bool
) -> None:
    """Write a shard's hyperedges with node ids instead of its codes."""
    table = read_parquet(place / "edges.parquet")
    for position, t in enumerate(types):
        column = f"n{position}"
        found = np.take(ids[t], table[column].to_numpy())
        table = table.set_column(position, column, pa.array(found))
    if types.has_sets:
        nodes = np.stack([table[f"n{p}"].to_numpy() for p in range(len(types))], axis=1)
        types.sort_sets(nodes)
        for p in range(len(types)):
            table = table.set_column(p, f"n{p}", pa.array(nodes[:, p]))
    if weighted and WEIGHT not in table.column_names:
        table = table.append_column(WEIGHT, pa.array(np.ones(len(table))))
    with replacing(target) as (temporary,):
        write_table(table, temporary, compression="snappy")


def _fingerprint(path: Path) -> list[Any]:
    found = path.stat()
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]
