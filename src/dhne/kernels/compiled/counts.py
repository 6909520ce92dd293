"""The counts of :mod:`dhne.kernels.counts`, compiled by numba: one tuple after the other.

The tables of all positions are one `Flat`, a tuple of arrays that hold them one after the other,
because to take an array out of a tuple of arrays costs more, in every thread, than to look into it:

=======  ========================================================================================
columns  of all entries, ascending within a row
counts   of all entries, A
logs     ℓ(A)
bounds   where each row's blocks begin, and where the last one ends
firsts   the first column of each block
slots    entry numbers by the hash of row and column, -1 where there is none
bits     a filter of 16 bits an entry, small enough to stay in the cache: almost all that counting
         does is to look for an entry that is not there, and it says so for 15 of 16 of these
degrees  of all nodes
where    for each position, where its table begins in bounds, firsts, slots, bits and degrees; the
         bounds a row has; the number of its slots less one
=======  ========================================================================================
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit
from dhne.kernels.counts import ZERO

from .maths import PLAIN

_inline = {**PLAIN, "forceinline": True}  # a call would copy what describes all the arrays


# -- finding an entry ------------------------------------------------------------------------------


@njit(**_inline)
def _hash(row, column):
    mixed = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ np.uint64(column)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(30))


@njit(**PLAIN)
def hash_entries(indptr, columns, first):
    """Return (slots, bits) of one table, whose entries have the numbers from `first` on.

    A quarter of the slots are full at most. The search for an entry of hash h begins at slot
    h / 4; bit h of the filter is set if there is an entry of this hash (both modulo their number).
    """
    size = 4
    while size < 4 * len(columns):
        size *= 2
    slots = np.full(size, -1, np.int32)
    bits = np.zeros(size // 2, np.uint8)
    for x in range(len(indptr) - 1):
        for e in range(indptr[x], indptr[x + 1]):
            h = _hash(x, columns[e])
            bit = h & (4 * size - 1)
            bits[bit >> 3] |= np.uint8(1 << (bit & 7))
            at = (h >> 2) & (size - 1)
            while slots[at] >= 0:
                at = (at + 1) & (size - 1)
            slots[at] = first + e
    return slots, bits


@njit(**_inline)
def _block(flat, p, x, block):
    """The first entry of a block of row x of position p's table, and the one after its last."""
    bounds, where = flat[3], flat[8]
    at = where[p, 0] + x * where[p, 5] + block
    return bounds[at], bounds[at + 1]


@njit(**_inline)
def _find(flat, p, x, block, y):
    """The entry of node y in a block of row x of position p's table, or -1."""
    columns, firsts, slots, bits, where = flat[0], flat[4], flat[5], flat[6], flat[8]
    column, mask = firsts[where[p, 1] + block] + y, where[p, 6]
    h = _hash(x, column)
    bit = h & (4 * mask + 3)
    if not bits[where[p, 3] + (bit >> 3)] >> (bit & 7) & 1:
        return np.int64(-1)
    low, high = _block(flat, p, x, block)
    at = (h >> 2) & mask
    e = slots[where[p, 2] + at]
    while e >= 0:
        if columns[e] == column and low <= e < high:
            return np.int64(e)
        at = (at + 1) & mask
        e = slots[where[p, 2] + at]
    return np.int64(-1)


# -- leaving a hyperedge out -----------------------------------------------------------------------


@njit(**_inline)
def _member(types, source, i, kind, node):
    """Whether a node of a type is in the hyperedge that tuple i leaves out."""
    for p in range(len(types)):
        if types[p] == kind and source[i, p] == node:
            return True
    return False


@njit(**_inline)
def _rest(count, weight):
    """What is left of a count without a hyperedge of it."""
    rest = count - weight
    return rest if rest > ZERO * count else 0 * count


@njit(**_inline)
def _log(flat, at, own, weight):
    """ℓ of an entry, the hyperedge left out if it is one of its own."""
    return math.log1p(_rest(flat[1][at], weight)) if own else flat[2][at]


# -- one pair of one tuple: positions p and q hold v and u -----------------------------------------


@njit(**_inline)
def _even(j, n, most):
    """Which of n neighbours is number j of an even sample of `most`, or of all if they are few."""
    return j * n // most if n > most else j


@njit(**_inline)
def _shared(flat, types, source, i, weight, p, q, v, u, v_in, u_in, kind, in_p, in_q, most):
    """Σ over the neighbours y of v, of type `kind`, of ℓ(A'[v, y]) ℓ(A'[u, y])."""
    low, high = _block(flat, p, v, in_p)
    first, n = flat[4][flat[8][p, 1] + in_p], high - low
    total = 0.0
    for j in range(min(n, most)):
        at = low + _even(j, n, most)
        y = flat[0][at] - first
        other = _find(flat, q, u, in_q, y)
        if other >= 0:
            y_in = (v_in or u_in) and _member(types, source, i, kind, y)
            mine = _log(flat, at, v_in and y_in and not (kind == types[p] and y == v), weight)
            theirs = _log(flat, other, u_in and y_in and not (kind == types[q] and y == u), weight)
            total += mine * theirs
    return total * max(n / most, 1.0)


