"""The counts of :mod:`dhne.kernels.counts` on a GPU: a Triton program for each tuple and pair.

A program holds neighbours of a node side by side and looks for all their entries at once, by
bisection: columns ascend within a row. Of each table it takes the entries' columns and counts,
``bounds[x, k]``, where block k of row x begins (and block k - 1 ends), and each block's first
column. The bounds are all that is kept beside A.

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

from . import counts
from .counts import CountTable, TupleTables

_ZERO = tl.constexpr(counts.ZERO)
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
    """Counts tuples, and keeps what it works out about tables with them."""

    def count(
        self,
        tables: TupleTables,
        nodes: Tensor,
        source: Tensor | None,
        left_out: Tensor | None,
        num_edges: int,
        of_edges: Tensor | None,
    ) -> Tensor:
        """Return c, s and t of each pair and the degrees, ``float[m, width]``."""
        like = tables.tables[0].counts
        m, length = nodes.shape
        out = like.new_empty(m, tables.width)
        if not m:
            return out
        nodes = nodes.contiguous()
        if source is None or left_out is None:  # of each tuple itself, nothing
            source, left_out, num_edges, of_edges = nodes, like.new_zeros(m), 0, None
        types, pairs = self._pairs_of(tables)
        tuples = (nodes, source.contiguous(), left_out.to(like.dtype).contiguous(), types)
        each = (m - num_edges) // num_edges if num_edges else 0
        known = out[:0] if of_edges is None else of_edges.contiguous()
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
                known,
                len(known),
                out,
                3 * k,
                LENGTH=length,
                WIDTH=tables.width,
                SHARED=counts.SHARED,
                SHARED_LANES=triton.next_power_of_2(counts.SHARED),
                PATHS=counts.PATHS,
                HUB=counts.HUB,
                PATHS_LANES=triton.next_power_of_2(counts.PATHS),
                NEGATIVES=triton.next_power_of_2(max(each, 1)),
                num_warps=1,
            )
        for p, table in enumerate(tables.tables):
            args = (table.degrees, p, m, out, 3 * len(pairs) + p)
            _degree_kernel[(triton.cdiv(m, _ROWS),)](
                *tuples, *args, LENGTH=length, WIDTH=tables.width, ROWS=_ROWS
            )
        return out

    def _pairs_of(self, tables: TupleTables) -> tuple[Tensor, list[_Pair]]:
        """The types of the positions, and all pairs of them."""
        if "pairs" not in tables.kept:
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
            tables.kept["pairs"] = types, pairs
        kept: tuple[Tensor, list[_Pair]] = tables.kept["pairs"]
        return kept

    def _table(self, table: CountTable) -> tuple[Any, ...]:
        if "bounds" not in table.kept:
            n = len(table.indptr) - 1
            firsts = torch.tensor(_firsts(table), dtype=torch.int32, device=table.indptr.device)
            bounds = table.indptr.new_empty(n, len(firsts) + 1)
            _bounds_kernel[(triton.cdiv(n, _ROWS),)](
                table.indptr, table.columns, firsts, bounds, n, BLOCKS=len(firsts), ROWS=_ROWS
            )
            arrays = (table.columns, table.counts, bounds, firsts, len(firsts) + 1)
            table.kept["bounds"] = arrays
        kept: tuple[Any, ...] = table.kept["bounds"]
        return kept


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
def _row(bounds, stride, x, block):
    """Where a block of row x begins, and how many entries it has."""
    at = bounds + x.to(tl.int64) * stride + block
    begin = tl.load(at)
    return begin, (tl.load(at + 1) - begin).to(tl.int32)


@triton.jit
def _neighbours(columns, begin, n, first, MOST: tl.constexpr, LANES: tl.constexpr):
    """Up to MOST neighbours in a block of a row: their entries, their ids, which are real."""
    number = tl.arange(0, LANES)
    at = begin + tl.where(n > MOST, number.to(tl.int64) * n // MOST, number)
    real = (number < MOST) & (number < n)
    ids = tl.load(columns + at, mask=real, other=0) - first
    return at, tl.where(real, ids, 0), real


@triton.jit
def _member(source, types, kind, ids, LENGTH: tl.constexpr):
    """Which nodes of a type are in the hyperedge that is left out."""
    inside = ids < 0
    for r in tl.static_range(LENGTH):
        inside = inside | ((tl.load(types + r) == kind) & (tl.load(source + r) == ids))
    return inside


@triton.jit
def _count(counts, at, there, own, weight):
    """A' of some entries: without the hyperedge where they are its own, 0 where there is none."""
    count = tl.load(counts + at, mask=there, other=0.0)
    rest = count - weight
    return tl.where(own, tl.where(rest > _ZERO * count, rest, 0.0), count)


