"""The distinct nodes of a batch, and where the nodes of its tuples are among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from dhne.kernels import Distinct, ExtraRows, Kernels

from .leave_one_out import LeaveOneOut, joined
from .step_inputs import FamilyInputs, StepInputs, TupleInputs


@dataclass(frozen=True)
class NodeIndex:
    """The tuples of a step, and for each of their nodes the number of its row in the batch.

    Attributes
    ----------
    groups, families : list of TupleInputs, list of FamilyInputs
        Those of the step that are not empty.
    distinct : dict of node type to Distinct
    of_groups, of_families : list of Tensor
        The numbers, in the shapes of the groups' `tuples` and the families' `nodes`.
    """

    groups: list[TupleInputs]
    families: list[FamilyInputs]
    distinct: dict[str, Distinct]
    of_groups: list[Tensor]
    of_families: list[Tensor]

    @classmethod
    def build(cls, inputs: StepInputs, kernels: Kernels, num_nodes: Mapping[str, int]) -> NodeIndex:
        """Find the distinct nodes of each type."""
        groups = [g for g in inputs.groups if len(g.edges)]
        families = [f for f in inputs.families if len(f)]
        of_groups = [torch.empty_like(g.tuples) for g in groups]
        of_families = [torch.empty_like(f.nodes) for f in families]
        places: dict[str, list[tuple[int, int]]] = {}
        for g, group in enumerate(groups):
            for position, t in enumerate(group.types):
                places.setdefault(t, []).append((g, position))
        distinct = {}
        for t in dict.fromkeys([*places, *(t for f in families for t in f.types)]):
            where = places.get(t, [])
            columns = [groups[g].tuples[:, p] for g, p in where]
            members = [(m, _members_of(f, t)) for m, f in enumerate(families) if t in f.types]
            columns += [families[m].nodes[which] for m, which in members]
            distinct[t] = found = kernels.distinct(columns, num_nodes[t])
            for (g, p), inverse in zip(where, found.inverse, strict=False):
                of_groups[g][:, p] = inverse
            for (m, which), inverse in zip(members, found.inverse[len(where) :], strict=True):
                of_families[m][which] = inverse
        return cls(groups, families, distinct, of_groups, of_families)

    @property
    def num_tuples(self) -> int:
        """The number of tuples, negatives included."""
        return sum(len(g.tuples) for g in self.groups) + sum(len(f) for f in self.families)

    def leave_out(self, leave_one_out: LeaveOneOut) -> dict[str, ExtraRows]:
        """Return the rows that leave hyperedges out, and let their tuples refer to them."""
        stored = {t: len(d.nodes) for t, d in self.distinct.items()}
        extra = leave_one_out.rows(self.groups, self.of_groups, stored)
        first = {t: n + (len(extra[t]) if t in extra else 0) for t, n in stored.items()}
        more = leave_one_out.rows_of_families(self.families, self.of_families, first)
        for t, rows in more.items():
            extra[t] = joined([extra[t], *rows] if t in extra else rows)
        return extra


def _members_of(family: FamilyInputs, node_type: str) -> Tensor | slice:
    """Return which of a family's members have a node type."""
    return slice(None) if family.is_uniform else family.of_type(node_type)
