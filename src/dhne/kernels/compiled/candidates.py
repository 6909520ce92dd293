"""What the fixed nodes of a query share with the candidates of its open position, compiled.

Most candidates share nothing with a fixed node v. So candidates are not visited one by one; instead
the neighbours of v say which candidates to visit. For that, the open position's table is turned:
for each neighbour y, the candidates that have y in their sample, then all others that met y. With
ℓ(A[v, ·]) at hand,

- c is read from v's own row;
- s adds up ℓ(A[v, y]) ℓ(A[u, y]): over v's neighbours y and the candidates u with y in their
  sample, or over v's sample and all candidates that met y, whichever of v and u has fewer
  neighbours;
- for t, along(x) = Σ_y ℓ(A[v, y]) ℓ(A[x, y]) with y from v's sample is summed from the rows of
  these y, as A is symmetric; then ℓ(A[u, x]) along(x) is added to the candidates u with x in their
  sample. A candidate that is itself in v's sample is not a y of its own paths; these few are
  counted like any other tuple.

A query then costs one addition per entry that it has in common with a candidate.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .entries import INLINED, block_of
from .maths import PLAIN
from .pairs import count_pair, make_lists, nth_even, path_sum


@njit(**PLAIN)
def turn(indptr, columns, logs, bounds, firsts, most, num_columns):
    """Return a table by columns: (begins, ends of the sampled, rows, logs).

    A row's sample is an even one of up to `most` entries of each block. `bounds` are those of the
    table alone, from `block_bounds`. Within a column the sampled rows come first, each part in
    ascending order.
    """
    n, blocks = len(indptr) - 1, len(firsts)
    sampled = np.zeros(len(columns), np.bool_)
    for x in range(n):
        for b in range(blocks):
            size = bounds[x, b + 1] - bounds[x, b]
            for j in range(min(size, most)):
                sampled[bounds[x, b] + nth_even(j, size, most)] = True
    begins, ends = np.zeros(num_columns + 1, np.int64), np.zeros(num_columns, np.int64)
    for e in range(len(columns)):
        begins[columns[e] + 1] += 1
        ends[columns[e]] += sampled[e]
    for y in range(num_columns):
        begins[y + 1] += begins[y]
        ends[y] += begins[y]
    next_sampled, next_other = begins[:-1].copy(), ends.copy()
    rows, values = np.empty(len(columns), np.int32), np.empty(len(columns), logs.dtype)
    for x in range(n):
        for e in range(indptr[x], indptr[x + 1]):
            y = columns[e]
            place = next_sampled if sampled[e] else next_other
            rows[place[y]], values[place[y]] = x, logs[e]
            place[y] += 1
    return begins, ends, rows, values


@njit(parallel=True, **PLAIN)
def candidate_counts(
    flat, types, blocks, common, pairs, sizes, turned, nodes, position, shared, paths, hub, given,
    found, ids, counts,
):  # fmt: skip
    """Count the pairs of the open position, query by query; the queries are ``nodes: int64[m, N]``.

    Fills `given` ``[m, width]`` with the counts of a candidate that shares nothing and has degree
    0, `found` with the number of candidates that share something with a fixed node, ``ids[i]`` with
    these candidates and ``counts[i]`` with the (c, s, t) of their pairs with the open position, in
    the order of `pairs`. Nothing is left out.
    """
    n, length, degrees = sizes[position], len(types), 3 * len(pairs)
    for i in prange(len(nodes)):
        lists = make_lists(paths), make_lists(paths)
        whole = nodes[i].copy().reshape(1, length)
        whole[0, position] = 0
        given[i, degrees + position] = 0
        for p in range(length):
            if p != position:
                given[i, degrees + p] = flat[7][flat[8][p, 4] + whole[0, p]]
        sums = np.zeros(n)  # zero between any two uses
        place = np.full(n, -1, np.int32)  # of each candidate in `ids`
        hits = np.empty(n, np.int32)
        size, open_pair = 0, 0
        for k in range(len(pairs)):
            p, q = pairs[k, 0], pairs[k, 1]
            if position not in (p, q):
                count_pair(
                    flat, types, blocks, common, k, p, q, whole, whole, 0, given.dtype.type(0),
                    shared, paths, hub, lists, given[i : i + 1],
                )  # fmt: skip
                continue
            given[i, 3 * k : 3 * k + 3] = 0
            fixed = q if position == p else p
            v = whole[0, fixed]
            at = 3 * open_pair
            size = _count_met(flat, blocks, fixed, position, v, at, place, size, ids[i], counts[i])
            for c in range(common.shape[1]):
                if common[k, c, 0] < 0:
                    break
                of_fixed, of_open = common[k, c, 1], common[k, c, 2]
                if position < fixed:
                    of_fixed, of_open = of_open, of_fixed
                hit = _share(
                    flat, turned, fixed, position, v, of_fixed, of_open, shared, sums, hits
                )
                for h in range(hit):
                    u = hits[h]
                    size = _visit(u, place, size, ids[i], counts[i])
                    counts[i, place[u], at + 1] += sums[u]
                    sums[u] = 0
            size = _add_paths(
                flat, types, blocks, sizes, turned, whole, p, q, fixed, position, v, paths, hub,
                lists, sums, hits, at, place, size, ids[i], counts[i],
            )  # fmt: skip
            open_pair += 1
        found[i] = size


@njit(**INLINED)
def _visit(u, place, size, ids, counts):
    """Give candidate u a line of zeros if it has none; return how many lines there are."""
    if place[u] < 0:
        place[u] = size
        ids[size] = u
        counts[size] = 0
        return size + 1
    return size


@njit(**INLINED)
def _count_met(flat, blocks, fixed, position, v, column, place, size, ids, counts):
    """Set c of the candidates that v met."""
    block = blocks[fixed, position]
    first = flat[4][flat[8][fixed, 1] + block]
    begin, end = block_of(flat, fixed, v, block)
    for e in range(begin, end):
        u = flat[0][e] - first
        size = _visit(u, place, size, ids, counts)
        counts[place[u], column] = flat[1][e]
    return size


@njit(**INLINED)
def _add(sums, hits, hit, u, value):
    if value == 0:
        return hit
    if sums[u] == 0:
        hits[hit] = u
        hit += 1
    sums[u] += value
    return hit


@njit(**INLINED)
def _share(flat, turned, fixed, position, v, of_fixed, of_open, most, sums, hits):
    """Set `sums` to s over one common type, for the candidates in `hits`; return their number."""
    begins, ends, rows, logs = turned
    shift = flat[4][flat[8][position, 1] + of_open] - flat[4][flat[8][fixed, 1] + of_fixed]
    low, high = block_of(flat, fixed, v, of_fixed)
    n, hit = high - low, 0
    for e in range(low, high):  # candidates with fewer neighbours: over their sample
        y = flat[0][e] + shift
        for a in range(begins[y], ends[y]):
            u = rows[a]
            low_u, high_u = block_of(flat, position, u, of_open)
            m = high_u - low_u
            if m < n or (m == n and position < fixed):
                hit = _add(sums, hits, hit, u, flat[2][e] * logs[a])
    for h in range(hit):
        low_u, high_u = block_of(flat, position, hits[h], of_open)
        sums[hits[h]] *= max((high_u - low_u) / most, 1.0)
    first = hit
    for j in range(min(n, most)):  # the others: over v's sample
        e = low + nth_even(j, n, most)
        y = flat[0][e] + shift
        for a in range(begins[y], begins[y + 1]):
            u = rows[a]
            low_u, high_u = block_of(flat, position, u, of_open)
            m = high_u - low_u
            if m > n or (m == n and position > fixed):
                hit = _add(sums, hits, hit, u, flat[2][e] * logs[a])
    for h in range(first, hit):
        sums[hits[h]] *= max(n / most, 1.0)
    return hit


@njit(**INLINED)
def _add_paths(
    flat, types, blocks, sizes, turned, whole, p, q, fixed, position, v, most, hub, lists, sums,
    hits, column, place, size, ids, counts,
):  # fmt: skip
    """Set t of the candidates at the end of v's paths; return how many have lines."""
    begins, ends, rows, logs = turned
    begin, end = block_of(flat, fixed, v, blocks[fixed, position])
    first, n = flat[4][flat[8][fixed, 1] + blocks[fixed, position]], end - begin
    back = blocks[position, fixed]
    first_back = flat[4][flat[8][position, 1] + back]
    if n > hub:
        return size
    along, met = np.zeros(sizes[fixed]), np.empty(sizes[fixed], np.int32)
    steps = 0
    for j in range(min(n, most)):
        at = begin + nth_even(j, n, most)
        low, high = block_of(flat, position, flat[0][at] - first, back)
        for e in range(low, high):
            x = flat[0][e] - first_back
            if x != v:
                steps = _add(along, met, steps, x, flat[2][at] * flat[2][e])
    hit = 0
    for s in range(steps):
        x = met[s]
        for a in range(begins[x + first_back], ends[x + first_back]):
            hit = _add(sums, hits, hit, rows[a], logs[a] * along[x])
    each = max(n / most, 1.0)
    for h in range(hit):
        u = hits[h]
        low, high = block_of(flat, position, u, back)
        if high - low <= hub:
            size = _visit(u, place, size, ids, counts)
            counts[place[u], column + 2] = each * max((high - low) / most, 1.0) * sums[u]
        sums[u] = 0
    for j in range(min(n, most)):
        u = flat[0][begin + nth_even(j, n, most)] - first
        size = _visit(u, place, size, ids, counts)
        a, b = (v, u) if fixed == p else (u, v)
        counts[place[u], column + 2] = path_sum(
            flat, types, whole, 0, 0.0, p, q, a, b, False, False, blocks[p, q], blocks[q, p],
            most, hub, lists,
        )  # fmt: skip
    return size


@njit(parallel=True, **PLAIN)
def spread_counts(begins, ids, counts, given, columns, all_ids, all_counts):
    """Write each query's candidates one after the other, with the counts of all pairs."""
    for i in prange(len(given)):
        for h in range(begins[i + 1] - begins[i]):
            line = all_counts[begins[i] + h]
            all_ids[begins[i] + h] = ids[i, h]
            for c in range(given.shape[1]):
                line[c] = given[i, c]
            for c in range(len(columns)):
                line[columns[c]] = counts[i, h, c]
