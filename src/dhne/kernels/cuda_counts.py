"""The counts of :mod:`dhne.kernels.counts` on a GPU: a Triton program for each tuple and pair.

A program holds neighbours of a node side by side and looks for all their entries at once, by
bisection: columns ascend within a row. A table is (columns, counts, bounds, firsts, blocks): the
entries of all rows, where each row's blocks begin and end (``bounds[x, k]``, ``bounds[x, k + 1]``),
each block's first column, and the number of blocks. The bounds are all that is kept beside A.

The program of a hyperedge also writes what its negatives keep of it; theirs then end at once.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from .counts import PATHS, SHARED, ZERO, CountTable, TupleTables

_ZERO = tl.constexpr(ZERO)
_NO_COLUMN = tl.constexpr(2**31 - 1)  # beyond every column
_ROWS = 128  # nodes or tuples a program takes where each needs little


@dataclass(frozen=True)
class _Pair:
    """A pair of positions: the block of each one's type in the other's table, and common types."""

    p: int
    q: int
    in_p: int
    in_q: int
    common: Tensor  # int32[k, 3]: the type, its block in p's table, its block in q's


class CudaCounts:
    """Counts tuples, and keeps what it works out about tables between calls."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[CountTable, tuple[Any, ...]]] = {}
        self._pairs: dict[int, tuple[TupleTables, Tensor, list[_Pair]]] = {}

    def count(
        self,
        tables: TupleTables,
        nodes: Tensor,
        source: Tensor | None,
        left_out: Tensor | None,
        num_edges: int,
    ) -> Tensor:
        """Return c, s and t of each pair and the degrees, ``float[m, width]``."""
        like = tables.tables[0].counts
        m, length = nodes.shape
        out = like.new_empty(m, tables.width)
        if not m:
            return out
        nodes = nodes.contiguous()
        if source is None or left_out is None:  # of each tuple itself, nothing
            source, left_out, num_edges = nodes, like.new_zeros(m), 0
        types, pairs = self._pairs_of(tables)
        tuples = (nodes, source.contiguous(), left_out.to(like.dtype).contiguous(), types)
        each = (m - num_edges) // num_edges if num_edges else 0
        for k, pair in enumerate(pairs):
            _pair_kernel[(m,)](
                *tuples,
                *self._table(tables.tables[pair.p]),
                *self._table(tables.tables[pair.q]),
                pair.common,
                len(pair.common),
                pair.p,
                pair.q,
                pair.in_p,
                pair.in_q,
                num_edges,
                each,
                out[:, 3 * k :],
                LENGTH=length,
                WIDTH=tables.width,
                SHARED=SHARED,
                SHARED_LANES=triton.next_power_of_2(SHARED),
                PATHS=PATHS,
                PATHS_LANES=triton.next_power_of_2(PATHS),
                NEGATIVES=triton.next_power_of_2(max(each, 1)),
                num_warps=1,
            )
        for p, table in enumerate(tables.tables):
            degrees = out[:, 3 * len(pairs) + p :]
            _degree_kernel[(triton.cdiv(m, _ROWS),)](
                *tuples, table.degrees, p, m, degrees, LENGTH=length, WIDTH=tables.width, ROWS=_ROWS
            )
        return out

    def _pairs_of(self, tables: TupleTables) -> tuple[Tensor, list[_Pair]]:
        """The types of the positions, and all pairs of them."""
        kept = self._pairs.get(id(tables))
        if kept is None or kept[0] is not tables:
            device = tables.tables[0].counts.device
            types = torch.tensor(tables.types, dtype=torch.int32, device=device)
            pairs = []
            for (p, q), common in zip(tables.pairs, tables.common, strict=True):
                of_p, of_q = (_firsts(tables.tables[r]) for r in (p, q))
                blocks = [
                    (c.type, of_p.index(c.first_in_p), of_q.index(c.first_in_q))
                    for c in common
                    if c.size
                ]
                in_both = torch.tensor(blocks, dtype=torch.int32, device=device).reshape(-1, 3)
                in_p, in_q = of_p.index(tables.first[p][q]), of_q.index(tables.first[q][p])
                pairs.append(_Pair(p, q, in_p, in_q, in_both))
            kept = self._pairs[id(tables)] = (tables, types, pairs)
        return kept[1:]

    def _table(self, table: CountTable) -> tuple[Any, ...]:
        kept = self._tables.get(id(table))
        if kept is None or kept[0] is not table:
            n = len(table.indptr) - 1
            firsts = torch.tensor(_firsts(table), dtype=torch.int32, device=table.indptr.device)
            bounds = table.indptr.new_empty(n, len(firsts) + 1)
            _bounds_kernel[(triton.cdiv(n, _ROWS),)](
                table.indptr, table.columns, firsts, bounds, n, BLOCKS=len(firsts), ROWS=_ROWS
            )
            arrays = (table.columns, table.counts, bounds, firsts, len(firsts))
            kept = self._tables[id(table)] = (table, arrays)
        return kept[1]