@njit(**_inline)
def _near(flat, types, source, i, weight, p, x, x_in, block, kind, but, most, nodes, logs, ours):
    """List at most `most` neighbours y of x in a block, of type `kind`, without the node `but`.

    Fills nodes: y, logs: ℓ(A'[x, y]), ours: whether y is in the hyperedge that is left out.
    Returns (how many they are, how many each represents).
    """
    low, high = _block(flat, p, x, block)
    first, n = flat[4][flat[8][p, 1] + block], high - low
    k = 0
    for j in range(min(n, most)):
        at = low + _even(j, n, most)
        y = flat[0][at] - first
        if y != but:
            nodes[k] = y
            ours[k] = weight > 0 and _member(types, source, i, kind, y)
            own = x_in and ours[k] and not (kind == types[p] and y == x)
            logs[k] = _log(flat, at, own, weight)
            k += 1
    return k, max(n / most, 1.0)


@njit(**_inline)
def _paths(flat, types, source, i, weight, p, q, v, u, v_in, u_in, in_p, in_q, most, hub, lists):
    """t: Σ over y near v and x near u of ℓ(A'[v, y]) ℓ(A'[x, y]) ℓ(A'[u, x]); 0 of a hub."""
    kp, kq = types[p], types[q]
    low, high = _block(flat, p, v, in_p)
    begin, end = _block(flat, q, u, in_q)
    if max(high - low, end - begin) > hub:
        return 0.0
    (ys, near_v, y_ours), (xs, near_u, x_ours) = lists
    num_y, each_y = _near(
        flat, types, source, i, weight, p, v, v_in, in_p, kq, u, most, ys, near_v, y_ours
    )
    num_x, each_x = _near(
        flat, types, source, i, weight, q, u, u_in, in_q, kp, v, most, xs, near_u, x_ours
    )
    total = 0.0
    for a in range(num_x):
        x = xs[a]
        along = 0.0
        for b in range(num_y):
            middle = _find(flat, p, x, in_p, ys[b])
            if middle >= 0:
                own = x_ours[a] and y_ours[b] and not (kp == kq and x == ys[b])
                along += near_v[b] * _log(flat, middle, own, weight)
        total += near_u[a] * along
    return total * each_x * each_y


@njit(**_inline)
def _pair(
    flat, types, blocks, common, k, p, q, nodes, source, i, weight, shared, paths, hub, lists, out
):
    """Write c, s and t of tuple i's pair number k; s over the neighbours of whichever has fewer."""
    kp, kq, v, u = types[p], types[q], nodes[i, p], nodes[i, q]
    v_in = weight > 0 and _member(types, source, i, kp, v)
    u_in = weight > 0 and _member(types, source, i, kq, u)
    at = _find(flat, p, v, blocks[p, q], u)
    out[i, 3 * k] = 0
    if at >= 0:
        own = v_in and u_in and not (kp == kq and v == u)
        out[i, 3 * k] = _rest(flat[1][at], weight) if own else flat[1][at]
    both = 0.0
    for c in range(common.shape[1]):
        kind, in_p, in_q = common[k, c, 0], common[k, c, 1], common[k, c, 2]
        if kind < 0:
            break
        low_p, high_p = _block(flat, p, v, in_p)
        low_q, high_q = _block(flat, q, u, in_q)
        if high_p - low_p <= high_q - low_q:
            both += _shared(
                flat, types, source, i, weight, p, q, v, u, v_in, u_in, kind, in_p, in_q, shared
            )
        else:
            both += _shared(
                flat, types, source, i, weight, q, p, u, v, u_in, v_in, kind, in_q, in_p, shared
            )
    out[i, 3 * k + 1] = both
    out[i, 3 * k + 2] = _paths(
        flat, types, source, i, weight, p, q, v, u, v_in, u_in, blocks[p, q], blocks[q, p], paths,
        hub, lists,
    )  # fmt: skip


# -- all pairs of all tuples -----------------------------------------------------------------------


@njit(**_inline)
def _count_tuple(
    flat, types, blocks, common, pairs, nodes, source, i, weight, shared, paths, hub, is_negative,
    lists, out,
):  # fmt: skip
    """One tuple; the pairs that a negative has in common with its hyperedge are left out."""
    for p in range(len(types)):
        v = nodes[i, p]
        degree = flat[7][flat[8][p, 4] + v]
        if weight > 0 and (v == source[i, p] or _member(types, source, i, types[p], v)):
            degree = _rest(degree, weight)
        out[i, 3 * len(pairs) + p] = degree
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        kept = nodes[i, p] == source[i, p] and nodes[i, q] == source[i, q]
        if not (is_negative and kept):
            _pair(
                flat, types, blocks, common, k, p, q, nodes, source, i, weight, shared, paths,
                hub, lists, out,
            )  # fmt: skip


