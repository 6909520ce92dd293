"""Batches of several workers: each has a part of the hyperedges, and all draw the same batches.

Hyperedge i belongs to the virtual shard i mod 64 (`dhne.training.columns`). All workers know the
order in which an epoch visits the hyperedges (`dhne.training.visiting_order`). Each fills in those
that it has, and zero for the others; the sum over workers is the next part of the epoch. Negatives
are then drawn by all in the same way, from the same random numbers; which of them are known
hyperedges is another sum (`dhne.sampling.known`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dhne.network.edges import EdgeSet
from dhne.workers import Group

from .batches import BatchMaker
from .columns import NUM_SHARDS, Shards
from .leave_one_out import LeaveOneOut
from .step_inputs import Positives
from .visiting_order import VisitingOrder

_CHUNK_EDGES = NUM_SHARDS << 12  # hyperedges whose left-out entries are exchanged at once


@dataclass(frozen=True)
class PositivesPart(Positives):
    """The hyperedges of one type that a worker has, of `total`.

    Attributes
    ----------
    group : Group
    shards : Shards
        Those of the hyperedges that this worker has.
    total : int
        The number of hyperedges of all workers.
    leave_one_out : LeaveOneOut, optional
    order : VisitingOrder, optional
        The order of an epoch, if `take` refers to it.
    """

    group: Group
    shards: Shards
    total: int
    leave_one_out: LeaveOneOut | None = None
    order: VisitingOrder | None = None

    def __len__(self) -> int:
        return self.total

    def take(self, which: slice | Tensor) -> Positives:
        """Return hyperedges of all workers, which all must ask for at the same time."""
        if isinstance(which, slice):
            assert self.order is not None
            ids = self.order[which]
        else:
            ids = which.cpu().numpy()
        # Computed on the host, so that only this worker's own ids go to the device.
        owned = np.flatnonzero(self.shards.owns(ids))
        local = torch.from_numpy(self.shards.local(ids[owned])).to(self.nodes.device)
        mine, rows = super().take(local), torch.from_numpy(owned).to(self.nodes.device)
        nodes = self._gather(mine.nodes, rows, len(ids))
        numbers = [mine.weights[:, None], mine.counts, mine.taken.flatten(1)]
        every = self._gather(torch.cat(numbers, 1), rows, len(ids))
        weights, counts, taken = torch.split(every, [x.shape[1] for x in numbers], dim=1)
        taken = taken.reshape(len(ids), *self.taken.shape[1:])
        if self.leave_one_out is not None:  # column 0 represents those of other workers
            taken = taken * (self.leave_one_out.columns(nodes, self.types) != 0)
        return Positives(self.types, nodes, weights[:, 0], counts, taken)

    def _gather(self, mine: Tensor, rows: Tensor, total: int) -> Tensor:
        every = mine.new_zeros(total, mine.shape[1])
        every[rows] = mine
        return self.group.sum_(every)


class DividedBatches(BatchMaker):
    """Makes the batches of each epoch as one worker of a group, which has a part of the hyperedges.

    Parameters
    ----------
    group : Group
    other arguments : as for `BatchMaker`, without `share`
    """

    def __init__(self, group: Group, *arguments: Any, **others: Any) -> None:
        self._group, self._shards = group, Shards(group.rank, group.size)
        super().__init__(*arguments, share=(group.rank, group.size), **others)

    def positives(self, edges: EdgeSet) -> Positives:
        """Return this worker's part of the hyperedges on the device."""
        select = self._shards.select
        mine = super().positives(EdgeSet(edges.types, select(edges.nodes), select(edges.weights)))
        leave_one_out = self.drawer.leave_one_out
        if leave_one_out is not None:
            mine = replace(mine, taken=self._taken(edges, leave_one_out))
        held = {f.name: getattr(mine, f.name) for f in fields(mine)}
        return PositivesPart(
            **held,
            group=self._group,
            shards=self._shards,
            total=len(edges),
            leave_one_out=leave_one_out,
        )

    def _taken(self, edges: EdgeSet, leave_one_out: LeaveOneOut) -> Tensor:
        """Return what leaves this worker's hyperedges out, in the columns of all workers."""
        parts = [leave_one_out.taken(EdgeSet(edges.types, edges.nodes[:0], edges.weights[:0]))]
        for low in range(0, len(edges), _CHUNK_EDGES):
            some = slice(low, low + _CHUNK_EDGES)
            chunk = EdgeSet(edges.types, edges.nodes[some], edges.weights[some])
            every = self._group.sum_(leave_one_out.taken(chunk))
            owned = np.flatnonzero(self._shards.owns(np.arange(len(chunk))))
            parts.append(every[torch.from_numpy(owned).to(every.device)])
        return torch.cat(parts)

    def _shuffle(self, edges: Positives, rng: np.random.Generator) -> Positives:
        assert isinstance(edges, PositivesPart)
        return replace(edges, order=VisitingOrder(len(edges), rng))
