"""The inputs of one step: hyperedges, their negatives and evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from dhne.network.edges import EdgeType


@dataclass(frozen=True)
class Positives:
    """The hyperedges of one type on the training device, in an epoch's order.

    Attributes
    ----------
    types : EdgeType
    nodes : int64[m, N]
    weights : float[m]
    counts : float[m, k]
        Evidence counts of each hyperedge, without itself; no columns without evidence.
    taken : float[m, N, k]
        Entries that leave each out of its nodes' rows; none without leave-one-out.
    """

    types: EdgeType
    nodes: Tensor
    weights: Tensor
    counts: Tensor
    taken: Tensor

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, which: slice | Tensor) -> Positives:
        """Return a selection of the hyperedges, or a reordering."""
        tensors = (t[which] for t in (self.nodes, self.weights, self.counts, self.taken))
        return Positives(self.types, *tensors)


@dataclass(frozen=True)
class TupleInputs:
    """One edge type's tuples of a step: B hyperedges, then k negatives of each.

    Attributes
    ----------
    types : EdgeType
    edges : int64[B, N]
    taken : float[B, N, …]
        Entries that leave each hyperedge out of its nodes' rows.
    negatives : int64[B * k, N]
    valid : bool[B * k]
        Which negatives were found.
    features : float[B * (k + 1), …]
        Evidence, hyperedges first.
    """

    types: EdgeType
    edges: Tensor
    taken: Tensor
    negatives: Tensor
    valid: Tensor
    features: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All but the edge type."""
        return self.edges, self.taken, self.negatives, self.valid, self.features

    def part(self, low: int, high: int) -> TupleInputs:
        """Return the hyperedges from `low` to `high`, with their negatives."""
        m, k = len(self.edges), self.per_edge
        edges, negatives = slice(low, high), slice(low * k, high * k)
        features = torch.cat([self.features[edges], self.features[m:][negatives]])
        return TupleInputs(
            self.types,
            self.edges[edges],
            self.taken[edges],
            self.negatives[negatives],
            self.valid[negatives],
            features,
        )

    @property
    def per_edge(self) -> int:
        """k, the number of negatives per hyperedge."""
        return len(self.negatives) // max(len(self.edges), 1)

    @cached_property
    def kept(self) -> Tensor:
        """``bool[B * k, N]``: where a negative keeps its hyperedge's node."""
        return self.negatives == spread(self.edges, len(self.negatives))

    @cached_property
    def tuples(self) -> Tensor:
        """``int64[B * (k + 1), N]``: the hyperedges, then the negatives."""
        return torch.cat([self.edges, self.negatives])


@dataclass(frozen=True)
class FamilyInputs:
    """A family's tuples of a step, of any size: B hyperedges, then k negatives of each.

    Tuples are concatenated; I is the total number of members of the hyperedges.

    Attributes
    ----------
    types : EdgeType
        The family: one position per role.
    nodes : int64[I * (k + 1)]
    slots : int64[I * (k + 1)]
        The index of each member's role in the family.
    begins : int64[B * (k + 1) + 1]
        The start of each tuple's members, and the end of the last.
    own : int64[I * k]
        For each member of a negative, its index among its hyperedge's members; -1 if drawn.
    valid : bool[B * k]
        Which negatives were found.
    features : float[B * (k + 1), …]
        Evidence, hyperedges first.
    columns, taken : int64[I, …], float[I, …]
        The columns and entries that leave a hyperedge out of the row of each of its members.
    """

    types: EdgeType
    nodes: Tensor
    slots: Tensor
    begins: Tensor
    own: Tensor
    valid: Tensor
    features: Tensor
    columns: Tensor
    taken: Tensor

    @property
    def num_edges(self) -> int:
        """B."""
        return len(self) - len(self.valid)

    def __len__(self) -> int:
        return len(self.begins) - 1

    @property
    def is_uniform(self) -> bool:
        """Whether all roles have the same node type."""
        return len(set(self.types)) == 1

    def of_type(self, node_type: str) -> Tensor:
        """``bool[I * (k + 1)]``: which members are of a node type."""
        is_type = torch.tensor([t == node_type for t in self.types], device=self.slots.device)
        return is_type[self.slots]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All but the edge type."""
        return (
            self.nodes,
            self.slots,
            self.begins,
            self.own,
            self.valid,
            self.features,
            self.columns,
            self.taken,
        )


@dataclass(frozen=True)
class StepInputs:
    """All inputs of a step.

    Attributes
    ----------
    groups : tuple of TupleInputs
        One per edge type; some may be empty.
    families : tuple of FamilyInputs
        One per family of sets, if sets of all sizes are trained together.
    turn : float or None
        Offset of the samples of long rows, in [0, 1); None if rows are not sampled.
    """

    groups: tuple[TupleInputs, ...]
    turn: float | None = None
    families: tuple[FamilyInputs, ...] = ()

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors in a fixed order: what a recorded step needs as new input."""
        of_groups = [t for group in self.groups for t in group.tensors]
        return of_groups + [t for family in self.families for t in family.tensors]

    def with_tensors(self, tensors: list[Tensor]) -> StepInputs:
        """Return the same inputs with other tensors, in the order of `tensors`."""
        left = iter(tensors)
        groups = (
            TupleInputs(group.types, *(next(left) for _ in group.tensors)) for group in self.groups
        )
        families = (
            FamilyInputs(family.types, *(next(left) for _ in family.tensors))
            for family in self.families
        )
        return replace(self, groups=tuple(groups), families=tuple(families))


def spread(of_edges: Tensor, num_negatives: int) -> Tensor:
    """Repeat the values of hyperedges for each of their negatives."""
    k = num_negatives // max(len(of_edges), 1)
    return of_edges.repeat_interleave(k, dim=0, output_size=num_negatives)
