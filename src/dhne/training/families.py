"""Families of sets: hyperedges of every size in one batch.

An edge set has one size, a family many. Negatives are drawn and evidence is counted size by size:
once per epoch, once per part of a long epoch, or for several epochs of a small family at once. All
tuples are then concatenated in the family's shuffled order, so that a batch is a slice and a step's
cost depends only on its members, not on the number of sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from dhne.network.edges import EdgeType

from .leave_one_out import LeaveOneOut
from .replay import Replay
from .step_inputs import FamilyInputs, Positives, TupleInputs

Draw = Callable[[Positives], TupleInputs]


class Family:
    """The hyperedges of all sizes of one family.

    Parameters
    ----------
    forms : sequence of Positives
        One per size.
    per_edge : int
        k, the number of negatives per hyperedge.
    leave_one_out : LeaveOneOut, optional
    """

    def __init__(
        self, forms: Sequence[Positives], per_edge: int, leave_one_out: LeaveOneOut | None
    ) -> None:
        self.types: EdgeType = forms[0].types.family
        self.forms, self._k, self._leave_one_out = forms, per_edge, leave_one_out
        counts = torch.tensor([len(f) for f in forms])
        self._form = torch.arange(len(forms)).repeat_interleave(counts)
        self._row = torch.cat([torch.arange(int(n)) for n in counts])
        self._length = torch.tensor([len(f.types) for f in forms])[self._form]
        self.num_members = int(self._length.sum())
        self.kept: tuple[tuple[int, int], Layout] | None = (
            None  # the layout, with its (seed, block of epochs)
        )

    def __len__(self) -> int:
        return len(self._form)

    def shuffled(self, rng: np.random.Generator, replay: Replay | None = None) -> Tensor:
        """Return the indices of the hyperedges that an epoch visits, in random order."""
        if replay is None:
            return torch.from_numpy(rng.permutation(len(self)))
        chosen, begin = [], 0
        for form in self.forms:
            chosen.append(begin + replay.choose(form.types, len(form), rng))
            begin += len(form)
        return torch.from_numpy(rng.permutation(np.concatenate(chosen)))

    def lay_out(self, chosen: Tensor, draw: Draw) -> Layout:
        """Return these hyperedges and their negatives, concatenated.

        `draw` returns hyperedges of one size with their negatives.
        """
        form, row, length = self._form[chosen], self._row[chosen], self._length[chosen]
        layout = Layout(self.types, length, self._k)
        for number in torch.unique(form).tolist():
            where = (form == number).nonzero()[:, 0]
            edges = self.forms[number].take(row[where])
            columns = edges.nodes.new_empty(*edges.nodes.shape, 0)
            if self._leave_one_out is not None:
                columns = self._leave_one_out.columns(edges.nodes, edges.types)
            layout.put(where, draw(edges), columns)
        return layout


class Layout:
    """Hyperedges of many sizes with their negatives, concatenated."""

    def __init__(self, types: EdgeType, length: Tensor, per_edge: int) -> None:
        self._types, self._k, self._length = types, per_edge, length
        self._begins = _offsets(length)
        total = int(self._begins[-1])
        self._edges = torch.empty(total, dtype=torch.int64)
        self._slots = torch.empty(total, dtype=torch.int64)
        self._negatives = torch.empty(total * per_edge, dtype=torch.int64)
        self._is_kept = torch.empty(total * per_edge, dtype=torch.bool)
        self._valid = torch.empty(len(length), per_edge, dtype=torch.bool)
        self._columns = self._taken = self._of_edges = self._of_negatives = torch.empty(0)

    def put(self, where: Tensor, drawn: TupleInputs, columns: Tensor) -> None:
        """Fill in the hyperedges of one size."""
        m, n, k = *drawn.edges.shape, self._k
        if not len(self._taken):
            self._prepare(drawn, columns)
        members = self._begins[where][:, None] + torch.arange(n)
        self._edges[members] = drawn.edges
        self._slots[members] = torch.tensor(drawn.types.slots)
        self._taken[members], self._columns[members] = drawn.taken, columns
        members = (k * self._begins[where])[:, None] + torch.arange(k * n)
        self._negatives[members] = drawn.negatives.reshape(m, k * n)
        self._is_kept[members] = drawn.kept.reshape(m, k * n)
        self._valid[where] = drawn.valid.reshape(m, k)
        self._of_edges[where] = drawn.features[:m]
        self._of_negatives[where] = drawn.features[m:].reshape(m, k, -1)

    def _prepare(self, drawn: TupleInputs, columns: Tensor) -> None:
        width, features = columns.shape[2], drawn.features.shape[1]
        self._columns = torch.empty(len(self._edges), width, dtype=torch.int64)
        self._taken = drawn.taken.new_empty(len(self._edges), width)
        self._of_edges = drawn.features.new_empty(len(self._length), features)
        self._of_negatives = drawn.features.new_empty(len(self._length), self._k, features)

    def part(self, low: int, high: int) -> FamilyInputs:
        """Return the hyperedges from `low` to `high`, with their negatives."""
        k, length = self._k, self._length[low:high]
        first, last = int(self._begins[low]), int(self._begins[high])
        mine, drawn = slice(first, last), slice(k * first, k * last)
        # Member j of each negative corresponds to member j of its hyperedge.
        begins = _offsets(torch.cat([length, length.repeat_interleave(k)]))
        negative = torch.arange((high - low) * k).repeat_interleave(length.repeat_interleave(k))
        own = torch.arange(k * (last - first)) + (last - first)
        own = own - begins[high - low :][negative] + begins[negative // max(k, 1)]
        kept = self._is_kept[drawn]
        of_negatives = self._of_negatives[low:high]
        return FamilyInputs(
            self._types,
            torch.cat([self._edges[mine], self._negatives[drawn]]),
            torch.cat([self._slots[mine], self._slots[own + first]]),
            begins,
            torch.where(kept, own, -1),
            self._valid[low:high].reshape(-1),
            torch.cat([self._of_edges[low:high], of_negatives.flatten(0, 1)]),
            self._columns[mine],
            self._taken[mine],
        )


def _offsets(lengths: Tensor) -> Tensor:
    """Return the start of each, and the end of the last.

    Examples
    --------
    >>> _offsets(torch.tensor([2, 3])).tolist()
    [0, 2, 5]
    """
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
