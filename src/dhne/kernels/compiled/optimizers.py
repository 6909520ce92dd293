"""Optimizer steps over the rows of a parameter that have a gradient, in one pass.

`adam_columns` steps over the touched rows of a table and makes their gradient on the way, which is
then never written to memory.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .autoencoder import sum_column
from .maths import INLINE, PLAIN, THREADS, prefetch_row

_AHEAD = 4  # columns, to the one whose rows are prefetched
_ENTRIES = 8  # how many entries' sums an optimizer's step over a row takes as long as


@njit(**INLINE)
def _is_zero(row):
    for f in range(len(row)):
        if row[f] != 0:
            return False
    return True


@njit(**INLINE)
def _adam_row(g, p, m, v, rate, beta1, beta2, correction, epsilon):
    one = p.dtype.type(1)
    if not _is_zero(g):
        for f in range(len(p)):
            first = beta1 * m[f] + (one - beta1) * g[f]
            second = beta2 * v[f] + (one - beta2) * g[f] * g[f]
            m[f], v[f] = first, second
            p[f] -= rate * first / (math.sqrt(second * correction) + epsilon)


@njit(**THREADS)
def adam(rows, gradient, p, m, v, rate, beta1, beta2, correction, epsilon):
    """Adam on the rows of p; `rate` = lr / (1 − β1^t), `correction` = 1 / (1 − β2^t)."""
    for i in prange(len(rows)):
        r = rows[i]
        _adam_row(gradient[i], p[r], m[r], v[r], rate, beta1, beta2, correction, epsilon)


@njit(**PLAIN)
def _share_of_columns(begins, k, pieces):
    """The first column of piece k, pieces being equal in what their columns cost."""
    low, high = 0, len(begins) - 1
    wanted = (begins[-1] + _ENTRIES * high) * k // pieces
    while low < high:
        middle = (low + high) // 2
        if begins[middle] + _ENTRIES * middle < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**THREADS)
def adam_columns(
    touched, begins, row_of, entry_of, data, x, pieces, p, m, v, rate, beta1, beta2, correction,
    epsilon,
):  # fmt: skip
    """Adam on the touched rows of a table, with the gradient that `table_gradient` would return."""
    for k in prange(pieces):
        g = np.empty(x.shape[1], x.dtype)
        low, high = _share_of_columns(begins, k, pieces), _share_of_columns(begins, k + 1, pieces)
        for s in range(low, high):
            r, ahead = touched[s], touched[min(s + _AHEAD, high - 1)]
            prefetch_row(p, ahead)
            prefetch_row(m, ahead)
            prefetch_row(v, ahead)
            sum_column(begins, s, row_of, entry_of, data, x, g)
            _adam_row(g, p[r], m[r], v[r], rate, beta1, beta2, correction, epsilon)


@njit(**THREADS)
def scaled_gradient(rows, gradient, p, s, lr, decay, gain, epsilon):
    """RMSprop (decay β2, gain 1 − β2) and Adagrad (1, 1): p −= lr · g / (√s + ε)."""
    for i in prange(len(rows)):
        r = rows[i]
        pr, sr, g = p[r], s[r], gradient[i]
        if not _is_zero(g):
            for f in range(p.shape[1]):
                sr[f] = decay * sr[f] + gain * g[f] * g[f]
                pr[f] -= lr * g[f] / (math.sqrt(sr[f]) + epsilon)


@njit(**THREADS)
def plain_gradient(rows, gradient, p, lr):
    """Stochastic gradient descent: p −= lr · g."""
    for i in prange(len(rows)):
        pr, g = p[rows[i]], gradient[i]
        for f in range(p.shape[1]):
            pr[f] -= lr * g[f]
