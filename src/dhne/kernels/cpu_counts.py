"""Tables of counts in the form that compiled code takes, and the candidates near fixed nodes."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from . import counts
from .compiled import candidates, entries
from .counts import CountTable, TupleTables
from .cpu_threads import num_pieces
from .open_counts import Near

Ints = npt.NDArray[Any]


def count_arrays(tables: TupleTables) -> tuple[Any, ...]:
    """Return what the compiled counts take, kept between calls."""
    if "arrays" in tables.kept:
        kept: tuple[Any, ...] = tables.kept["arrays"]
        return kept
    firsts = [np.unique(np.array(x.firsts)) for x in tables.tables]
    blocks = np.array(
        [np.searchsorted(f, row) for f, row in zip(firsts, tables.first, strict=True)]
    )
    most = max((len(c) for c in tables.common), default=0)
    common = np.full((len(tables.common), most, 3), -1, np.int64)
    for k, ((p, q), types) in enumerate(zip(tables.pairs, tables.common, strict=True)):
        for i, c in enumerate(types):
            in_p = np.searchsorted(firsts[p], c.first_in_p)
            common[k, i] = c.type, in_p, np.searchsorted(firsts[q], c.first_in_q)
    pairs = np.array(tables.pairs, np.int64).reshape(-1, 2)
    arrays = _flat(tables.tables, firsts), np.array(tables.types), blocks, common, pairs
    tables.kept["arrays"] = arrays
    return arrays


def near_candidates(tables: TupleTables, pair: int, position: int, fixed: Tensor) -> Near:
    """Return the counts of a pair of the open position and a fixed one, a line per distinct node.

    ``fixed: int64[m]`` are the nodes at the latter.
    """
    distinct, lines = torch.unique(fixed, return_inverse=True)
    size, dtype = tables.sizes[position], tables.tables[0].counts.numpy().dtype
    found = np.empty(len(distinct), np.int64)
    ids = np.empty((len(distinct), size), np.int32)
    counted = np.empty((*ids.shape, 3), dtype)
    candidates.pair_counts(
        *count_arrays(tables),
        np.array(tables.sizes),
        _turned(tables.tables[position]),
        pair,
        position,
        distinct.numpy(),
        counts.SHARED,
        counts.PATHS,
        counts.HUB,
        num_pieces(),
        found,
        ids,
        counted,
    )
    begins = np.concatenate([[0], found.cumsum()])
    packed = np.empty(begins[-1], np.int32), np.empty((begins[-1], 3), dtype)
    candidates.pack(begins, ids, counted, *packed)
    tensors = map(torch.from_numpy, (begins, *packed))
    return Near(torch.arange(3 * pair, 3 * pair + 3), lines, *tensors)


def _turned(table: CountTable) -> tuple[Ints, ...]:
    """Return a table by columns, kept between calls; see :mod:`dhne.kernels.compiled.candidates`.

    One sample of a row's neighbours serves what nodes share and their paths.
    """
    assert counts.SHARED == counts.PATHS
    if "turned" not in table.kept:
        indptr, columns = table.indptr.numpy(), table.columns.numpy()
        firsts = np.unique(np.array(table.firsts))
        bounds, logs = entries.block_bounds(indptr, columns, firsts, 0), torch.log1p(table.counts)
        table.kept["turned"] = candidates.turn(
            indptr, columns, logs.numpy(), bounds, firsts, counts.SHARED, table.num_columns
        )
    turned: tuple[Ints, ...] = table.kept["turned"]
    return turned


def _flat(tables: Sequence[CountTable], firsts: Sequence[Ints]) -> tuple[Ints, ...]:
    """Return the tables one after the other; see :mod:`dhne.kernels.compiled.entries`."""
    parts: list[list[Ints]] = [[] for _ in range(8)]
    distinct: list[CountTable] = []
    begins: list[list[int]] = []
    for table, first in zip(tables, firsts, strict=True):
        if any(table is other for other in distinct):  # positions of one type share it
            continue
        distinct.append(table)
        filled, *others = (sum(len(x) for x in part) for part in (parts[0], *parts[3:]))
        indptr, columns = table.indptr.numpy(), table.columns.numpy()
        bounds = entries.block_bounds(indptr, columns, first, filled)
        slots, bits = entries.hash_entries(indptr, columns, filled)
        begins.append([*others, len(first) + 1, len(slots) - 1])
        logs = torch.log1p(table.counts).numpy()
        new = (columns, table.counts.numpy(), logs, bounds.reshape(-1), first, slots, bits)
        for part, array in zip(parts, (*new, table.degrees.numpy()), strict=True):
            part.append(array)
    number = [next(i for i, d in enumerate(distinct) if d is table) for table in tables]
    where = np.array([begins[i] for i in number])
    return (*(np.concatenate(part) for part in parts), where)
