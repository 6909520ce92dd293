"""The counts of :mod:`dhne.kernels.counts`, compiled by numba: one tuple after the other."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from .counts import ZERO

_fast = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**_fast)
def _place(columns, low, high, column):
    """The first entry from `low` on whose column is not below `column`."""
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**_fast)
def _member(types, source, kind, node):
    for p in range(len(types)):
        if types[p] == kind and source[p] == node:
            return True
    return False


@njit(**_fast)
def _entry(table, x, column):
    """A[x, column]."""
    indptr, columns, counts = table[0], table[1], table[2]
    high = indptr[x + 1]
    at = _place(columns, indptr[x], high, column)
    if at < high and columns[at] == column:
        return counts[at]
    return counts.dtype.type(0)


@njit(**_fast)
def _rest(count, weight):
    """What is left of a count without a hyperedge of it."""
    rest = count - weight
    return rest if rest > ZERO * count else 0 * count


@njit(**_fast)
def _without(count, own, weight):
    """The logarithm of one plus a count, the hyperedge left out if it is one of its own."""
    if own:
        count = _rest(count, weight)
    return math.log1p(count) if count > 0 else 0.0


@njit(**_fast)
def _shared(
    a,
    b,
    x,
    z,
    first_a,
    first_b,
    kind,
    size,
    most,
    types,
    source,
    weight,
    x_in,
    z_in,
    kind_x,
    kind_z,
):
    """Σ over the neighbours y of x, of type `kind`, of ℓ(A'[x, y]) ℓ(A'[z, y])."""
    low = _place(a[1], a[0][x], a[0][x + 1], first_a)
    high = _place(a[1], low, a[0][x + 1], first_a + size)
    n = high - low
    take = min(n, most)
    total = 0.0
    for j in range(take):
        at = low + (j * n // most if n > most else j)
        y = a[1][at] - first_a
        other = _entry(b, z, first_b + y)
        if other > 0:
            y_in = (x_in or z_in) and _member(types, source, kind, y)
            mine = _without(a[2][at], x_in and y_in and not (kind == kind_x and y == x), weight)
            theirs = _without(other, z_in and y_in and not (kind == kind_z and y == z), weight)
            total += mine * theirs
    return total * max(n / most, 1.0)


@njit(**_fast)
def _paths(
    a, b, v, u, first_pq, first_qp, size_p, size_q, most, types, source, weight, v_in, u_in, kp, kq
):
    """Σ over b near v and a near u of ℓ(A'[v, b]) ℓ(A'[a, b]) ℓ(A'[u, a])."""
    low_v = _place(a[1], a[0][v], a[0][v + 1], first_pq)
    n_v = _place(a[1], low_v, a[0][v + 1], first_pq + size_q) - low_v
    low_u = _place(b[1], b[0][u], b[0][u + 1], first_qp)
    n_u = _place(b[1], low_u, b[0][u + 1], first_qp + size_p) - low_u
    total = 0.0
    for i in range(min(n_u, most)):
        at_u = low_u + (i * n_u // most if n_u > most else i)
        x = b[1][at_u] - first_qp
        if x == v:
            continue
        x_in = weight > 0 and _member(types, source, kp, x)
        near_u = _without(b[2][at_u], u_in and x_in and not (kp == kq and x == u), weight)
        if near_u <= 0:
            continue
        for j in range(min(n_v, most)):
            at_v = low_v + (j * n_v // most if n_v > most else j)
            y = a[1][at_v] - first_pq
            if y == u:
                continue
            middle = _entry(a, x, first_pq + y)
            if middle > 0:
                y_in = (v_in or x_in) and _member(types, source, kq, y)
                near_v = _without(a[2][at_v], v_in and y_in and not (kp == kq and y == v), weight)
                between = _without(middle, x_in and y_in and not (kp == kq and x == y), weight)
                total += near_u * near_v * between
    return total * max(n_v / most, 1.0) * max(n_u / most, 1.0)


@njit(**_fast)
def _shared_by(a, b, v, u, common, most, types, source, weight, v_in, u_in, kp, kq):
    """s: over the neighbours of whichever node has fewer, for each type that neighbours both."""
    total = 0.0
    for c in range(len(common)):
        kind, in_p, in_q, size = common[c]
        if kind < 0:
            break
        n_v = _place(a[1], a[0][v], a[0][v + 1], in_p + size) - _place(
            a[1], a[0][v], a[0][v + 1], in_p
        )
        n_u = _place(b[1], b[0][u], b[0][u + 1], in_q + size) - _place(
            b[1], b[0][u], b[0][u + 1], in_q
        )
        e = (types, source, weight)
        if n_v <= n_u:
            total += _shared(a, b, v, u, in_p, in_q, kind, size, most, *e, v_in, u_in, kp, kq)
        else:
            total += _shared(b, a, u, v, in_q, in_p, kind, size, most, *e, u_in, v_in, kq, kp)
    return total


@njit(**_fast)
def _count_tuple(
    indptr,
    columns,
    counts,
    degrees,
    types,
    first,
    sizes,
    common,
    nodes,
    source,
    weight,
    shared,
    paths,
    out,
):
    length = len(types)
    k = 0
    for p in range(length):
        a = (indptr[p], columns[p], counts[p])
        v, kp = nodes[p], types[p]
        v_in = weight > 0 and _member(types, source, kp, v)
        degree = degrees[p][v]
        if v_in:
            degree = max(degree - weight, 0)
        out[3 * (length * (length - 1) // 2) + p] = degree
        for q in range(p + 1, length):
            b = (indptr[q], columns[q], counts[q])
            u, kq = nodes[q], types[q]
            u_in = weight > 0 and _member(types, source, kq, u)
            count = _entry(a, v, first[p, q] + u)
            if v_in and u_in and not (kp == kq and v == u):
                count = _rest(count, weight)
            out[3 * k] = count
            e = (types, source, weight, v_in, u_in, kp, kq)
            out[3 * k + 1] = _shared_by(a, b, v, u, common[k], shared, *e)
            out[3 * k + 2] = _paths(
                a, b, v, u, first[p, q], first[q, p], sizes[p], sizes[q], paths, *e
            )
            k += 1


@njit(parallel=True, **_fast)
def tuple_counts(
    indptr,
    columns,
    counts,
    degrees,
    types,
    first,
    sizes,
    common,
    nodes,
    source,
    left_out,
    shared,
    paths,
    out,
):
    """Fill `out` ``[m, 3 · pairs + N]``; `common` is int64[pairs, k, 4], -1 where there is none."""
    zero = out.dtype.type(0)
    for i in prange(len(nodes)):
        weight = left_out[i] if len(left_out) else zero
        _count_tuple(
            indptr, columns, counts, degrees, types, first, sizes, common,
            nodes[i], source[i], weight, shared, paths, out[i],
        )  # fmt: skip
