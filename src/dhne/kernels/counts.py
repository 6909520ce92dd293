"""What tuples' nodes share, counted in a network from which one hyperedge is left out.

With A the network's (weighted) co-occurrence counts and A' the same without the hyperedge e,

    A'[x, y] = A[x, y] − w_e [x ∈ e] [y ∈ e] [x ≠ y],

a tuple's evidence has for each pair of positions (v, u)

    c = A'[v, u]                                                     how often the pair was seen,
    s = Σ_y ℓ(A'[v, y]) ℓ(A'[u, y])                                  what both were seen with,
    t = Σ_{b ≠ u} Σ_{a ≠ v} ℓ(A'[v, b]) ℓ(A'[a, b]) ℓ(A'[u, a])      paths v – b – a – u,

with ℓ(x) = log(1 + x), y over the types that neighbour both, b of u's type and a of v's; and for
each position the degree without e. Of a node's many neighbours an even sample is taken and weighted
up; where one of the two has more than 512, so that a sample would say nothing, t is 0.
This file spells it out in torch; :mod:`dhne.kernels.compiled.counts` is the same, compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

SHARED = 8  # neighbours taken of a node for s
PATHS = 8  # neighbours taken of either node for t
HUB = 512  # neighbours beyond which a sample says nothing about a node's paths
ZERO = 1e-6  # what is left of a count is zero if it is below this share of it: it was rounded


@dataclass(frozen=True)
class CountTable:
    """A of one node type, by rows: unscaled counts, columns ascending within a row."""

    indptr: Tensor  # int64[n + 1]
    columns: Tensor  # int32[nnz]
    counts: Tensor  # float[nnz]
    degrees: Tensor  # float[n]
    num_columns: int
    firsts: tuple[int, ...]  # the first column of each neighbour type's block
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def keys(self) -> Tensor:
        """Row · columns + column of each entry, ascending."""
        device = self.indptr.device
        rows = torch.repeat_interleave(
            torch.arange(len(self.indptr) - 1, device=device), self.indptr.diff()
        )
        return rows * self.num_columns + self.columns.long()


@dataclass(frozen=True)
class Common:
    """A node type that neighbours both types of a pair, and where its block begins in either's."""

    type: int
    first_in_p: int
    first_in_q: int
    size: int


@dataclass(frozen=True)
class Average:
    """How counts become features: each of the numbers `Kernels.features` makes adds to one.

    Attributes
    ----------
    feature : int64[numbers]
    share : float[numbers]
        By which each is multiplied.
    width : int
        The number of features.
    """

    feature: Tensor
    share: Tensor
    width: int

    def __len__(self) -> int:
        return len(self.feature)


@dataclass(frozen=True)
class TupleTables:
    """The tables of one edge type's positions.

    Attributes
    ----------
    tables : one CountTable per position
    types : a number for the node type of each position
    first : ``first[p][q]``, the first column of position q's type in position p's table
    sizes : the number of nodes of each position's type
    pairs : the pairs of positions that are counted, in the order of the features
    common : for each of these pairs, the types that neighbour both
    """

    tables: tuple[CountTable, ...]
    types: tuple[int, ...]
    first: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    common: tuple[tuple[Common, ...], ...]
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a backend has worked out about the tables."""

    @property
    def width(self) -> int:
        """How many numbers `tuple_counts` gives a tuple: c, s, t a pair, then the degrees."""
        return 3 * len(self.pairs) + len(self.tables)

    def columns_of(self, position: int) -> list[int]:
        """Return the columns of c, s and t of the pairs that a position is in."""
        pairs = [k for k, pair in enumerate(self.pairs) if position in pair]
        return [3 * k + which for k in pairs for which in range(3)]

    def degree_column(self, position: int) -> int:
        """Return the column of a position's degree."""
        return 3 * len(self.pairs) + position


