"""Loops over non-zeros, compiled by numba for the CPU; plain arrays in, plain arrays out.

Work is cut into one piece a thread, equal in non-zeros, so that a hub's row is shared out like any
other. No two threads write to the same place and every sum has one order, so that the bits depend
on the number of threads alone. Gradients of tables are summed column by column through the
transposed batch matrix that `transpose` makes; nothing is scattered. `pieces` is the number of
threads, given from outside because what asks numba for it cannot be cached.
"""

# The functions are written for numba: index loops, no annotations it could not use.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

_fast: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
_threads = {**_fast, "parallel": True}


# -- the batch matrix and its transpose ------------------------------------------------------------


@njit(nogil=True, cache=True)
def row_starts(indptr, rows, most):
    """Return where each row's entries begin if they stand one after the other, `most` a row."""
    starts = np.empty(len(rows) + 1, np.int64)
    starts[0] = 0
    for i in range(len(rows)):
        starts[i + 1] = starts[i] + min(indptr[rows[i] + 1] - indptr[rows[i]], most)
    return starts


@njit(nogil=True, cache=True)
def copy_entries(indptr, indices, values, rows, starts, turn, columns, data, weighted, scale):
    """Copy the entries of the selected rows, or an even sample of a long row's.

    Of n entries k are taken, number ⌊(j + turn) n / k⌋ for j < k; with `turn` uniform in [0, 1)
    each is taken with probability k / n. `scale` becomes n / k, `weighted` the data times that.
    """
    for i in range(len(rows)):
        source = indptr[rows[i]]
        n = indptr[rows[i] + 1] - source
        k = starts[i + 1] - starts[i]
        scale[i] = n / k if k else 1
        for j in range(k):
            at = source + (j if n == k else int((j + turn) * n / k))
            columns[starts[i] + j] = indices[at]
            data[starts[i] + j] = values[at]
            weighted[starts[i] + j] = values[at] * scale[i]


@njit(nogil=True, cache=True)
def transpose(starts, columns, slot):
    """Return the batch matrix by columns.

    `slot` is scratch, -1 everywhere before and after. Returns (touched columns, where each begins,
    the row of each entry, the entry's number), entries of a column in the order of their rows.
    Columns are ascending unless very few are touched, so that what follows walks through memory.
    """
    n = len(columns)
    touched = np.empty(min(n, len(slot)), np.int64)
    k = 0
    for e in range(n):  # slot: -1, less the number of a column's entries
        if slot[columns[e]] == -1:
            touched[k] = columns[e]
            k += 1
        slot[columns[e]] -= 1
    if 16 * k > len(slot):
        k = 0
        for c in range(len(slot)):
            if slot[c] < -1:
                touched[k] = c
                k += 1
    begins = np.empty(k + 1, np.int64)
    begins[0] = 0
    for s in range(k):
        begins[s + 1] = begins[s] - slot[touched[s]] - 1
        slot[touched[s]] = begins[s]  # from here on: where the next entry goes
    row_of = np.empty(n, np.int32)
    entry_of = np.empty(n, np.int32)
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            at = slot[columns[e]]
            slot[columns[e]] = at + 1
            row_of[at] = i
            entry_of[at] = e
    for s in range(k):
        slot[touched[s]] = -1
    return touched[:k].copy(), begins, row_of, entry_of


