"""M W, the reconstruction Σ_i ω_i Σ_j (σ(x_i·V_j + c_j) − a_ij)², and their gradients."""

# The functions are written for numba: index loops, no annotations it could not use.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .maths import FAST, INLINE, THREADS, prefetch_row, sigmoid
from .matrix import first_at, row_at

_AHEAD = 8  # non-zeros, to the one whose row of a table is prefetched
_BLOCK = 128  # non-zeros decoded in one go: their rows of V stay in the nearest cache


@njit(**INLINE)
def add_rows(columns, data, low, high, table, out):
    """Add to `out` Σ_e data[e] · table[columns[e]] for low ≤ e < high, four rows at a time."""
    d = table.shape[1]
    e = low
    while e + 4 <= high:
        for ahead in range(e + _AHEAD, min(e + _AHEAD + 4, high)):
            prefetch_row(table, columns[ahead])
        a, b, c, g = (
            table[columns[e]],
            table[columns[e + 1]],
            table[columns[e + 2]],
            table[columns[e + 3]],
        )
        va, vb, vc, vg = data[e], data[e + 1], data[e + 2], data[e + 3]
        for f in range(d):
            out[f] += va * a[f] + vb * b[f] + vc * c[f] + vg * g[f]
        e += 4
    while e < high:
        a = table[columns[e]]
        va = data[e]
        for f in range(d):
            out[f] += va * a[f]
        e += 1


def _join(out, partial, first):
    """Add what pieces summed for a row that began before them."""
    for k, row in enumerate(first):
        if row >= 0:
            out[row] += partial[k]


# -- encode: M W -----------------------------------------------------------------------------------


def encode(indptr, indices, values, rows, starts, extra_columns, extra_values, table, pieces):
    """Return M W: the selected rows of the matrix, then the extra rows."""
    out = np.zeros((len(rows) + len(extra_columns), table.shape[1]), table.dtype)
    partial, first = np.zeros((pieces, table.shape[1]), table.dtype), np.full(pieces, -1)
    matrix = (indptr, indices, values, rows, starts, extra_columns, extra_values)
    _encode(*matrix, table, out, partial, first)
    _join(out, partial, first)
    return out


