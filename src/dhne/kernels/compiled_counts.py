"""The counts of :mod:`dhne.kernels.counts`, compiled by numba: one tuple after the other.

A table is (columns, counts, logs, bounds, firsts, slots, bits): the entries of all rows, ℓ of their
counts, where each row's blocks begin and end (``bounds[x, k]``, ``bounds[x, k + 1]``), each block's
first column, and a hash table of the entries by row and column. Almost all that counting does is to
look for an entry that is not there, so before the hash table it asks a filter of 16 bits an entry,
small enough to stay in the cache, that says so for 15 of 16 such entries.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

from .counts import ZERO

_fast: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_fast)
def _hash(row, column):
    mixed = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ np.uint64(column)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(30))


@njit(nogil=True, cache=True)
def hash_entries(indptr, columns):
    """Return (slots, bits): entry numbers by hash, -1 where there is none, and the filter.

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
            slots[at] = e
    return slots, bits


@njit(**_fast)
def _find(table, x, block, y):
    """The entry of node y in a block of row x, or -1."""
    columns, bounds, slots, bits = table[0], table[3], table[5], table[6]
    column, mask = table[4][block] + y, len(slots) - 1
    h = _hash(x, column)
    bit = h & (4 * mask + 3)
    if not bits[bit >> 3] >> (bit & 7) & 1:
        return np.int64(-1)
    at = (h >> 2) & mask
    while slots[at] >= 0:
        e = slots[at]
        if columns[e] == column and bounds[x, block] <= e < bounds[x, block + 1]:
            return np.int64(e)
        at = (at + 1) & mask
    return np.int64(-1)


@njit(**_fast)
def _member(types, source, kind, node):
    for p in range(len(types)):
        if types[p] == kind and source[p] == node:
            return True
    return False


@njit(**_fast)
def _rest(count, weight):
    """What is left of a count without a hyperedge of it."""
    rest = count - weight
    return rest if rest > ZERO * count else 0 * count


@njit(**_fast)
def _log(table, at, own, weight):
    """ℓ of an entry, the hyperedge left out if it is one of its own."""
    return math.log1p(_rest(table[1][at], weight)) if own else table[2][at]