@njit(nogil=True, cache=True)
def _row_at(starts, entry):
    """The last row that begins at or before an entry."""
    low, high = 0, len(starts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= entry:
            low = middle
        else:
            high = middle - 1
    return low


# -- encode: M W -----------------------------------------------------------------------------------


@njit(**_fast)
def _add_rows(columns, data, low, high, table, out):
    """Add to `out` Σ_e data[e] · table[columns[e]] for low ≤ e < high, four rows at a time."""
    d = table.shape[1]
    e = low
    while e + 4 <= high:
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


@njit(**_fast)
def _encode_piece(indptr, indices, values, rows, starts, table, low, high, out, partial):
    """Rows of the entries low … high-1; a row that began in an earlier piece goes to `partial`."""
    row = _row_at(starts, low)
    first = -1
    while row < len(rows) and starts[row] < high:
        shift = indptr[rows[row]] - starts[row]
        begin, end = max(low, starts[row]) + shift, min(high, starts[row + 1]) + shift
        if starts[row] < low:
            first = row
            _add_rows(indices, values, begin, end, table, partial)
        else:
            _add_rows(indices, values, begin, end, table, out[row])
        row += 1
    return first


@njit(**_threads)
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
            _add_rows(
                extra_columns[i], extra_values[i], 0, extra_columns.shape[1], table, out[b + i]
            )


def encode(indptr, indices, values, rows, starts, extra_columns, extra_values, table, pieces):
    """Return M W: the selected rows of the matrix, then the extra rows."""
    out = np.zeros((len(rows) + len(extra_columns), table.shape[1]), table.dtype)
    partial, first = np.zeros((pieces, table.shape[1]), table.dtype), np.full(pieces, -1)
    matrix = (indptr, indices, values, rows, starts, extra_columns, extra_values)
    _encode(*matrix, table, out, partial, first)
    _join(out, partial, first)
    return out


def _join(out, partial, first):
    """Add what pieces summed for a row that began before them."""
    for k, row in enumerate(first):
        if row >= 0:
            out[row] += partial[k]


@njit(**_fast)
def _sum_column(begin, end, row_of, entry_of, data, x, out):
    """Set `out` to Σ over a column's entries of data[entry] · x[row]."""
    d = x.shape[1]
    for f in range(d):
        out[f] = 0
    e = begin
    while e + 2 <= end:
        a, b = x[row_of[e]], x[row_of[e + 1]]
        va, vb = data[entry_of[e]], data[entry_of[e + 1]]
        for f in range(d):
            out[f] += va * a[f] + vb * b[f]
        e += 2
    if e < end:
        a = x[row_of[e]]
        va = data[entry_of[e]]
        for f in range(d):
            out[f] += va * a[f]


def table_gradient(begins, row_of, entry_of, data, x, pieces):
    """Return Mᵀ x at the touched columns, with `data` for the entries of M."""
    out = np.empty((len(begins) - 1, x.shape[1]), x.dtype)
    _table_gradient(begins, row_of, entry_of, data, x, pieces, out)
    return out


@njit(**_threads)
def _table_gradient(begins, row_of, entry_of, data, x, pieces, out):
    n = begins[-1]
    for k in prange(pieces):
        low, high = n * k // pieces, n * (k + 1) // pieces
        s = _first_column(begins, low)
        while s < len(begins) - 1 and begins[s] < high:
            _sum_column(begins[s], begins[s + 1], row_of, entry_of, data, x, out[s])
            s += 1


@njit(nogil=True, cache=True)
def _first_column(begins, entry):
    """The first column that begins at or after an entry."""
    low, high = 0, len(begins) - 1
    while low < high:
        middle = (low + high) // 2
        if begins[middle] < entry:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def column_sums(begins, entry_of, data):
    """Return the sum of `data` over each touched column."""
    out = np.empty(len(begins) - 1, data.dtype)
    for s in range(len(begins) - 1):
        total = data.dtype.type(0)
        for e in range(begins[s], begins[s + 1]):
            total += data[entry_of[e]]
        out[s] = total
    return out


# -- reconstruction: Σ_i ω_i Σ_j (σ(x_i·V_j + c_j) − a_ij)² ----------------------------------------


@njit(**_fast)
def _dot(x, y):
    total = x.dtype.type(0)
    for f in range(len(x)):
        total += x[f] * y[f]
    return total


@njit(**_fast)
def _reconstruct_entries(x, columns, data, table, bias, weight, low, high, slope):
    """Set the slope of a row's non-zeros low … high-1 and return their loss."""
    one = x.dtype.type(1)  # a plain 1 would make everything after it float64
    loss = 0.0
    for e in range(low, high):
        z = bias[columns[e]] + _dot(x, table[columns[e]])
        fitted = one / (one + math.exp(-z))
        error = weight * (fitted - data[e])
        loss += error * (fitted - data[e])
        slope[e] = (error + error) * fitted * (one - fitted)
    return loss


@njit(**_fast)
def _reconstruct_piece(
    starts, columns, data, x, table, bias, weights, low, high, slope, dx, partial
):
    row = _row_at(starts, low)
    first = -1
    loss = 0.0
    while row < len(starts) - 1 and starts[row] < high:
        gradient = dx[row]
        if starts[row] < low:
            first = row
            gradient = partial
        begin, end = max(low, starts[row]), min(high, starts[row + 1])
        loss += _reconstruct_entries(
            x[row], columns, data, table, bias, weights[row], begin, end, slope
        )
        _add_rows(columns, slope, begin, end, table, gradient)
        row += 1
    return first, loss


@njit(**_threads)
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


def reconstruction(starts, columns, data, x, table, bias, weights, pieces):
    """Return (loss, its slope in each non-zero's logit, its gradient in x)."""
    slope, dx = np.empty(starts[-1], x.dtype), np.zeros_like(x)
    partial, first = np.zeros((pieces, x.shape[1]), x.dtype), np.full(pieces, -1)
    loss = np.zeros(pieces)
    where = (starts, columns, data)
    _reconstruction(*where, x, table, bias, weights, slope, dx, partial, first, loss)
    _join(dx, partial, first)
    return loss.sum(), slope, dx


# -- the hidden layer's pre-activation -------------------------------------------------------------


def gather_sum(parts, index):
    """Return Σ_p parts[p][index[:, p]]."""
    out = np.empty((len(index), parts[0].shape[1]), parts[0].dtype)
    _gather_sum(parts, index, out)
    return out


@njit(**_threads)
def _gather_sum(parts, index, out):
    h = out.shape[1]
    for i in prange(len(index)):
        line = out[i]
        part = parts[0][index[i, 0]]
        for f in range(h):
            line[f] = part[f]
        for p in range(1, len(parts)):
            part = parts[p][index[i, p]]
            for f in range(h):
                line[f] += part[f]


@njit(nogil=True, cache=True)
def sort_by_node(index, num_nodes):
    """Return (where each node's tuples begin, the tuples by node), tuples in order."""
    begins = np.zeros(num_nodes + 1, np.int64)
    for i in range(len(index)):
        begins[index[i] + 1] += 1
    for v in range(num_nodes):
        begins[v + 1] += begins[v]
    cursor = begins[:-1].copy()
    tuples = np.empty(len(index), np.int64)
    for i in range(len(index)):
        tuples[cursor[index[i]]] = i
        cursor[index[i]] += 1
    return begins, tuples


@njit(**_fast)
def _sum_rows(begin, end, rows, x, out):
    for f in range(x.shape[1]):
        out[f] = 0
    for e in range(begin, end):
        line = x[rows[e]]
        for f in range(x.shape[1]):
            out[f] += line[f]


def scatter_sum(begins, tuples, x, pieces):
    """Return for each node the sum of the rows of `x` of its tuples."""
    out = np.zeros((len(begins) - 1, x.shape[1]), x.dtype)
    _scatter_sum(begins, tuples, x, pieces, out)
    return out


@njit(**_threads)
def _scatter_sum(begins, tuples, x, pieces, out):
    n = begins[-1]
    for k in prange(pieces):
        low, high = n * k // pieces, n * (k + 1) // pieces
        v = _first_column(begins, low)
        while v < len(begins) - 1 and begins[v] < high:
            _sum_rows(begins[v], begins[v + 1], tuples, x, out[v])
            v += 1


# -- bookkeeping -----------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
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
    if k == len(slot):  # every node is there: let them stand in order, as the whole matrix does
        in_order = np.zeros(k, np.int64)
        for s in range(k):
            in_order[found[s]] = visits[s]
        return np.arange(k), in_order, nodes.copy()
    return found[:k].copy(), visits[:k].copy(), inverse


# -- optimizers ------------------------------------------------------------------------------------


@njit(**_fast)
def _is_zero(row):
    for f in range(len(row)):
        if row[f] != 0:
            return False
    return True


@njit(**_threads)
def adam(rows, gradient, p, m, v, rate, beta1, beta2, correction, epsilon):
    """Adam on the rows of p; `rate` = lr / (1 − β1^t), `correction` = 1 / (1 − β2^t)."""
    one = p.dtype.type(1)
    for i in prange(len(rows)):
        r = rows[i]
        pr, mr, vr, g = p[r], m[r], v[r], gradient[i]
        if not _is_zero(g):
            for f in range(p.shape[1]):
                mr[f] = beta1 * mr[f] + (one - beta1) * g[f]
                vr[f] = beta2 * vr[f] + (one - beta2) * g[f] * g[f]
                pr[f] -= rate * mr[f] / (math.sqrt(vr[f] * correction) + epsilon)


@njit(**_threads)
def scaled_gradient(rows, gradient, p, s, lr, decay, gain, epsilon):
    """RMSprop (decay β2, gain 1 − β2) and Adagrad (1, 1): p −= lr · g / (√s + ε)."""
    for i in prange(len(rows)):
        r = rows[i]
        pr, sr, g = p[r], s[r], gradient[i]
        if not _is_zero(g):
            for f in range(p.shape[1]):
                sr[f] = decay * sr[f] + gain * g[f] * g[f]
                pr[f] -= lr * g[f] / (math.sqrt(sr[f]) + epsilon)


@njit(**_threads)
def plain_gradient(rows, gradient, p, lr):
    """Stochastic gradient descent: p −= lr · g."""
    for i in prange(len(rows)):
        pr, g = p[rows[i]], gradient[i]
        for f in range(p.shape[1]):
            pr[f] -= lr * g[f]
