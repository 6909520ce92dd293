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

A fixed node then costs one addition per entry that it has in common with a candidate, and queries
with the same node are counted once.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .entries import INLINED, block_of
from .maths import PLAIN
from .pairs import make_lists, nth_even, path_sum


@njit(**PLAIN)
def turn(indptr, columns, logs, bounds, firsts, most, num_columns):
    """Return a table by columns: (begins, ends of the sampled, rows, logs, sizes).

    A row's sample is an even one of up to `most` entries of each block. `bounds` are those of the
    table alone, from `block_bounds`. Within a column the sampled rows come first, each part in
    ascending order. `sizes` is how many entries the row has in the column's block.
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
    sizes = np.empty(len(columns), np.int32)
    for x in range(n):
        for b in range(blocks):
            for e in range(bounds[x, b], bounds[x, b + 1]):
                y = columns[e]
                place = next_sampled if sampled[e] else next_other
                rows[place[y]], values[place[y]] = x, logs[e]
                sizes[place[y]] = bounds[x, b + 1] - bounds[x, b]
                place[y] += 1
    return begins, ends, rows, values, sizes


@njit(parallel=True, **PLAIN)
def pair_counts(
    flat, types, blocks, common, pairs, sizes, turned, k, position, nodes, shared, paths, hub,
    pieces, found, ids, counts,
):  # fmt: skip
    """Count pair number k, of the open position and a fixed one; `nodes` are those at the latter.

    Fills `found` with the number of candidates that share something with each node, ``ids[i]`` with
    these candidates, ascending, and ``counts[i]`` with their (c, s, t). Nothing is left out.
    """
    n, p, q = sizes[position], pairs[k, 0], pairs[k, 1]
    fixed = q if position == p else p
    for piece in prange(pieces):
        lists = make_lists(paths), make_lists(paths)
        sums = np.zeros(n)  # zero between any two uses, as are the next two
        dense = np.zeros((n, 3), counts.dtype)
        is_near = np.zeros(n, np.bool_)
        along = np.zeros(sizes[fixed])
        hits, met = np.empty(n + 1, np.int32), np.empty(sizes[fixed] + 1, np.int32)
        for i in range(piece, len(nodes), pieces):
            v = nodes[i]
            _count_met(flat, blocks, fixed, position, v, is_near, dense)
            for c in range(common.shape[1]):
                if common[k, c, 0] < 0:
                    break
                of_fixed, of_open = common[k, c, 1], common[k, c, 2]
                if position < fixed:
                    of_fixed, of_open = of_open, of_fixed
                _share(
                    flat, turned, fixed, position, v, of_fixed, of_open, shared, sums, hits,
                    is_near, dense,
                )  # fmt: skip
            _add_paths(
                flat, types, blocks, turned, nodes, p, q, fixed, position, v, paths, hub, lists,
                sums, hits, along, met, is_near, dense,
            )  # fmt: skip
            size = 0
            for u in range(n):  # without a branch: about half of them may be near
                ids[i, size] = u
                for c in range(3):
                    counts[i, size, c] = dense[u, c]
                    dense[u, c] = 0
                size += is_near[u]
                is_near[u] = False
            found[i] = size


@njit(**INLINED)
def _count_met(flat, blocks, fixed, position, v, is_near, dense):
    """Set c of the candidates that v met."""
    block = blocks[fixed, position]
    first = flat[4][flat[8][fixed, 1] + block]
    begin, end = block_of(flat, fixed, v, block)
    for e in range(begin, end):
        u = flat[0][e] - first
        is_near[u] = True
        dense[u, 0] = flat[1][e]


@njit(**INLINED)
def _add(sums, hits, hit, u, value):
    """Add to the sum of candidate u; return how many candidates are in `hits`.

    Branches would be mispredicted too often. `hits` has space for one more than can be in it.
    """
    hits[hit] = u
    hit += (sums[u] == 0) & (value != 0)
    sums[u] += value
    return hit


@njit(**INLINED)
def _share(
    flat, turned, fixed, position, v, of_fixed, of_open, most, sums, hits, is_near, dense
):  # fmt: skip
    """Add s over one common type."""
    begins, ends, rows, logs, sizes = turned
    shift = flat[4][flat[8][position, 1] + of_open] - flat[4][flat[8][fixed, 1] + of_fixed]
    low, high = block_of(flat, fixed, v, of_fixed)
    n, hit, j = high - low, 0, 0
    limit = n + (position < fixed)  # candidates with fewer neighbours: over their sample
    for e in range(low, high):
        y, value = flat[0][e] + shift, flat[2][e]
        is_sampled = j < most and e == low + nth_even(j, n, most)
        j += is_sampled
        for a in range(begins[y], ends[y]):
            if is_sampled or sizes[a] < limit:
                hit = _add(sums, hits, hit, rows[a], value * logs[a])
        if is_sampled:
            for a in range(ends[y], begins[y + 1]):
                if sizes[a] >= limit:
                    hit = _add(sums, hits, hit, rows[a], value * logs[a])
    for h in range(hit):
        u = hits[h]
        low_u, high_u = block_of(flat, position, u, of_open)
        fewer = min(high_u - low_u, n)  # neighbours, of the node whose sample it was
        is_near[u] = True
        dense[u, 1] += sums[u] * fewer / most if fewer > most else sums[u]
        sums[u] = 0


@njit(**INLINED)
def _add_paths(
    flat, types, blocks, turned, nodes, p, q, fixed, position, v, most, hub, lists, sums, hits,
    along, met, is_near, dense,
):  # fmt: skip
    """Set t of the candidates at the end of v's paths."""
    begins, ends, rows, logs, _ = turned
    begin, end = block_of(flat, fixed, v, blocks[fixed, position])
    first, n = flat[4][flat[8][fixed, 1] + blocks[fixed, position]], end - begin
    back = blocks[position, fixed]
    first_back = flat[4][flat[8][position, 1] + back]
    if n > hub:
        return
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
        along[x] = 0
    each = max(n / most, 1.0)
    for h in range(hit):
        u = hits[h]
        low, high = block_of(flat, position, u, back)
        if high - low <= hub:
            is_near[u] = True
            dense[u, 2] = each * max((high - low) / most, 1.0) * sums[u]
        sums[u] = 0
    none = nodes.reshape(1, len(nodes))  # no hyperedge is left out
    for j in range(min(n, most)):
        u = flat[0][begin + nth_even(j, n, most)] - first
        is_near[u] = True
        a, b = (v, u) if fixed == p else (u, v)
        dense[u, 2] = path_sum(
            flat, types, none, 0, 0.0, p, q, a, b, False, False, blocks[p, q], blocks[q, p],
            most, hub, lists,
        )  # fmt: skip


@njit(parallel=True, **PLAIN)
def pack(begins, ids, counts, all_ids, all_counts):
    """Write the candidates of each line one after the other."""
    for i in prange(len(ids)):
        for h in range(begins[i + 1] - begins[i]):
            all_ids[begins[i] + h] = ids[i, h]
            for c in range(counts.shape[2]):
                all_counts[begins[i] + h, c] = counts[i, h, c]
