"""The counts of :mod:`dhne.kernels.counts`, compiled by numba: one tuple after the other."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

from numba import prange

from dhne.kernels.compiling import njit
from dhne.kernels.counts import ZERO

from .entries import INLINED
from .maths import PLAIN
from .pairs import count_pair, is_member, make_lists, rest_of


@njit(**INLINED)
def _count_tuple(
    flat, types, blocks, common, pairs, nodes, source, i, weight, shared, paths, hub, is_negative,
    lists, out,
):  # fmt: skip
    """One tuple; the pairs that a negative has in common with its hyperedge are left out."""
    for p in range(len(types)):
        v = nodes[i, p]
        degree = flat[7][flat[8][p, 4] + v]
        if weight > 0 and (v == source[i, p] or is_member(types, source, i, types[p], v)):
            degree = rest_of(degree, weight)
        out[i, 3 * len(pairs) + p] = degree
    for k in range(len(pairs)):
        p, q = pairs[k, 0], pairs[k, 1]
        kept = nodes[i, p] == source[i, p] and nodes[i, q] == source[i, q]
        if not (is_negative and kept):
            count_pair(
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
        lists = make_lists(paths), make_lists(paths)
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