def _firsts(table: CountTable) -> list[int]:
    """Return the first columns of the blocks, ascending; blocks without columns are left out."""
    return sorted(set(table.firsts))


# -- looking for entries ---------------------------------------------------------------------------


@triton.jit
def _find(columns, begin, length, wanted):
    """The entry of a column among `length` ascending ones from `begin` on, and if it is there."""
    wanted = wanted.to(tl.int32)
    low = tl.zeros_like(length)
    high = length
    left = tl.max(length)
    while left > 0:
        middle = (low + high) // 2
        here = tl.load(columns + begin + middle, mask=low < high, other=_NO_COLUMN)
        low = tl.where(here < wanted, middle + 1, low)
        high = tl.where(here < wanted, high, middle)
        left = left // 2
    there = tl.load(columns + begin + low, mask=low < length, other=-1) == wanted
    return begin + low, there


@triton.jit(do_not_specialize=["n"])
def _bounds_kernel(
    indptr, columns, firsts, bounds, n, BLOCKS: tl.constexpr, ROWS: tl.constexpr
):  # fmt: skip
    """Fill `bounds` ``[n, blocks + 1]``."""
    x = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    x = tl.minimum(x, n - 1)
    begin, end = tl.load(indptr + x), tl.load(indptr + x + 1)
    for k in tl.static_range(BLOCKS):
        at, _ = _find(columns, begin, (end - begin).to(tl.int32), tl.load(firsts + k))
        tl.store(bounds + x * (BLOCKS + 1) + k, at)
    tl.store(bounds + x * (BLOCKS + 1) + BLOCKS, end)


@triton.jit
def _block(table, x, block):
    """Where a block of row x begins, and how many entries it has."""
    bounds = table[2] + x.to(tl.int64) * (table[4] + 1) + block
    begin = tl.load(bounds)
    return begin, (tl.load(bounds + 1) - begin).to(tl.int32)


