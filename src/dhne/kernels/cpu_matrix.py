"""The batch matrix on the CPU: rows of a matrix, not copied, and what gradients run over."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .compiled import autoencoder, matrix
from .cpu_threads import num_pieces
from .interface import RowSelection

Ints = npt.NDArray[Any]
_ALL = 2**62  # more entries than any row has
_SPARSE = 16  # columns an entry, beyond which touched columns are numbered first


class Scratch:
    """Arrays that are the same before and after each use, kept so that none pays for its size."""

    def __init__(self) -> None:
        self._slots: dict[int, npt.NDArray[np.int32]] = {}
        self._counts: dict[tuple[int, int], npt.NDArray[np.int32]] = {}

    def slots(self, n: int) -> npt.NDArray[np.int32]:
        """Return n times -1."""
        if n not in self._slots:
            self._slots[n] = np.full(n, -1, np.int32)
        return self._slots[n]

    def counts(self, pieces: int, n: int) -> npt.NDArray[np.int32]:
        """Return `pieces` rows of n times 0."""
        if (pieces, n) not in self._counts:
            self._counts[pieces, n] = np.zeros((pieces, n), np.int32)
        return self._counts[pieces, n]


@dataclass(frozen=True)
class Sampled:
    """What gradients run over: the entries of M, of long rows a sample, by rows and by columns."""

    starts: Ints  # int64[R + 1]
    columns: Ints  # int32[nnz]
    data: npt.NDArray[Any]  # float[nnz], as they are
    scale: npt.NDArray[Any]  # float[b], how many entries each sampled entry of a row represents
    weighted: npt.NDArray[Any]  # float[nnz], data times scale
    touched: Ints  # int64[k], the columns that have an entry
    begins: Ints  # int64[k + 1]
    row_of: Ints  # int32[nnz], by column
    entry_of: Ints  # int32[nnz], by column


@dataclass(frozen=True)
class TableGradient:
    """Mᵀ x at the touched columns, not yet summed, with `data` for the entries of M.

    `data` may end before the extra rows' entries, which then have no part. Without x it is the sum
    of `data` over each column.
    """

    matrix: Sampled
    data: npt.NDArray[Any]
    x: npt.NDArray[Any] | None

    def rows(self) -> npt.NDArray[Any]:
        """Return it, a row for each touched column."""
        m, threads = self.matrix, num_pieces()
        if self.x is None:
            sums: npt.NDArray[Any] = autoencoder.column_sums(
                m.begins, m.entry_of, self.data, threads
            )
            return sums
        result: npt.NDArray[Any] = autoencoder.table_gradient(
            m.begins, m.row_of, m.entry_of, self.data, self.x, threads
        )
        return result


class BatchMatrix:
    """The batch matrix M: rows of a matrix, not copied, and extra rows."""

    def __init__(self, selection: RowSelection, scratch: Scratch) -> None:
        m = selection.matrix
        self.csr = m.indptr.numpy(), m.indices.numpy(), m.values.numpy()
        self.rows, self.num_columns = selection.rows.numpy(), m.num_columns
        self.sample, self._scratch = selection.sample, scratch
        self.starts = matrix.row_starts(self.csr[0], self.rows, _ALL)
        self.base: Ints | None = None
        if selection.extra is None:
            self.extra = np.empty((0, 0), np.int64), np.empty((0, 0), self.csr[2].dtype)
        else:
            self.extra = selection.extra.columns.numpy(), selection.extra.values.numpy()
            self.base = None if selection.extra.base is None else selection.extra.base.numpy()

    @cached_property
    def sampled(self) -> Sampled:
        """The sample; made for the first gradient."""
        most, turn = (self.sample.most, self.sample.turn) if self.sample else (_ALL, 0.0)
        starts = self.starts
        if self.sample is not None:
            starts = matrix.row_starts(self.csr[0], self.rows, most)
        r, k = self.extra[0].shape
        if r:
            starts = np.concatenate([starts, starts[-1] + k * np.arange(1, r + 1)])
        n, dtype, pieces = starts[-1], self.csr[2].dtype, num_pieces()
        columns, scale = np.empty(n, np.int32), np.ones(len(self.rows), dtype)
        data, weighted = np.empty((2, n), dtype)
        matrix.copy_entries(
            *self.csr, self.rows, turn, *self.extra, starts, columns, data, weighted, scale, pieces
        )
        by_column = self._by_column(starts, columns, pieces)
        return Sampled(starts, columns, data, scale, weighted, *by_column)

    def _by_column(self, starts: Ints, columns: Ints, pieces: int) -> tuple[Ints, ...]:
        """Return (touched, begins, row_of, entry_of)."""
        if _SPARSE * len(columns) >= self.num_columns:
            counts = self._scratch.counts(pieces, self.num_columns)
            result: tuple[Ints, ...] = matrix.transpose(starts, columns, counts)
            return result
        found, _, numbers = matrix.distinct(columns, self._scratch.slots(self.num_columns))
        counts = np.zeros((pieces, len(found)), np.int32)
        return found, *matrix.transpose(starts, numbers, counts)[1:]