@njit(**_fast)
def _shared(a, b, x, z, in_a, in_b, kind, most, edge, x_in, z_in, kind_x, kind_z):
    """Σ over the neighbours y of x, of type `kind`, of ℓ(A'[x, y]) ℓ(A'[z, y])."""
    types, source, weight = edge
    low = a[3][x, in_a]
    n = a[3][x, in_a + 1] - low
    total = 0.0
    for j in range(min(n, most)):
        at = low + (j * n // most if n > most else j)
        y = a[0][at] - a[4][in_a]
        other = _find(b, z, in_b, y)
        if other >= 0:
            y_in = (x_in or z_in) and _member(types, source, kind, y)
            mine = _log(a, at, x_in and y_in and not (kind == kind_x and y == x), weight)
            theirs = _log(b, other, z_in and y_in and not (kind == kind_z and y == z), weight)
            total += mine * theirs
    return total * max(n / most, 1.0)


@njit(**_fast)
def _shared_by_both(a, b, v, u, common, most, edge, v_in, u_in, kp, kq):
    """s: over the neighbours of whichever node has fewer, for each type that neighbours both."""
    total = 0.0
    for c in range(len(common)):
        kind, in_p, in_q = common[c]
        if kind < 0:
            break
        if a[3][v, in_p + 1] - a[3][v, in_p] <= b[3][u, in_q + 1] - b[3][u, in_q]:
            total += _shared(a, b, v, u, in_p, in_q, kind, most, edge, v_in, u_in, kp, kq)
        else:
            total += _shared(b, a, u, v, in_q, in_p, kind, most, edge, u_in, v_in, kq, kp)
    return total


@njit(**_fast)
def _paths(a, b, v, u, in_p, in_q, most, edge, v_in, u_in, kp, kq):
    """t: Σ over y near v and x near u of ℓ(A'[v, y]) ℓ(A'[x, y]) ℓ(A'[u, x])."""
    types, source, weight = edge
    low_v, low_u = a[3][v, in_p], b[3][u, in_q]
    n_v, n_u = a[3][v, in_p + 1] - low_v, b[3][u, in_q + 1] - low_u
    total = 0.0
    for i in range(min(n_u, most)):
        at_u = low_u + (i * n_u // most if n_u > most else i)
        x = b[0][at_u] - b[4][in_q]
        if x == v:
            continue
        x_in = weight > 0 and _member(types, source, kp, x)
        near_u = _log(b, at_u, u_in and x_in and not (kp == kq and x == u), weight)
        if near_u <= 0:
            continue
        along = 0.0
        for j in range(min(n_v, most)):
            at_v = low_v + (j * n_v // most if n_v > most else j)
            y = a[0][at_v] - a[4][in_p]
            if y == u:
                continue
            middle = _find(a, x, in_p, y)
            if middle >= 0:
                y_in = (v_in or x_in) and _member(types, source, kq, y)
                near_v = _log(a, at_v, v_in and y_in and not (kp == kq and y == v), weight)
                between = _log(a, middle, x_in and y_in and not (kp == kq and x == y), weight)
                along += near_v * between
        total += near_u * along
    return total * max(n_v / most, 1.0) * max(n_u / most, 1.0)


@njit(**_fast)
def _pair(a, b, v, u, in_p, in_q, common, shared, paths, edge, kp, kq, out):
    """Write c, s and t of one pair."""
    types, source, weight = edge
    v_in = weight > 0 and _member(types, source, kp, v)
    u_in = weight > 0 and _member(types, source, kq, u)
    at = _find(a, v, in_p, u)
    out[0] = 0
    if at >= 0:
        own = v_in and u_in and not (kp == kq and v == u)
        out[0] = _rest(a[1][at], weight) if own else a[1][at]
    out[1] = _shared_by_both(a, b, v, u, common, shared, edge, v_in, u_in, kp, kq)
    out[2] = _paths(a, b, v, u, in_p, in_q, paths, edge, v_in, u_in, kp, kq)


@njit(**_fast)
def _count_tuple(
    columns, counts, logs, bounds, firsts, slots, bits, degrees, types, blocks, common,
    nodes, source, weight, shared, paths, kept, out,
):  # fmt: skip
    """One tuple; the pairs that it has in common with its hyperedge are left to the caller."""
    length = len(types)
    edge = (types, source, weight)
    k = 0
    for p in range(length):
        a = (columns[p], counts[p], logs[p], bounds[p], firsts[p], slots[p], bits[p])
        degree = degrees[p][nodes[p]]
        if weight > 0 and _member(types, source, types[p], nodes[p]):
            degree = _rest(degree, weight)
        out[3 * (length * (length - 1) // 2) + p] = degree
        for q in range(p + 1, length):
            if not (kept and nodes[p] == source[p] and nodes[q] == source[q]):
                b = (columns[q], counts[q], logs[q], bounds[q], firsts[q], slots[q], bits[q])
                _pair(
                    a, b, nodes[p], nodes[q], blocks[p, q], blocks[q, p], common[k],
                    shared, paths, edge, types[p], types[q], out[3 * k : 3 * k + 3],
                )  # fmt: skip
            k += 1


@njit(nogil=True, cache=True)
def _copy_kept(nodes, source, of_edge, out):
    """Take the counts of pairs that a negative has in common with its hyperedge from there."""
    k = 0
    for p in range(len(nodes)):
        for q in range(p + 1, len(nodes)):
            if nodes[p] == source[p] and nodes[q] == source[q]:
                for c in range(3 * k, 3 * k + 3):
                    out[c] = of_edge[c]
            k += 1


@njit(parallel=True, **_fast)
def tuple_counts(
    columns, counts, logs, bounds, firsts, slots, bits, degrees, types, blocks, common,
    nodes, source, left_out, num_edges, of_edges, shared, paths, out,
):  # fmt: skip
    """Fill `out` ``[m, 3 · pairs + N]``.

    The first `num_edges` tuples are the hyperedges that are left out, and as many negatives of each
    follow; 0 if the tuples are not laid out so. `of_edges` are the hyperedges' counts, or empty.
    `common` is int64[pairs, k, 3], -1 where there is none.
    """
    zero = out.dtype.type(0)
    for i in prange(len(nodes)):
        if i < len(of_edges):
            out[i] = of_edges[i]
            continue
        weight = left_out[i] if len(left_out) else zero
        _count_tuple(
            columns, counts, logs, bounds, firsts, slots, bits, degrees, types, blocks, common,
            nodes[i], source[i], weight, shared, paths, 0 < num_edges <= i, out[i],
        )  # fmt: skip
    if num_edges > 0:
        each = max((len(nodes) - num_edges) // num_edges, 1)
        for i in prange(num_edges, len(nodes)):
            _copy_kept(nodes[i], source[i], out[(i - num_edges) // each], out[i])


@njit(nogil=True, cache=True)
def block_bounds(indptr, columns, firsts):
    """Return where each row's blocks begin, and where the last ends: int64[n, blocks + 1]."""
    n, k = len(indptr) - 1, len(firsts)
    bounds = np.empty((n, k + 1), np.int64)
    for x in range(n):
        at = indptr[x]
        for b in range(k):
            while at < indptr[x + 1] and columns[at] < firsts[b]:
                at += 1
            bounds[x, b] = at
        bounds[x, k] = indptr[x + 1]
    return bounds
