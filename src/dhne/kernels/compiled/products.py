"""Products of factors with dropout, drop(u ⊙ Π_k (1 + drop(x_k) Q_k)), but for the matrix products.

A number is dropped if a random byte is below `below`; the bytes of a row follow from (seed, row),
so the gradient draws the same ones again instead of keeping them.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .maths import INLINE, PLAIN, THREADS


@njit(**INLINE)
def _mix(state):
    """Return 64 bits that depend on all bits of `state` (the finaliser of splitmix64)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@njit(**INLINE)
def _masks(seed, row, below, scale, masks):
    """Set `masks` to 0 or `scale`, element by element."""
    if below == 0:
        masks[:] = scale
        return
    start = _mix(np.uint64(seed) + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15))
    zero = masks.dtype.type(0)
    for block in range((len(masks) + 7) // 8):
        bits = _mix(start + np.uint64(block) * np.uint64(0x9E3779B97F4A7C15))
        for c in range(8 * block, min(8 * block + 8, len(masks))):
            byte = (bits >> np.uint64(8 * (c - 8 * block))) & np.uint64(255)
            masks[c] = scale if byte >= below else zero


@njit(**THREADS)
def gather(vectors, index, seed, below, pieces, out):
    """Set row r of `out` to vector index[r], with dropout."""
    scale = out.dtype.type(256 / (256 - below))
    m, d = out.shape
    for k in prange(pieces):
        masks = np.empty(d, out.dtype)
        for r in range(m * k // pieces, m * (k + 1) // pieces):
            _masks(seed, r, below, scale, masks)
            line, row = out[r], vectors[index[r]]
            for c in range(d):
                line[c] = row[c] * masks[c]


@njit(**PLAIN)
def scatter(gradient, index, seed, below, out):
    """Add row r of `gradient` to row index[r] of `out`, with the dropout of `gather`."""
    d = out.shape[1]
    scale, masks = out.dtype.type(256 / (256 - below)), np.empty(d, out.dtype)
    for r in range(len(index)):
        _masks(seed, r, below, scale, masks)
        line, row = out[index[r]], gradient[r]
        for c in range(d):
            line[c] += row[c] * masks[c]


@njit(**THREADS)
def product(table, index, factors, seed, below, pieces, out):
    """Set row r of `out` to table[index[r]] ⊙ Π_k (1 + factors[k, r]), with dropout."""
    scale, one = out.dtype.type(256 / (256 - below)), out.dtype.type(1)
    m, d = out.shape
    for k in prange(pieces):
        masks = np.empty(d, out.dtype)
        for r in range(m * k // pieces, m * (k + 1) // pieces):
            _masks(seed, r, below, scale, masks)
            line, row = out[r], table[index[r]]
            for c in range(d):
                line[c] = row[c] * masks[c]
            for f in range(len(factors)):
                factor = factors[f, r]
                for c in range(d):
                    line[c] *= one + factor[c]


@njit(**THREADS)
def product_gradient(table, index, factors, seed, below, pieces, gradient, of_rows, of_factors):
    """Set `of_rows` and `of_factors` to the gradients in the table's rows and in the factors."""
    scale, one = gradient.dtype.type(256 / (256 - below)), gradient.dtype.type(1)
    m, d = gradient.shape
    for k in prange(pieces):
        masks = np.empty(d, gradient.dtype)
        for r in range(m * k // pieces, m * (k + 1) // pieces):
            _masks(seed, r, below, scale, masks)
            incoming, row, total = gradient[r], table[index[r]], of_rows[r]
            for c in range(d):
                masks[c] *= incoming[c]
                total[c] = masks[c]
            for f in range(len(factors)):
                factor, slope = factors[f, r], of_factors[f, r]
                for c in range(d):
                    total[c] *= one + factor[c]
                    slope[c] = masks[c] * row[c]
                for g in range(len(factors)):
                    if g != f:
                        other = factors[g, r]
                        for c in range(d):
                            slope[c] *= one + other[c]


@njit(**PLAIN)
def add_rows(rows, index, out):
    """Add row r to row index[r] of `out`."""
    for r in range(len(index)):
        line, row = out[index[r]], rows[r]
        for c in range(out.shape[1]):
            line[c] += row[c]
