"""The inner loops of ranking, compiled by numba; import this only where it runs."""

# mypy: disable-error-code="untyped-decorator,no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from dhne.kernels.compiling import njit

_BLOCK = 128  # candidates whose sums are kept beside the processor
_LOWEST = np.float32(-3e38)


# No argument is infinite or NaN (the caller sees to that), so the faster arithmetic is safe, and
# division by zero need not be looked for: every divisor is above 1.
@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def weighted_reciprocals(table: Any, queries: Any, weights: Any, out: Any) -> None:
    """Set ``out[q, i]`` to Σ_j weights[j] / (1 + table[i, j] · queries[q, j]).

    A row of the table is read once for all queries: it stays in the cache.
    """
    for i in range(table.shape[0]):
        for q in range(queries.shape[0]):
            total = np.float32(0)
            for j in range(table.shape[1]):
                total += weights[j] / (np.float32(1) + table[i, j] * queries[q, j])
            out[q, i] = total


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def weighted_reciprocals_at(table: Any, rows: Any, queries: Any, weights: Any, out: Any) -> None:
    """Set ``out[q, s]`` to the same sum for row ``rows[q, s]`` of the table."""
    for q in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            row = table[rows[q, s]]
            total = np.float32(0)
            for j in range(table.shape[1]):
                total += weights[j] / (np.float32(1) + row[j] * queries[q, j])
            out[q, s] = total


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def largest_sums(features: Any, margins: Any, factors: Any, ids: Any) -> Any:
    """Set ``ids[q]`` to the candidates whose sums are the largest.

    A sum is ``margins[i] + Σ_r factors[q, r] · features[r, i]``.

    Of equals the lower come first. Return for each q the least sum among them, which no other
    candidate exceeds. There must be at least as many candidates as `ids` has columns.

    Candidates go by in blocks. Those above the bar are collected; when twice as many are there as
    are wanted, the bar rises to the last wanted and the others are dropped.
    """
    n, wanted, asked = features.shape[1], ids.shape[1], factors.shape[0]
    bars = np.full(asked, _LOWEST, dtype=np.float32)
    sizes = np.zeros(asked, dtype=np.int64)
    values = np.empty((asked, 2 * wanted), dtype=np.float32)
    nodes = np.empty((asked, 2 * wanted), dtype=np.int64)
    sums = np.empty(_BLOCK, dtype=np.float32)
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
        for q in range(asked):
            highest = _add_up(features, margins, factors[q], start, stop, sums)
            bar, size = bars[q], sizes[q]
            if highest <= bar:
                continue
            for i in range(stop - start):
                if sums[i] > bar:
                    values[q, size], nodes[q, size] = sums[i], start + i
                    size += 1
                    if size == 2 * wanted:
                        bar, size = _keep(values[q], nodes[q], size, wanted), wanted
            bars[q], sizes[q] = bar, size
    for q in range(asked):
        bars[q] = _keep(values[q], nodes[q], sizes[q], wanted)
        ids[q] = nodes[q, :wanted]
    return bars


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _add_up(features: Any, margins: Any, factors: Any, start: int, stop: int, sums: Any) -> Any:
    """Set `sums` to those of the candidates from `start` to `stop`; return the largest.

    Four rows at a time, as slices of known length, so that the compiler can vectorize.
    """
    width, depth = stop - start, features.shape[0]
    first = margins[start:stop]
    for i in range(width):
        sums[i] = first[i]
    r = 0
    while r + 4 <= depth:
        a, b, c, d = factors[r], factors[r + 1], factors[r + 2], factors[r + 3]
        f, g = features[r, start:stop], features[r + 1, start:stop]
        h, k = features[r + 2, start:stop], features[r + 3, start:stop]
        for i in range(width):
            sums[i] += a * f[i] + b * g[i] + c * h[i] + d * k[i]
        r += 4
    while r < depth:
        a, f = factors[r], features[r, start:stop]
        for i in range(width):
            sums[i] += a * f[i]
        r += 1
    highest = _LOWEST
    for i in range(width):
        highest = max(highest, sums[i])
    return highest


@njit(cache=True, nogil=True)
def _keep(values: Any, nodes: Any, size: int, wanted: int) -> Any:
    """Move the `wanted` largest of the first `size` to the front, in order; return the least."""
    bar = np.partition(values[:size], size - wanted)[size - wanted]
    equals = wanted
    for i in range(size):
        if values[i] > bar:
            equals -= 1
    kept = 0
    for i in range(size):
        if values[i] > bar or (values[i] == bar and equals > 0):
            if values[i] == bar:
                equals -= 1
            values[kept], nodes[kept] = values[i], nodes[i]
            kept += 1
    return bar
