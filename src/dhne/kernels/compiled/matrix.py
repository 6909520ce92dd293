"""The batch matrix by rows and by columns, and the distinct nodes of a batch."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .maths import PLAIN

# -- by rows ---------------------------------------------------------------------------------------


@njit(**PLAIN)
def row_starts(indptr, rows, most):
    """Return where each row's entries begin if stored one after the other, `most` per row."""
    starts = np.empty(len(rows) + 1, np.int64)
    starts[0] = 0
    for i in range(len(rows)):
        starts[i + 1] = starts[i] + min(indptr[rows[i] + 1] - indptr[rows[i]], most)
    return starts


@njit(**PLAIN)
def row_at(starts, entry):
    """The last row that begins at or before an entry."""
    low, high = 0, len(starts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= entry:
            low = middle
        else:
            high = middle - 1
    return low


@njit(**PLAIN)
def first_at(starts, entry):
    """The first row that begins at or after an entry."""
    low, high = 0, len(starts) - 1
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < entry:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**PLAIN)
def _copy_row(indices, values, source, n, turn, columns, data, weighted):
    """Copy a row's entries, or an even sample of them; return n / k.

    Of n entries k are taken, number ⌊(j + turn) n / k⌋ for j < k; with `turn` uniform in [0, 1)
    each is taken with probability k / n. `weighted` is the data times n / k.
    """
    k = len(columns)
    scale = data.dtype.type(n / k) if k else data.dtype.type(1)
    for j in range(k):
        at = source + (j if n == k else int((j + turn) * n / k))
        columns[j] = indices[at]
        data[j] = values[at]
        weighted[j] = values[at] * scale
    return scale


@njit(parallel=True, **PLAIN)
def copy_entries(
    indptr, indices, values, rows, turn, extra_columns, extra_values, starts, columns, data,
    weighted, scale, pieces,
):  # fmt: skip
    """Copy the entries of the selected rows, samples of long ones, and of the extra rows."""
    n, b = starts[-1], len(rows)
    for k in prange(pieces):
        for i in range(first_at(starts, n * k // pieces), first_at(starts, n * (k + 1) // pieces)):
            low, high = starts[i], starts[i + 1]
            if i < b:
                source = indptr[rows[i]]
                scale[i] = _copy_row(
                    indices, values, source, indptr[rows[i] + 1] - source, turn,
                    columns[low:high], data[low:high], weighted[low:high],
                )  # fmt: skip
            else:
                for j in range(high - low):
                    columns[low + j] = extra_columns[i - b, j]
                    data[low + j] = extra_values[i - b, j]
                    weighted[low + j] = extra_values[i - b, j]


# -- by columns ------------------------------------------------------------------------------------


def transpose(starts, columns, counts):
    """Return the batch matrix by columns.

    Each piece of the rows counts its entries in every column, so that each knows where its own go.
    `counts` is scratch, ``int32[pieces, columns]``, 0 everywhere before and after. Returns (touched
    columns, ascending; where each begins; the row of each entry; the entry's number), the entries
    of a column in the order of their rows.
    """
    _count_columns(starts, columns, counts)
    touched, begins = _column_begins(counts, len(columns))
    row_of, entry_of = np.empty((2, len(columns)), np.int32)
    _fill_columns(starts, columns, counts, row_of, entry_of)
    return touched, begins, row_of, entry_of


@njit(parallel=True, **PLAIN)
def _count_columns(starts, columns, counts):
    n, pieces = starts[-1], len(counts)
    for k in prange(pieces):
        low = starts[first_at(starts, n * k // pieces)]
        high = starts[first_at(starts, n * (k + 1) // pieces)]
        for e in range(low, high):
            counts[k, columns[e]] += 1


@njit(**PLAIN)
def _column_begins(counts, n):
    """Turn the counts into where the next entry of each piece and column goes."""
    pieces, width = counts.shape
    touched = np.empty(min(n, width), np.int64)
    begins = np.empty(min(n, width) + 1, np.int64)
    at = number = 0
    for c in range(width):
        begin = at
        for k in range(pieces):
            here = counts[k, c]
            counts[k, c] = at
            at += here
        if at > begin:
            touched[number] = c
            begins[number] = begin
            number += 1
    begins[number] = at
    return touched[:number].copy(), begins[: number + 1].copy()


@njit(parallel=True, **PLAIN)
def _fill_columns(starts, columns, counts, row_of, entry_of):
    n, pieces = starts[-1], len(counts)
    for k in prange(pieces):
        for i in range(first_at(starts, n * k // pieces), first_at(starts, n * (k + 1) // pieces)):
            for e in range(starts[i], starts[i + 1]):
                at = counts[k, columns[e]]
                counts[k, columns[e]] = at + 1
                row_of[at] = i
                entry_of[at] = e
        counts[k] = 0


# -- a batch's nodes -------------------------------------------------------------------------------


@njit(**PLAIN)
def distinct(nodes, slot):
    """Return (distinct nodes in order of appearance, visits, inverse); `slot` is scratch, -1."""
    inverse = np.empty(len(nodes), np.int64)
    found = np.empty(len(nodes), np.int64)
    visits = np.zeros(len(nodes), np.int64)
    k = 0
    for i in range(len(nodes)):
        s = slot[nodes[i]]
        if s < 0:
            s = k
            slot[nodes[i]] = s
            found[s] = nodes[i]
            k += 1
        inverse[i] = s
        visits[s] += 1
    for s in range(k):
        slot[found[s]] = -1
    if k == len(slot):  # every node occurs: keep them in order, like the whole matrix
        in_order = np.zeros(k, np.int64)
        for s in range(k):
            in_order[found[s]] = visits[s]
        for i in range(len(nodes)):
            inverse[i] = nodes[i]
        return np.arange(k), in_order, inverse
    return found[:k].copy(), visits[:k].copy(), inverse