def tuple_counts(
    tables: TupleTables,
    nodes: Tensor,
    source: Tensor | None,
    left_out: Tensor | None,
    of_edges: Tensor | None = None,
) -> Tensor:
    """Return (c, s, t) for each pair of positions and the degree of each, ``float[m, width]``.

    Parameters
    ----------
    nodes : int64[m, N]
    source : int64[m, N], optional
        The hyperedge that is left out for each tuple; None leaves nothing out.
    left_out : float[m], optional
        Its weight.
    of_edges : float[b, width], optional
        The counts of the first b tuples, if these are the hyperedges that are left out and as many
        negatives of each follow: only pairs with a node that was replaced are then counted.
    """
    counts = nodes.new_empty(len(nodes), tables.width, dtype=tables.tables[0].counts.dtype)
    changed = torch.ones_like(nodes, dtype=torch.bool)
    if of_edges is not None and source is not None and len(of_edges):
        k = len(nodes) // len(of_edges) - 1
        counts = torch.cat([of_edges, of_edges.repeat_interleave(k, dim=0)])
        changed = nodes != source
    for numbers in _alike(tables):
        (p, q), common = tables.pairs[numbers[0]], tables.common[numbers[0]]
        pairs = torch.tensor([tables.pairs[k] for k in numbers], device=nodes.device)
        number, row = changed[:, pairs].any(dim=2).T.nonzero(as_tuple=True)
        count = _stacked(tables, nodes, source, left_out, row, pairs[number], (p, q))
        places = 3 * torch.tensor(numbers, device=nodes.device)[number]
        found = (count.pair(p, q), count.shared(p, q, common), count.paths(p, q))
        for which, values in enumerate(found):
            counts[row, places + which] = values
    count = _Counter(tables, nodes, source, left_out)
    for p in range(len(tables.tables)):
        counts[:, 3 * len(tables.pairs) + p] = count.degree(p)
    return counts


def _alike(tables: TupleTables) -> list[list[int]]:
    """Return the numbers of the pairs of each two node types: they are counted at once."""
    if "alike" not in tables.kept:
        found: dict[tuple[int, int], list[int]] = {}
        for k, (p, q) in enumerate(tables.pairs):
            found.setdefault((tables.types[p], tables.types[q]), []).append(k)
        tables.kept["alike"] = list(found.values())
    alike: list[list[int]] = tables.kept["alike"]
    return alike


def _stacked(
    tables: TupleTables,
    nodes: Tensor,
    source: Tensor | None,
    left_out: Tensor | None,
    row: Tensor,
    pairs: Tensor,
    at: tuple[int, int],
) -> _Counter:
    """Return a counter of the tuples `row`, the nodes of one pair of each at the positions `at`.

    ``pairs: int64[len(row), 2]`` are pairs of the same two node types as `at`.
    """
    stacked = nodes[row]
    for position, chosen in zip(at, pairs.unbind(1), strict=True):
        stacked[:, position] = nodes[row, chosen]
    return _Counter(
        tables,
        stacked,
        None if source is None else source[row],
        None if left_out is None else left_out[row],
    )