@triton.jit
def _neighbours(table, x, block, MOST: tl.constexpr, LANES: tl.constexpr):
    """Up to MOST neighbours of x in a block: entries, ids, which are real, how many each is."""
    begin, n = _block(table, x, block)
    number = tl.arange(0, LANES)
    at = begin + tl.where(n > MOST, number.to(tl.int64) * n // MOST, number)
    real = (number < MOST) & (number < n)
    ids = tl.load(table[0] + at, mask=real, other=0) - tl.load(table[3] + block)
    each = tl.maximum(n.to(table[1].dtype.element_ty) / MOST, 1.0)
    return at, tl.where(real, ids, 0), real, each


# -- leaving the hyperedge out: edge is (where its nodes are, their types, its weight) -------------


@triton.jit
def _member(edge, kind, ids, LENGTH: tl.constexpr):
    """Which nodes of a type are in the hyperedge that is left out."""
    inside = ids < 0
    for r in tl.static_range(LENGTH):
        inside = inside | ((tl.load(edge[1] + r) == kind) & (tl.load(edge[0] + r) == ids))
    return inside


@triton.jit
def _count(table, at, there, own, edge):
    """A' of some entries: without the hyperedge where they are its own, 0 where there is none."""
    count = tl.load(table[1] + at, mask=there, other=0.0)
    rest = count - edge[2]
    return tl.where(own, tl.where(rest > _ZERO * count, rest, 0.0), count)


@triton.jit
def _log1p(x):
    """log(1 + x); what rounding 1 + x did to a small x is undone by x / ((1 + x) − 1)."""
    rounded = 1 + x
    gain = rounded - 1
    return tl.where(gain > 0, tl.log(rounded) * (x / tl.where(gain > 0, gain, 1.0)), x)


# -- c, s and t of a pair --------------------------------------------------------------------------


@triton.jit
def _together(a, v, u, in_p, kind_p, kind_q, edge, LENGTH: tl.constexpr):
    """Return c = A'[v, u]."""
    begin, n = _block(a, v, in_p)
    at, there = _find(a[0], begin, n + tl.zeros([1], tl.int32), tl.load(a[3] + in_p) + u)
    own = _member(edge, kind_p, v, LENGTH) & _member(edge, kind_q, u, LENGTH)
    own = own & ((kind_p != kind_q) | (v != u))
    return tl.sum(_count(a, at, there, own, edge))


@triton.jit
def _shared(
    a, b, x, z, in_a, in_b, kind, kind_x, kind_z, edge,
    LENGTH: tl.constexpr, MOST: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Σ over the neighbours y of x, of type `kind`, of ℓ(A'[x, y]) ℓ(A'[z, y])."""
    at, y, real, each = _neighbours(a, x, in_a, MOST, LANES)
    begin, n = _block(b, z, in_b)
    other, there = _find(b[0], begin, tl.where(real, n, 0), tl.load(b[3] + in_b) + y)
    y_in = _member(edge, kind, y, LENGTH)
    own_x = y_in & _member(edge, kind_x, x, LENGTH) & ((kind != kind_x) | (y != x))
    own_z = y_in & _member(edge, kind_z, z, LENGTH) & ((kind != kind_z) | (y != z))
    mine = _log1p(_count(a, at, there, own_x, edge))
    theirs = _log1p(_count(b, other, there, own_z, edge))
    return tl.sum(mine * theirs) * each


@triton.jit
def _paths(
    a, b, v, u, in_p, in_q, kind_p, kind_q, edge,
    LENGTH: tl.constexpr, MOST: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Return t = Σ over y near v and x near u of ℓ(A'[v, y]) ℓ(A'[x, y]) ℓ(A'[u, x])."""
    at_v, y, real_y, each_y = _neighbours(a, v, in_p, MOST, LANES)
    at_u, x, real_x, each_x = _neighbours(b, u, in_q, MOST, LANES)
    y_in, x_in = _member(edge, kind_q, y, LENGTH), _member(edge, kind_p, x, LENGTH)
    own_v = y_in & _member(edge, kind_p, v, LENGTH) & ((kind_p != kind_q) | (y != v))
    own_u = x_in & _member(edge, kind_q, u, LENGTH) & ((kind_p != kind_q) | (x != u))
    near_v = _log1p(_count(a, at_v, real_y & (y != u), own_v, edge))
    near_u = _log1p(_count(b, at_u, real_x & (x != v), own_u, edge))
    begin, n = _block(a, x, in_p)
    length = tl.where((near_u > 0)[:, None] & (near_v > 0)[None, :], n[:, None], 0)
    at, there = _find(a[0], begin[:, None], length, (tl.load(a[3] + in_p) + y)[None, :])
    own = x_in[:, None] & y_in[None, :] & ((kind_p != kind_q) | (x[:, None] != y[None, :]))
    between = _log1p(_count(a, at, there, own, edge))
    return tl.sum(near_u[:, None] * between * near_v[None, :]) * each_x * each_y


@triton.jit
def _keeps(nodes, source, i, p, q, LENGTH: tl.constexpr):
    """Whether tuples have the nodes at both positions in common with their hyperedges."""
    at_p, at_q = i * LENGTH + p, i * LENGTH + q
    same_p = tl.load(nodes + at_p) == tl.load(source + at_p)
    return same_p & (tl.load(nodes + at_q) == tl.load(source + at_q))


@triton.jit
def _write(row, c, s, t, mask):
    tl.store(row, c, mask=mask)
    tl.store(row + 1, s, mask=mask)
    tl.store(row + 2, t, mask=mask)


_VARYING = ["blocks_p", "blocks_q", "num_common", "p", "q", "in_p", "in_q", "num_edges", "each"]


@triton.jit(do_not_specialize=_VARYING)
def _pair_kernel(
    nodes, source, left_out, types,
    columns_p, counts_p, bounds_p, firsts_p, blocks_p,
    columns_q, counts_q, bounds_q, firsts_q, blocks_q,
    common, num_common, p, q, in_p, in_q, num_edges, each, out,
    LENGTH: tl.constexpr, WIDTH: tl.constexpr,
    SHARED: tl.constexpr, SHARED_LANES: tl.constexpr,
    PATHS: tl.constexpr, PATHS_LANES: tl.constexpr, NEGATIVES: tl.constexpr,
):  # fmt: skip
    """Write c, s and t of a pair of one tuple, and of the negatives that keep it of this tuple."""
    i = tl.program_id(0).to(tl.int64)
    edges_own = (num_edges > 0) & (i >= num_edges) & _keeps(nodes, source, i, p, q, LENGTH)
    if not edges_own:
        a = (columns_p, counts_p, bounds_p, firsts_p, blocks_p)
        b = (columns_q, counts_q, bounds_q, firsts_q, blocks_q)
        edge = (source + i * LENGTH, types, tl.load(left_out + i))
        v, u = tl.load(nodes + i * LENGTH + p), tl.load(nodes + i * LENGTH + q)
        kind_p, kind_q = tl.load(types + p), tl.load(types + q)
        c = _together(a, v, u, in_p, kind_p, kind_q, edge, LENGTH)
        s = tl.zeros_like(c)
        for number in range(num_common):
            kind = tl.load(common + 3 * number)
            at_p, at_q = tl.load(common + 3 * number + 1), tl.load(common + 3 * number + 2)
            _, n_v = _block(a, v, at_p)
            _, n_u = _block(b, u, at_q)
            if n_v <= n_u:  # over the neighbours of whichever node has fewer
                s += _shared(
                    a, b, v, u, at_p, at_q, kind, kind_p, kind_q, edge,
                    LENGTH, SHARED, SHARED_LANES,
                )  # fmt: skip
            else:
                s += _shared(
                    b, a, u, v, at_q, at_p, kind, kind_q, kind_p, edge,
                    LENGTH, SHARED, SHARED_LANES,
                )  # fmt: skip
        t = _paths(a, b, v, u, in_p, in_q, kind_p, kind_q, edge, LENGTH, PATHS, PATHS_LANES)
        _write(out + i * WIDTH, c, s, t, True)
        if (i < num_edges) & (each > 0):
            negative = num_edges + i * each + tl.minimum(tl.arange(0, NEGATIVES), each - 1)
            kept = _keeps(nodes, source, negative, p, q, LENGTH)
            _write(out + negative * WIDTH, c, s, t, kept)


@triton.jit(do_not_specialize=["p", "m"])
def _degree_kernel(
    nodes, source, left_out, types, degrees, p, m, out,
    LENGTH: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Write the degrees of position p's nodes without the hyperedges."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    i = tl.minimum(i, m - 1)
    edge = (source + i * LENGTH, types, tl.load(left_out + i))
    v = tl.load(nodes + i * LENGTH + p)
    degree = tl.load(degrees + v)
    own = _member(edge, tl.load(types + p), v, LENGTH)
    tl.store(out + i * WIDTH, tl.where(own, tl.maximum(degree - edge[2], 0.0), degree))
