"""The data of one step: the batch's distinct nodes, and tuples that refer to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dhne.network.edges import EdgeType


@dataclass(frozen=True)
class TypeBatch:
    """One node type's part of a batch.

    Attributes
    ----------
    plan : the batch matrix, prepared by the kernels
        One row per distinct node (b of them), then the rows that leave a hyperedge out.
    visits : float[b]
        Number of visits to each distinct node by the batch's tuples, times α / tuples.
    """

    plan: Any
    visits: Tensor


@dataclass(frozen=True)
class TupleBatch:
    """One edge type's tuples in a batch.

    Attributes
    ----------
    edge_type : tuple of str
    index : int64[m, N]
        The row of each node's embedding among its type's rows of the batch.
    valid : bool[m - B]
        Which negatives were found.
    num_edges : int
        B: the first B tuples are hyperedges, the others negatives, grouped by hyperedge.
    evidence : float[m, features] or None
    """

    edge_type: EdgeType
    index: Tensor
    valid: Tensor
    num_edges: int
    evidence: Tensor | None = None

    def part(self, low: int, high: int) -> TupleBatch:
        """Return the hyperedges from `low` to `high`, with their negatives."""
        which = _with_negatives(self, low, high)
        return replace(
            self,
            index=torch.cat([self.index[w] for w in which]),
            valid=self.valid[_shifted(which[1], self.num_edges)],
            num_edges=high - low,
            evidence=_part_of(self.evidence, which),
        )


@dataclass(frozen=True)
class FamilyBatch:
    """A family's tuples in a batch, which may differ in size.

    Attributes
    ----------
    edge_type : EdgeType
        The family.
    index : int64[members]
        The row of each member's embedding among its type's rows of the batch.
    slots : int64[members]
        The index of each member's role.
    begins : int64[m + 1]
        Where each tuple's members begin.
    valid, num_edges, evidence
        As in `TupleBatch`.
    """

    edge_type: EdgeType
    index: Tensor
    slots: Tensor
    begins: Tensor
    valid: Tensor
    num_edges: int
    evidence: Tensor | None = None

    def part(self, low: int, high: int) -> FamilyBatch:
        """Return the hyperedges from `low` to `high`, with their negatives."""
        which = _with_negatives(self, low, high)
        members = [slice(int(self.begins[w.start]), int(self.begins[w.stop])) for w in which]
        lengths = torch.cat([self.begins.diff()[w] for w in which])
        return replace(
            self,
            index=torch.cat([self.index[m] for m in members]),
            slots=torch.cat([self.slots[m] for m in members]),
            begins=torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]),
            valid=self.valid[_shifted(which[1], self.num_edges)],
            num_edges=high - low,
            evidence=_part_of(self.evidence, which),
        )


def share_of(num_edges: int, rank: int, size: int) -> tuple[int, int]:
    """Return (first, end) of worker `rank`'s hyperedges in a batch.

    Examples
    --------
    >>> [share_of(10, rank, 3) for rank in range(3)]
    [(0, 3), (3, 6), (6, 10)]
    """
    return num_edges * rank // size, num_edges * (rank + 1) // size


def _with_negatives(batch: TupleBatch | FamilyBatch, low: int, high: int) -> tuple[slice, slice]:
    """Return the slices of hyperedges and of their negatives among a batch's tuples."""
    b, k = batch.num_edges, len(batch.valid) // max(batch.num_edges, 1)
    return slice(low, high), slice(b + low * k, b + high * k)


def _shifted(where: slice, by: int) -> slice:
    return slice(where.start - by, where.stop - by)


def _part_of(evidence: Tensor | None, which: tuple[slice, slice]) -> Tensor | None:
    return None if evidence is None else torch.cat([evidence[w] for w in which])


@dataclass(frozen=True)
class Batch:
    """The data of one step."""

    types: dict[str, TypeBatch]
    tuples: list[TupleBatch]
    num_tuples: int
    families: list[FamilyBatch] = field(default_factory=list)

    def share(self, rank: int, size: int) -> Batch:
        """Return the part of worker `rank` of `size`: all nodes, and its share of the tuples."""
        mine = partial(share_of, rank=rank, size=size)
        tuples = [group.part(*mine(group.num_edges)) for group in self.tuples]
        families = [family.part(*mine(family.num_edges)) for family in self.families]
        return replace(
            self,
            tuples=[group for group in tuples if group.num_edges],
            families=[family for family in families if family.num_edges],
        )