@triton.jit
def _log(x):
    """ℓ(x) = log(1 + x); what rounding 1 + x did to a small x is undone by x / ((1 + x) − 1)."""
    rounded = 1 + x
    gain = rounded - 1
    return tl.where(gain > 0, tl.log(rounded) * (x / tl.where(gain > 0, gain, 1.0)), x)


# -- c, s and t of a pair --------------------------------------------------------------------------


@triton.jit
def _shared(
    columns_a, counts_a, begin_a, n_a, first_a, x, x_in, kind_x,
    columns_b, counts_b, begin_b, n_b, first_b, z, z_in, kind_z,
    kind, source, types, weight,
    LENGTH: tl.constexpr, MOST: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Σ over the neighbours y of x, of type `kind`, of ℓ(A'[x, y]) ℓ(A'[z, y])."""
    at, y, real = _neighbours(columns_a, begin_a, n_a, first_a, MOST, LANES)
    other, there = _find(columns_b, begin_b, tl.where(real, n_b, 0), first_b + y)
    y_in = _member(source, types, kind, y, LENGTH)
    own_x = x_in & y_in & ((kind != kind_x) | (y != x))
    own_z = z_in & y_in & ((kind != kind_z) | (y != z))
    mine = _log(_count(counts_a, at, there, own_x, weight))
    theirs = _log(_count(counts_b, other, there, own_z, weight))
    return tl.sum(mine * theirs) * tl.maximum(n_a.to(mine.dtype) / MOST, 1.0)


@triton.jit
def _paths(
    columns_p, counts_p, bounds_p, stride_p, in_p, first_p, v, v_in, kind_p,
    columns_q, counts_q, bounds_q, stride_q, in_q, first_q, u, u_in, kind_q,
    source, types, weight,
    LENGTH: tl.constexpr, MOST: tl.constexpr, LANES: tl.constexpr, HUB: tl.constexpr,
):  # fmt: skip
    """Σ over y near v and x near u of ℓ(A'[v, y]) ℓ(A'[x, y]) ℓ(A'[u, x]); 0 of a hub."""
    begin_v, n_v = _row(bounds_p, stride_p, v, in_p)
    begin_u, n_u = _row(bounds_q, stride_q, u, in_q)
    few = (n_v <= HUB) & (n_u <= HUB)
    n_v, n_u = tl.where(few, n_v, 0), tl.where(few, n_u, 0)
    at_v, y, real_y = _neighbours(columns_p, begin_v, n_v, first_p, MOST, LANES)
    at_u, x, real_x = _neighbours(columns_q, begin_u, n_u, first_q, MOST, LANES)
    y_in = _member(source, types, kind_q, y, LENGTH)
    x_in = _member(source, types, kind_p, x, LENGTH)
    own_v = v_in & y_in & ((kind_p != kind_q) | (y != v))
    own_u = u_in & x_in & ((kind_p != kind_q) | (x != u))
    near_v = _log(_count(counts_p, at_v, real_y & (y != u), own_v, weight))
    near_u = _log(_count(counts_q, at_u, real_x & (x != v), own_u, weight))
    begin, n = _row(bounds_p, stride_p, x, in_p)
    length = tl.where((near_u > 0)[:, None] & (near_v > 0)[None, :], n[:, None], 0)
    at, there = _find(columns_p, begin[:, None], length, (first_p + y)[None, :])
    own = x_in[:, None] & y_in[None, :] & ((kind_p != kind_q) | (x[:, None] != y[None, :]))
    between = _log(_count(counts_p, at, there, own, weight))
    each = tl.maximum(n_v.to(near_v.dtype) / MOST, 1.0) * tl.maximum(
        n_u.to(near_v.dtype) / MOST, 1.0
    )
    return tl.sum(near_u[:, None] * between * near_v[None, :]) * each


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


@triton.jit(
    do_not_specialize=[
        *("nodes", "source", "left_out", "stride_p", "stride_q", "num_common", "p", "q"),
        *("in_p", "in_q", "num_edges", "each", "known", "num_known", "place"),
    ]
)
def _pair_kernel(
    nodes, source, left_out, types,
    columns_p, counts_p, bounds_p, firsts_p, stride_p,
    columns_q, counts_q, bounds_q, firsts_q, stride_q,
    common, num_common, p, q, in_p, in_q, num_edges, each, known, num_known, out, place,
    LENGTH: tl.constexpr, WIDTH: tl.constexpr,
    SHARED: tl.constexpr, SHARED_LANES: tl.constexpr,
    PATHS: tl.constexpr, PATHS_LANES: tl.constexpr, HUB: tl.constexpr, NEGATIVES: tl.constexpr,
):  # fmt: skip
    """Write c, s and t of a pair of one tuple, and of the negatives that keep it of this tuple."""
    i = tl.program_id(0).to(tl.int64)
    kept = (num_edges > 0) & (i >= num_edges) & _keeps(nodes, source, i, p, q, LENGTH)
    if not kept:
        if i < num_known:
            row = known + i * WIDTH + place
            c, s, t = tl.load(row), tl.load(row + 1), tl.load(row + 2)
        else:
            edge, weight = source + i * LENGTH, tl.load(left_out + i)
            v, kind_p = tl.load(nodes + i * LENGTH + p), tl.load(types + p)
            u, kind_q = tl.load(nodes + i * LENGTH + q), tl.load(types + q)
            v_in = _member(edge, types, kind_p, v, LENGTH)
            u_in = _member(edge, types, kind_q, u, LENGTH)
            first_p, first_q = tl.load(firsts_p + in_p), tl.load(firsts_q + in_q)

            begin, n = _row(bounds_p, stride_p, v, in_p)
            at, there = _find(columns_p, begin, n + tl.zeros([1], tl.int32), first_p + u)
            own = v_in & u_in & ((kind_p != kind_q) | (v != u))
            c = tl.sum(_count(counts_p, at, there, own, weight))

            s = c * 0
            for k in range(num_common):
                kind = tl.load(common + 3 * k)
                at_p, at_q = tl.load(common + 3 * k + 1), tl.load(common + 3 * k + 2)
                begin_v, n_v = _row(bounds_p, stride_p, v, at_p)
                begin_u, n_u = _row(bounds_q, stride_q, u, at_q)
                of_p, of_q = tl.load(firsts_p + at_p), tl.load(firsts_q + at_q)
                if n_v <= n_u:  # over the neighbours of whichever node has fewer
                    s += _shared(
                        columns_p, counts_p, begin_v, n_v, of_p, v, v_in, kind_p,
                        columns_q, counts_q, begin_u, n_u, of_q, u, u_in, kind_q,
                        kind, edge, types, weight, LENGTH, SHARED, SHARED_LANES,
                    )  # fmt: skip
                else:
                    s += _shared(
                        columns_q, counts_q, begin_u, n_u, of_q, u, u_in, kind_q,
                        columns_p, counts_p, begin_v, n_v, of_p, v, v_in, kind_p,
                        kind, edge, types, weight, LENGTH, SHARED, SHARED_LANES,
                    )  # fmt: skip

            t = _paths(
                columns_p, counts_p, bounds_p, stride_p, in_p, first_p, v, v_in, kind_p,
                columns_q, counts_q, bounds_q, stride_q, in_q, first_q, u, u_in, kind_q,
                edge, types, weight, LENGTH, PATHS, PATHS_LANES, HUB,
            )  # fmt: skip
        _write(out + i * WIDTH + place, c, s, t, True)
        if (i < num_edges) & (each > 0):
            negative = num_edges + i * each + tl.minimum(tl.arange(0, NEGATIVES), each - 1)
            theirs = _keeps(nodes, source, negative, p, q, LENGTH)
            _write(out + negative * WIDTH + place, c, s, t, theirs)


@triton.jit(do_not_specialize=["nodes", "source", "left_out", "p", "m", "place"])
def _degree_kernel(
    nodes, source, left_out, types, degrees, p, m, out, place,
    LENGTH: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Write the degrees of position p's nodes without the hyperedges."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    i = tl.minimum(i, m - 1)
    v = tl.load(nodes + i * LENGTH + p)
    degree = tl.load(degrees + v)
    own = _member(source + i * LENGTH, types, tl.load(types + p), v, LENGTH)
    rest = tl.maximum(degree - tl.load(left_out + i), 0.0)
    tl.store(out + i * WIDTH + place, tl.where(own, rest, degree))
