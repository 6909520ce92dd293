"""How often two nodes share a hyperedge, counted by sorting.

A pair (a, b) is the number a·2^s + b, with 2^s larger than any b. The numbers of all pairs are
sorted, and each run of equal ones is summed. If they do not fit into memory, they are counted range
by range: the limits between ranges are quantiles of a sample, so that ranges are about equally long
whatever the degrees, and each range reads the hyperedges once. In sparse data nearly all pairs are
distinct, and sorting is faster than a hash table. The result is that of :func:`.statements.pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dhne.files.writing import replace_directory
from dhne.io.column_mapping import WEIGHT
from dhne.io.parquet import count_rows, read_parquet
from dhne.network.edges import EdgeType

from .statements import meeting_positions

Keys = npt.NDArray[np.uint64]
Weights = npt.NDArray[np.float64]

_BYTES, _BYTES_WEIGHTED = 24, 64  # per pair, while a range is sorted
_SAMPLE = 100_000  # pairs per file from which ranges are chosen
_ROWS_AT_ONCE = 2**15  # whose intermediate results stay in the processor's cache
_ROW_GROUP = 2**20


class EdgeFile(NamedTuple):
    """A file of hyperedges of the layout."""

    path: Path
    types: EdgeType
    weighted: bool


def write_pairs(
    directory: Path,
    files: Sequence[EdgeFile],
    node_types: tuple[str, str],
    columns: int,
    memory: int,
) -> None:
    """Write the pairs of two node types, sorted; `columns` is the number of nodes of the second."""
    meetings = [
        (file, p, q) for file in files for p, q in meeting_positions(file.types, *node_types)
    ]
    rows = sum(count_rows(file.path) for file, _, _ in meetings)
    weighted = any(file.weighted for file in files)
    shift = columns.bit_length()
    ranges = -(-rows * (_BYTES_WEIGHTED if weighted else _BYTES) // memory)

    def fill(target: Path) -> None:
        parts = count()
        with ThreadPoolExecutor(2) as pool:
            for low, high in _ranges(meetings, shift, ranges):
                keys, weights = _in_order(*_gather(meetings, shift, low, high))
                halves = [
                    pool.submit(_write, target / f"part-{next(parts):05d}.parquet", *half, shift)
                    for half in _halves(keys, weights)
                ]
                for half_written in halves:
                    half_written.result()

    directory.parent.mkdir(parents=True, exist_ok=True)
    replace_directory(directory, fill)


def _ranges(
    meetings: Sequence[tuple[EdgeFile, int, int]], shift: int, number: int
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the (first number, number after the last) of each range; None for no limit."""
    limits: list[int] = []
    if number > 1:
        sample = []
        for meeting in meetings:
            keys, _ = _pairs(*meeting, shift)
            sample.append(keys[:: max(len(keys) // _SAMPLE, 1)])
        found = np.sort(np.concatenate(sample))
        places = len(found) * np.arange(1, number) // number
        limits = [int(x) for x in np.unique(found[places])]
    yield from zip([None, *limits], [*limits, None], strict=True)


def _gather(
    meetings: Sequence[tuple[EdgeFile, int, int]], shift: int, low: int | None, high: int | None
) -> tuple[Keys, Weights | None]:
    """Return the pairs of one range, in no order, and their weights unless all are 1."""
    weighted = any(file.weighted for file, _, _ in meetings)
    keys: list[Keys] = []
    weights: list[Weights] = []
    # all pairs go into one array; those of a range are fewer, nobody knows how many
    everything = low is None and high is None
    rows = sum(count_rows(file.path) for file, _, _ in meetings) if everything else 0
    whole, end = np.empty(rows, np.uint64), 0
    for meeting in meetings:
        found, weight = _pairs(*meeting, shift, whole[end:] if everything else None)
        inside: Any = slice(None)
        if everything:
            if not np.may_share_memory(found, whole):  # some were left out
                whole[end : end + len(found)] = found
            end += len(found)
        else:
            inside = np.ones(len(found), bool) if low is None else found >= np.uint64(low)
            inside &= True if high is None else found < np.uint64(high)
            keys.append(found[inside])
        if weighted:
            weights.append((np.ones(len(found)) if weight is None else weight)[inside])
    together = whole[:end] if everything else np.concatenate(keys)
    return together, np.concatenate(weights) if weighted else None


def _pairs(
    file: EdgeFile, p: int, q: int, shift: int, out: Keys | None = None
) -> tuple[Keys, Weights | None]:
    """Return the pairs at two positions of a file's hyperedges (in `out`), and their weights."""
    types = file.types
    earlier = [(x, e) for x in (p, q) for e in types.positions_of(types[x]) if e < x]
    needed = dict.fromkeys([p, q, *(e for _, e in earlier)])
    table = read_parquet(file.path, [*(f"n{x}" for x in needed), *[WEIGHT] * file.weighted])
    ids = {x: table[f"n{x}"].to_numpy() for x in needed}
    weights = table[WEIGHT].to_numpy() if file.weighted else None
    a, b = ids[p], ids[q]
    if types[p] == types[q]:
        a, b = np.minimum(a, b), np.maximum(a, b)
    exact: Any = {"dtype": np.uint64, "casting": "unsafe"}  # ids are not negative
    keys: Keys = np.left_shift(a, shift, out=None if out is None else out[: len(a)], **exact)
    np.bitwise_or(keys, b, out=keys, **exact)
    if earlier:  # a node counts once in a hyperedge, at its first position
        first = np.logical_and.reduce([ids[x] != ids[e] for x, e in earlier])
        keys, weights = keys[first], None if weights is None else weights[first]
    return keys, weights


def _in_order(keys: Keys, weights: Weights | None) -> tuple[Keys, Weights | None]:
    if weights is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys, kind="stable")  # weights are added in the order of the rows
    return keys[order], weights[order]


def _halves(keys: Keys, weights: Weights | None) -> list[tuple[Keys, Weights | None]]:
    """Cut the pairs between two runs of equal ones near the middle."""
    middle = int(np.searchsorted(keys, keys[len(keys) // 2])) if len(keys) else 0
    parts = [slice(None, middle), slice(middle, None)] if middle else [slice(None)]
    return [(keys[part], None if weights is None else weights[part]) for part in parts]


def _write(path: Path, keys: Keys, weights: Weights | None, shift: int) -> None:
    """Sum runs of equal numbers and write them."""
    largest = max(int(keys[-1] >> np.uint64(shift)) if len(keys) else 0, 2**shift - 1)
    kind = np.dtype(np.int32 if largest < 2**31 else np.int64)
    ids = pa.from_numpy_dtype(kind)
    schema = pa.schema([("a", ids), ("b", ids), (WEIGHT, pa.float64())])
    options = {"compression": "snappy", "use_dictionary": [WEIGHT], "write_page_checksum": True}
    group = np.empty(_ROW_GROUP, kind), np.empty(_ROW_GROUP, kind), np.empty(_ROW_GROUP)
    with pq.ParquetWriter(path, schema, **options) as writer:
        filled = 0
        for distinct, total in _sums(keys, weights):
            if filled + len(distinct) > _ROW_GROUP:
                writer.write_table(pa.table([column[:filled] for column in group], schema=schema))
                filled = 0
            place = slice(filled, filled + len(distinct))
            group[0][place] = distinct >> np.uint64(shift)
            group[1][place] = distinct & np.uint64(2**shift - 1)
            group[2][place] = total
            filled = place.stop
        writer.write_table(pa.table([column[:filled] for column in group], schema=schema))


def _sums(keys: Keys, weights: Weights | None) -> Iterator[tuple[Keys, Weights]]:
    """Yield the distinct numbers and the sums of their weights, some at a time."""
    start = 0
    while start < len(keys):
        end = min(start + _ROWS_AT_ONCE, len(keys))
        end = int(np.searchsorted(keys, keys[end - 1], side="right"))  # whole runs
        part = keys[start:end]
        begin = np.flatnonzero(np.concatenate([[True], part[1:] != part[:-1]]))
        if weights is None:
            total = np.diff(begin, append=len(part)).astype(np.float64)
        else:
            total = np.add.reduceat(weights[start:end], begin)
        yield part[begin], total
        start = end
