"""The counts of one tuple with every candidate at an open position, compiled by numba.

All candidates share the fixed nodes, so for each pair of a fixed node v and the open position

- ℓ(A[v, ·]) is spread over all columns once, and looking up an entry of v is reading an array;
- the second half of the paths, along(x) = Σ_y ℓ(A[v, y]) ℓ(A[x, y]) with y from v's sample, is
  summed once, from the rows of these y: A is symmetric. A candidate that is itself in the sample is
  not a y of its own paths; these few are counted like any other tuple.

A candidate then costs one read per neighbour in its samples.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .entries import INLINED, block_of
from .maths import PLAIN
from .pairs import count_pair, make_lists, nth_even, path_sum, shared_sum


@njit(parallel=True, **PLAIN)
def candidate_counts(
    flat, types, blocks, common, pairs, sizes, widths, nodes, position, low, shared, paths, hub,
    pieces, out,
):  # fmt: skip
    """Fill `out` ``[n, 3 · pairs + N]`` for the tuple `nodes` with low, low + 1, … at `position`.

    Nothing is left out. `sizes` and `widths` are the numbers of rows and columns of each position's
    table; the other arguments are those of `tuple_counts`.
    """
    n, length, degrees = len(out), len(types), 3 * len(pairs)
    whole = nodes.copy().reshape(1, length)
    whole[0, position] = 0
    given = np.zeros((1, out.shape[1]), out.dtype)
    lists = make_lists(paths), make_lists(paths)
    for p in range(length):
        given[0, degrees + p] = flat[7][flat[8][p, 4] + whole[0, p]]
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        if position not in (p, q):
            count_pair(
                flat, types, blocks, common, k, p, q, whole, whole, 0, out.dtype.type(0), shared,
                paths, hub, lists, given,
            )  # fmt: skip
    first = flat[8][position, 4] + low
    for i in prange(n):
        for c in range(out.shape[1]):
            out[i, c] = given[0, c]
        out[i, degrees + position] = flat[7][first + i]
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        if position not in (p, q):
            continue
        fixed = q if position == p else p
        v = whole[0, fixed]
        logs = np.zeros(widths[fixed], flat[2].dtype)
        _spread(flat, fixed, v, logs)
        _count_met(flat, blocks, fixed, position, v, low, out, 3 * k)
        along, each, sample = _first_steps(flat, blocks, sizes, fixed, position, v, paths, hub)
        for piece in prange(pieces):
            own = make_lists(paths), make_lists(paths)
            for i in range(n * piece // pieces, n * (piece + 1) // pieces):
                u = low + i
                out[i, 3 * k + 1] = _shared(
                    flat, types, common, whole, k, fixed, position, v, u, logs, shared
                )
                if not len(along):
                    continue
                if _is_among(sample, u):
                    a, b = (v, u) if fixed == p else (u, v)
                    out[i, 3 * k + 2] = path_sum(
                        flat, types, whole, 0, 0.0, p, q, a, b, False, False, blocks[p, q],
                        blocks[q, p], paths, hub, own,
                    )  # fmt: skip
                else:
                    out[i, 3 * k + 2] = each * _last_steps(
                        flat, blocks, fixed, position, v, u, along, paths, hub
                    )


@njit(**INLINED)
def _spread(flat, p, v, logs):
    """Set `logs` to ℓ(A[v, ·])."""
    at = flat[8][p, 0] + v * flat[8][p, 5]
    for e in range(flat[3][at], flat[3][at + flat[8][p, 5] - 1]):
        logs[flat[0][e]] = flat[2][e]


@njit(**INLINED)
def _count_met(flat, blocks, fixed, position, v, low, out, column):
    """Set a column of `out` to A[v, u] of every candidate u."""
    block = blocks[fixed, position]
    first = flat[4][flat[8][fixed, 1] + block] + low
    begin, end = block_of(flat, fixed, v, block)
    for e in range(begin, end):
        i = flat[0][e] - first
        if 0 <= i < len(out):
            out[i, column] = flat[1][e]


@njit(**INLINED)
def _first_steps(flat, blocks, sizes, fixed, position, v, most, hub):
    """Return (along(x) of all nodes x of v's type, how many each y represents, the y).

    `along` is empty if v has so many neighbours that its paths are not counted.
    """
    begin, end = block_of(flat, fixed, v, blocks[fixed, position])
    first, n = flat[4][flat[8][fixed, 1] + blocks[fixed, position]], end - begin
    back = blocks[position, fixed]
    first_back = flat[4][flat[8][position, 1] + back]
    sample = np.empty(min(n, most), np.int64)
    if n > hub:
        return np.empty(0), 1.0, sample
    along = np.zeros(sizes[fixed])
    for j in range(len(sample)):
        at = begin + nth_even(j, n, most)
        sample[j] = flat[0][at] - first
        low, high = block_of(flat, position, sample[j], back)
        for e in range(low, high):
            along[flat[0][e] - first_back] += flat[2][at] * flat[2][e]
    return along, max(n / most, 1.0), sample


@njit(**INLINED)
def _last_steps(flat, blocks, fixed, position, v, u, along, most, hub):
    """Return Σ_x ℓ(A[u, x]) along(x) over the neighbours x of u in v's type, without v."""
    back = blocks[position, fixed]
    begin, end = block_of(flat, position, u, back)
    first, n = flat[4][flat[8][position, 1] + back], end - begin
    total = 0.0
    if n > hub:
        return total
    for j in range(min(n, most)):
        at = begin + nth_even(j, n, most)
        x = flat[0][at] - first
        if x != v:
            total += flat[2][at] * along[x]
    return total * max(n / most, 1.0)


@njit(**INLINED)
def _shared(flat, types, common, whole, k, fixed, position, v, u, logs, most):
    """Return s of v and the candidate u, over the neighbours of whichever has fewer."""
    both = 0.0
    for c in range(common.shape[1]):
        kind = common[k, c, 0]
        if kind < 0:
            break
        of_fixed, of_open = common[k, c, 1], common[k, c, 2]
        if position < fixed:
            of_fixed, of_open = of_open, of_fixed
        low_v, high_v = block_of(flat, fixed, v, of_fixed)
        low_u, high_u = block_of(flat, position, u, of_open)
        fewer, n = high_v - low_v, high_u - low_u
        if fewer < n or (fewer == n and fixed < position):
            both += shared_sum(
                flat, types, whole, 0, 0.0, fixed, position, v, u, False, False, kind, of_fixed,
                of_open, most,
            )  # fmt: skip
            continue
        total = 0.0
        shift = flat[4][flat[8][fixed, 1] + of_fixed] - flat[4][flat[8][position, 1] + of_open]
        for j in range(min(n, most)):
            at = low_u + nth_even(j, n, most)
            total += flat[2][at] * logs[flat[0][at] + shift]
        both += total * max(n / most, 1.0)
    return both


@njit(**INLINED)
def _is_among(sample, u):
    for y in sample:
        if y == u:
            return True
    return False