@njit(**PLAIN)
def _copy_kept(pairs, nodes, source, i, edge, out):
    """Take the counts of pairs that a negative has in common with its hyperedge from there."""
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        if nodes[i, p] == source[i, p] and nodes[i, q] == source[i, q]:
            for c in range(3 * k, 3 * k + 3):
                out[i, c] = out[edge, c]


@njit(parallel=True, **PLAIN)
def tuple_counts(
    flat, types, blocks, common, pairs, nodes, source, left_out, num_edges, of_edges, shared, paths,
    hub, pieces, out,
):  # fmt: skip
    """Fill `out` ``[m, 3 · pairs + N]``, `pairs` being int64[pairs, 2], which positions.

    The first `num_edges` tuples are the hyperedges that are left out, and as many negatives of each
    follow; 0 if the tuples are not laid out so. `of_edges` are the hyperedges' counts, or empty.
    `blocks[p, q]` is the block of position q's type in position p's table; `common` is
    int64[pairs, k, 3], -1 where there is none.
    """
    zero = out.dtype.type(0)
    known, m = len(of_edges), len(nodes)
    for i in prange(known):
        for c in range(out.shape[1]):
            out[i, c] = of_edges[i, c]
    for k in prange(pieces):
        lists = _lists(paths), _lists(paths)
        rest = m - known
        for i in range(known + rest * k // pieces, known + rest * (k + 1) // pieces):
            weight = left_out[i] if len(left_out) else zero
            _count_tuple(
                flat, types, blocks, common, pairs, nodes, source, i, weight, shared, paths, hub,
                0 < num_edges <= i, lists, out,
            )  # fmt: skip
    if num_edges > 0:
        each = max((m - num_edges) // num_edges, 1)
        for i in prange(num_edges, m):
            _copy_kept(pairs, nodes, source, i, (i - num_edges) // each, out)


@njit(parallel=True, **PLAIN)
def candidate_counts(
    flat, types, blocks, common, pairs, nodes, position, low, shared, paths, hub, pieces, out
):
    """Fill `out` ``[n, 3 · pairs + N]`` for the tuple `nodes` with low, low + 1, … at `position`.

    The pairs without that position are counted once, and nothing is left out.
    """
    length, n = len(types), len(out)
    degrees = 3 * len(pairs)
    zero = out.dtype.type(0)
    given = np.empty((1, out.shape[1]), out.dtype)
    whole = nodes.copy().reshape(1, length)
    whole[0, position] = 0
    given_lists = _lists(paths), _lists(paths)
    for p in range(length):
        given[0, degrees + p] = flat[7][flat[8][p, 4] + whole[0, p]]
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        if position not in (p, q):
            _pair(
                flat, types, blocks, common, k, p, q, whole, whole, 0, zero, shared, paths,
                hub, given_lists, given,
            )  # fmt: skip
    for piece in prange(pieces):
        lists = _lists(paths), _lists(paths)
        own, line = whole.copy(), given.copy()
        for i in range(n * piece // pieces, n * (piece + 1) // pieces):
            own[0, position] = low + i
            line[0, degrees + position] = flat[7][flat[8][position, 4] + low + i]
            for k in range(len(pairs)):
                p, q = pairs[k, 0], pairs[k, 1]
                if position in (p, q):
                    _pair(
                        flat, types, blocks, common, k, p, q, own, own, 0, zero, shared,
                        paths, hub, lists, line,
                    )  # fmt: skip
            for c in range(out.shape[1]):
                out[i, c] = line[0, c]


@njit(parallel=True, **PLAIN)
def features(counts, feature, share, pairs, out):
    """Fill `out` with features of counts, the first `pairs` of them of pairs.

    Of (ℓ(pair counts), which of these are zero, ℓ(degrees)) number r adds to feature[r], share[r]
    of it.
    """
    for i in prange(len(counts)):
        line = out[i]
        for f in range(len(line)):
            line[f] = 0
        for c in range(counts.shape[1]):
            count = counts[i, c]
            if count != 0:
                r = c if c < pairs else pairs + c
                line[feature[r]] += share[r] * math.log1p(count)
            if c < pairs and count < ZERO:
                line[feature[pairs + c]] += share[pairs + c]


@njit(**PLAIN)
def _lists(n):
    """What `_near` fills."""
    return np.empty(n, np.int64), np.empty(n), np.empty(n, np.bool_)


@njit(**PLAIN)
def block_bounds(indptr, columns, firsts, first):
    """Return where each row's blocks begin, and where the last ends: int64[n, blocks + 1].

    The entries of the table have the numbers from `first` on.
    """
    n, k = len(indptr) - 1, len(firsts)
    bounds = np.empty((n, k + 1), np.int64)
    for x in range(n):
        at = indptr[x]
        for b in range(k):
            while at < indptr[x + 1] and columns[at] < firsts[b]:
                at += 1
            bounds[x, b] = first + at
        bounds[x, k] = first + indptr[x + 1]
    return bounds
