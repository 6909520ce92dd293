"""A hidden layer over queries with every candidate for their open position, compiled by numba.

    out[q, i] = w · tanh(candidates[i] + degrees[i] · z + Σ_j near_j[q, i] Z_j + questions[q]) + c

near_j[q, i] is 0 for most candidates, and the same for all queries that share a line. So queries
are taken in groups with the same line of the first `Near`: what it adds to a block of candidates is
added once per group, and only the others' lines are added query by query.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .maths import INLINE, THREADS, tanh

_BLOCK = 64  # candidates whose sums are kept beside the processor


@njit(**INLINE)
def _not_zero(numbers, first, size, factors, rows):
    """Append the numbers that are not 0, and their rows of Z from `first` on."""
    for c in range(len(numbers)):
        if numbers[c] != 0:
            factors[size], rows[size] = numbers[c], first + c
            size += 1
    return size


@njit(**INLINE)
def _add_rows(base, r, factors, rows, size, weights):
    """Add ``factors @ weights[rows]`` to line r of `base`; return where the result is.

    It is in one of two spare lines: a loop that reads and writes the same line is not vectorized.
    """
    factors[size] = 0  # two rows at a time
    for k in range(0, size, 2):
        x, y = factors[k], factors[k + 1]
        z, next_z = weights[rows[k]], weights[rows[k + 1]]
        spare = _BLOCK + 1 if r == _BLOCK else _BLOCK
        old, new = base[r], base[spare]
        for f in range(len(new)):
            new[f] = old[f] + x * z[f] + y * next_z[f]
        r = spare
    return r


@njit(**INLINE)
def _shared_sums(candidates, degrees, slope, a, b, ids, values, weights, start, stop, lists, base):
    """Fill `base` with what all queries of a group have of the candidates in a block.

    The entries of their first line are a to b.
    """
    factors, rows = lists
    for i in range(start, stop):
        row, sums, degree = candidates[i], base[i - start], degrees[i]
        for f in range(len(slope)):
            sums[f] = row[f] + degree * slope[f]
    e = a + np.searchsorted(ids[a:b], start)
    while e < b and ids[e] < stop:
        size = _not_zero(values[e], 0, 0, factors, rows)
        r = _add_rows(base, ids[e] - start, factors, rows, size, weights)
        base[ids[e] - start] = base[r]
        e += 1


@njit(**THREADS)
def open_layer(
    candidates, degrees, slope, questions, order, groups, first, last, ids, values, weights, output,
    bias, pieces, out,
):  # fmt: skip
    """Fill ``out: float[m, n]``.

    Queries ``order[groups[g]:groups[g + 1]]`` have the same line of the first `Near`. Query q's
    line of number j is the entries ``first[q, j]`` to ``last[q, j]`` of `ids`, ascending, and of
    `values`; `weights` has the rows of Z_0, then those of Z_1, …; `slope` is z.
    """
    n, h = candidates.shape
    parts, wide = first.shape[1], values.shape[1]
    for piece in prange(pieces):
        base = np.empty((_BLOCK + 2, h), candidates.dtype)  # two spare lines
        at, end = np.empty(parts, np.int64), np.empty(parts, np.int64)
        factors = np.empty(parts * wide + 1, values.dtype)
        rows = np.zeros(parts * wide + 1, np.int64)
        low, high = n * piece // pieces, n * (piece + 1) // pieces
        for g in range(len(groups) - 1):
            one = order[groups[g]]
            a, b = (first[one, 0], last[one, 0]) if parts else (0, 0)
            for start in range(low, high, _BLOCK):
                stop = min(start + _BLOCK, high)
                _shared_sums(
                    candidates, degrees, slope, a, b, ids, values, weights, start, stop,
                    (factors, rows), base,
                )  # fmt: skip
                for k in range(groups[g], groups[g + 1]):
                    q = order[k]
                    question = questions[q]
                    for j in range(1, parts):
                        line = ids[first[q, j] : last[q, j]]
                        at[j] = first[q, j] + np.searchsorted(line, start)
                        end[j] = last[q, j]
                    for i in range(start, stop):
                        size = 0
                        for j in range(1, parts):
                            if at[j] < end[j] and ids[at[j]] == i:
                                size = _not_zero(values[at[j]], j * wide, size, factors, rows)
                                at[j] += 1
                        r = _add_rows(base, i - start, factors, rows, size, weights)
                        sums, total = base[r], out.dtype.type(0)
                        for f in range(h):
                            total += output[f] * tanh(sums[f] + question[f])
                        out[q, i] = total + bias