@njit(**THREADS)
def _encode(
    indptr, indices, values, rows, starts, extra_columns, extra_values, table, out, partial, first
):
    n, b, pieces = starts[-1], len(rows), len(first)
    for k in prange(pieces):
        low, high = n * k // pieces, n * (k + 1) // pieces
        if low < high:
            first[k] = _encode_piece(
                indptr, indices, values, rows, starts, table, low, high, out, partial[k]
            )
        r = len(extra_columns)
        for i in range(r * k // pieces, r * (k + 1) // pieces):
            add_rows(
                extra_columns[i], extra_values[i], 0, extra_columns.shape[1], table, out[b + i]
            )


@njit(**FAST)
def _encode_piece(indptr, indices, values, rows, starts, table, low, high, out, partial):
    """Rows of the entries low … high-1; a row that began in an earlier piece goes to `partial`."""
    row = row_at(starts, low)
    first = -1
    while row < len(rows) and starts[row] < high:
        if row + 1 < len(rows):
            begin = indptr[rows[row + 1]]
            for e in range(begin, min(begin + _AHEAD, indptr[rows[row + 1] + 1])):
                prefetch_row(table, indices[e])
        shift = indptr[rows[row]] - starts[row]
        begin, end = max(low, starts[row]) + shift, min(high, starts[row + 1]) + shift
        if starts[row] < low:
            first = row
            add_rows(indices, values, begin, end, table, partial)
        else:
            add_rows(indices, values, begin, end, table, out[row])
        row += 1
    return first


@njit(**FAST)
def add_bases(rows, base):
    """Add to each of the last rows, as many as there are of `base`, the row that base names."""
    first = len(rows) - len(base)
    for i in range(len(base)):
        line, row = rows[first + i], rows[base[i]]
        for f in range(rows.shape[1]):
            line[f] += row[f]


@njit(**FAST)
def add_to_bases(rows, base):
    """Add each of the last rows to the row that base names: what `add_bases` is the other way."""
    first = len(rows) - len(base)
    for i in range(len(base)):
        line, row = rows[base[i]], rows[first + i]
        for f in range(rows.shape[1]):
            line[f] += row[f]


# -- reconstruction --------------------------------------------------------------------------------


def reconstruction(starts, columns, data, x, table, bias, weights, pieces):
    """Return (loss, its slope in each non-zero's logit, its gradient in x)."""
    slope, dx = np.empty(starts[-1], x.dtype), np.zeros_like(x)
    partial, first = np.zeros((pieces, x.shape[1]), x.dtype), np.full(pieces, -1)
    loss = np.zeros(pieces)
    where = (starts, columns, data)
    _reconstruction(*where, x, table, bias, weights, slope, dx, partial, first, loss)
    _join(dx, partial, first)
    return loss.sum(), slope, dx


@njit(**THREADS)
def _reconstruction(
    starts, columns, data, x, table, bias, weights, slope, dx, partial, first, loss
):
    n, pieces = starts[-1], len(first)
    for k in prange(pieces):
        low, high = n * k // pieces, n * (k + 1) // pieces
        if low < high:
            first[k], loss[k] = _reconstruct_piece(
                starts, columns, data, x, table, bias, weights, low, high, slope, dx, partial[k]
            )


@njit(**FAST)
def _reconstruct_piece(
    starts, columns, data, x, table, bias, weights, low, high, slope, dx, partial
):
    row = row_at(starts, low)
    first = -1
    loss = 0.0
    while row < len(starts) - 1 and starts[row] < high:
        gradient = dx[row]
        if starts[row] < low:
            first = row
            gradient = partial
        begin, end = max(low, starts[row]), min(high, starts[row + 1])
        while begin < end:
            stop = min(begin + _BLOCK, end)
            _logits(x[row], columns, table, bias, begin, stop, slope)
            loss += _slopes(data, weights[row], begin, stop, slope)
            add_rows(columns, slope, begin, stop, table, gradient)
            begin = stop
        row += 1
    return first, loss


@njit(**INLINE)
def _logits(x, columns, table, bias, low, high, out):
    """Set out[e] to x · table[columns[e]] + bias[columns[e]], four at a time."""
    e = low
    while e + 4 <= high:
        for ahead in range(e + _AHEAD, min(e + _AHEAD + 4, len(columns))):
            prefetch_row(table, columns[ahead])
        i, j, k, m = columns[e], columns[e + 1], columns[e + 2], columns[e + 3]
        za, zb, zc, zg = bias[i], bias[j], bias[k], bias[m]
        a, b, c, g = table[i], table[j], table[k], table[m]
        for f in range(len(x)):
            za += x[f] * a[f]
            zb += x[f] * b[f]
            zc += x[f] * c[f]
            zg += x[f] * g[f]
        out[e], out[e + 1], out[e + 2], out[e + 3] = za, zb, zc, zg
        e += 4
    while e < high:
        z, a = bias[columns[e]], table[columns[e]]
        for f in range(len(x)):
            z += x[f] * a[f]
        out[e] = z
        e += 1


@njit(**INLINE)
def _slopes(data, weight, low, high, slope):
    """Turn the logits in `slope` into the slopes of the loss, and return the loss."""
    one, loss = slope.dtype.type(1), slope.dtype.type(0)
    for e in range(low, high):
        fitted, target = sigmoid(slope[e]), min(data[e], one)
        error = weight * (fitted - target)
        loss += error * (fitted - target)
        slope[e] = (error + error) * fitted * (one - fitted)
    return loss


# -- gradients of tables ---------------------------------------------------------------------------


@njit(**INLINE)
def column_end(begins, s, entry_of, known):
    """Where the entries of touched column s end that have data: those below `known`."""
    end = begins[s + 1]
    while end > begins[s] and entry_of[end - 1] >= known:
        end -= 1
    return end


@njit(**INLINE)
def sum_column(begins, s, row_of, entry_of, data, x, out):
    """Set `out` to Σ over the entries of touched column s of data[entry] · x[row].

    Entries beyond the data count nothing; they are a column's last. Four at a time, as most
    columns have few: of the last four some may be there twice, with a weight of zero.
    """
    begin, end = begins[s], column_end(begins, s, entry_of, len(data))
    zero = data.dtype.type(0)
    for f in range(x.shape[1] if begin == end else 0):
        out[f] = 0
    for e in range(begin, end, 4):
        i, j, k = min(e + 1, end - 1), min(e + 2, end - 1), min(e + 3, end - 1)
        a, b, c, g = x[row_of[e]], x[row_of[i]], x[row_of[j]], x[row_of[k]]
        va = data[entry_of[e]]
        vb = data[entry_of[i]] if e + 1 < end else zero
        vc = data[entry_of[j]] if e + 2 < end else zero
        vg = data[entry_of[k]] if e + 3 < end else zero
        if e == begin:
            for f in range(x.shape[1]):
                out[f] = va * a[f] + vb * b[f] + vc * c[f] + vg * g[f]
        else:
            for f in range(x.shape[1]):
                out[f] += va * a[f] + vb * b[f] + vc * c[f] + vg * g[f]


def table_gradient(begins, row_of, entry_of, data, x, pieces):
    """Return Mᵀ x at the touched columns, with `data` for the entries of M."""
    out = np.empty((len(begins) - 1, x.shape[1]), x.dtype)
    _table_gradient(begins, row_of, entry_of, data, x, pieces, out)
    return out


@njit(**THREADS)
def _table_gradient(begins, row_of, entry_of, data, x, pieces, out):
    n = begins[-1]
    for k in prange(pieces):
        low, high = first_at(begins, n * k // pieces), first_at(begins, n * (k + 1) // pieces)
        for s in range(low, high):
            sum_column(begins, s, row_of, entry_of, data, x, out[s])


def column_sums(begins, entry_of, data, pieces):
    """Return the sum of `data` over each touched column."""
    out = np.empty((len(begins) - 1, 1), data.dtype)
    _column_sums(begins, entry_of, data, pieces, out)
    return out


@njit(**THREADS)
def _column_sums(begins, entry_of, data, pieces, out):
    n = begins[-1]
    for k in prange(pieces):
        low, high = first_at(begins, n * k // pieces), first_at(begins, n * (k + 1) // pieces)
        for s in range(low, high):
            total = data.dtype.type(0)
            for e in range(begins[s], column_end(begins, s, entry_of, len(data))):
                total += data[entry_of[e]]
            out[s, 0] = total