class _Counter:
    """The counts of some tuples, all at once."""

    def __init__(
        self, tables: TupleTables, nodes: Tensor, source: Tensor | None, left_out: Tensor | None
    ) -> None:
        self.t, self.nodes, self.source, self.left_out = tables, nodes, source, left_out

    def member(self, kind: int, ids: Tensor) -> Tensor:
        """Which nodes ``ids: int64[m, …]`` of a type are in the hyperedge that is left out."""
        assert self.source is not None
        inside = torch.zeros_like(ids, dtype=torch.bool)
        for position, t in enumerate(self.t.types):
            if t == kind:
                own = self.source[:, position].reshape(-1, *[1] * (ids.dim() - 1))
                inside |= ids == own
        return inside

    def entries(self, p: int, rows: Tensor, first: int, kind: int, ids: Tensor) -> Tensor:
        """A'[x, y] for x = `rows` of position p's type and y = `ids` of type `kind`."""
        table = self.t.tables[p]
        if not len(table.columns):
            return torch.zeros(ids.shape, dtype=table.counts.dtype, device=ids.device)
        asked = rows * table.num_columns + first + ids
        place = torch.searchsorted(table.keys, asked.contiguous()).clamp_(max=len(table.keys) - 1)
        found = torch.where(table.keys[place] == asked, table.counts[place], 0)
        if self.source is None or self.left_out is None:
            return found
        own = self.member(self.t.types[p], rows) & self.member(kind, ids)
        if kind == self.t.types[p]:
            own = own & (rows != ids)
        weight = self.left_out.reshape(-1, *[1] * (ids.dim() - 1))
        rest = found - weight
        return torch.where(own, torch.where(rest > ZERO * found, rest, 0), found)

    def neighbours(self, p: int, first: int, size: int, most: int) -> tuple[Tensor, Tensor, Tensor]:
        """Up to `most` neighbours of position p's nodes in a block: (ids, how many each, real)."""
        table, rows = self.t.tables[p], self.nodes[:, p]
        if not len(table.columns):
            none = torch.zeros(len(rows), most, dtype=torch.int64, device=rows.device)
            return none, torch.ones_like(rows, dtype=table.counts.dtype), none.bool()
        begin = torch.searchsorted(table.keys, rows * table.num_columns + first)
        end = torch.searchsorted(table.keys, rows * table.num_columns + first + size)
        degree = end - begin
        number = torch.arange(most, device=rows.device)
        at = torch.where(
            (degree > most)[:, None], number * degree[:, None] // most, number.expand(len(rows), -1)
        )
        real = at < degree[:, None]
        place = (begin[:, None] + at).clamp_(max=max(len(table.columns) - 1, 0))
        ids = (table.columns[place].long() - first).clamp_(0, max(size - 1, 0))
        return ids, (degree.to(table.counts.dtype) / most).clamp(min=1), real

    def pair(self, p: int, q: int) -> Tensor:
        """Return c."""
        t = self.t
        return self.entries(p, self.nodes[:, p], t.first[p][q], t.types[q], self.nodes[:, q])

    def degree(self, p: int) -> Tensor:
        """Return the degree of position p's node without the hyperedge."""
        degrees = self.t.tables[p].degrees[self.nodes[:, p]]
        if self.source is None or self.left_out is None:
            return degrees
        inside = self.member(self.t.types[p], self.nodes[:, p])
        return torch.where(inside, degrees - self.left_out, degrees).clamp_(min=0)

    def shared(self, p: int, q: int, common: tuple[Common, ...]) -> Tensor:
        """Return s, over the neighbours of whichever node has fewer."""
        dtype = self.t.tables[p].counts.dtype
        total = torch.zeros(len(self.nodes), dtype=dtype, device=self.nodes.device)
        for c in common:
            sides = []
            for a, first_a, b, first_b in (
                (p, c.first_in_p, q, c.first_in_q),
                (q, c.first_in_q, p, c.first_in_p),
            ):
                ids, each, real = self.neighbours(a, first_a, c.size, SHARED)
                mine = self.entries(a, self.nodes[:, a : a + 1], first_a, c.type, ids)
                theirs = self.entries(b, self.nodes[:, b : b + 1], first_b, c.type, ids)
                product = torch.log1p(mine) * torch.log1p(theirs) * real
                sides.append((product.sum(1) * each, self._degree_in(a, first_a, c.size)))
            (of_p, degree_p), (of_q, degree_q) = sides
            total += torch.where(degree_p <= degree_q, of_p, of_q)
        return total

    def _degree_in(self, p: int, first: int, size: int) -> Tensor:
        table, rows = self.t.tables[p], self.nodes[:, p]
        begin = torch.searchsorted(table.keys, rows * table.num_columns + first)
        return torch.searchsorted(table.keys, rows * table.num_columns + first + size) - begin

    def paths(self, p: int, q: int) -> Tensor:
        """Return t."""
        t = self.t
        v, u = self.nodes[:, p : p + 1], self.nodes[:, q : q + 1]
        b, each_b, real_b = self.neighbours(p, t.first[p][q], t.sizes[q], PATHS)
        a, each_a, real_a = self.neighbours(q, t.first[q][p], t.sizes[p], PATHS)
        near_v = torch.log1p(self.entries(p, v, t.first[p][q], t.types[q], b)) * real_b * (b != u)
        near_u = torch.log1p(self.entries(q, u, t.first[q][p], t.types[p], a)) * real_a * (a != v)
        rows, ids = a[:, :, None].expand(-1, -1, PATHS), b[:, None, :].expand(-1, PATHS, -1)
        middle = torch.log1p(self.entries(p, rows, t.first[p][q], t.types[q], ids))
        total = (near_u[:, :, None] * middle * near_v[:, None, :]).sum((1, 2))
        degree_v = self._degree_in(p, t.first[p][q], t.sizes[q])
        degree_u = self._degree_in(q, t.first[q][p], t.sizes[p])
        return total * each_a * each_b * (torch.maximum(degree_v, degree_u) <= HUB)
