"""Batches: shuffled hyperedges with fresh negatives, each distinct node encoded once.

An epoch shuffles the hyperedges of every type and cuts each type into as many pieces as there are
batches, so that every batch has all types in proportion. On a CPU, sets of all sizes with the same
roles are shuffled and cut together (`dhne.training.families`). All randomness of an epoch comes
from the seed and the epoch's number, so that an interrupted training resumes exactly where it
stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dhne.kernels import Kernels, RowSample, RowSelection
from dhne.model.batch import Batch, FamilyBatch, TupleBatch, TypeBatch, share_of
from dhne.model.evidence import PairEvidence
from dhne.model.row_encoding import RowEncoding
from dhne.network.digest import edges_digest
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import NegativeSampler

from .drawing import TupleDrawer
from .families import Family, Layout
from .leave_one_out import LeaveOneOut
from .node_index import NodeIndex
from .replay import Replay
from .step_inputs import FamilyInputs, Positives, StepInputs, TupleInputs

_CHUNK_TUPLES = 1 << 21  # tuples drawn, and their evidence counted, at once
_SMALL, _EPOCHS = 1 << 15, 16  # members of a small family's tuples; epochs drawn at once
_FAMILY = 1  # separates the random numbers of families from those of an epoch


@dataclass(frozen=True)
class BatchOptions:
    """How batches are made.

    Attributes
    ----------
    batch_size : int
        Hyperedges per batch, not counting negatives.
    alpha : mapping of node type to float
        The weight of the second-order loss.
    leave_one_out : bool
        Whether to leave a hyperedge's own entries out of its nodes' rows when scoring it.
    row_sample : int
        Maximum number of non-zeros of a row in a step's gradient, 0 for all; see
        `RowSelection`.
    replay : Replay, optional
        The hyperedges that an epoch visits; all by default.
    """

    batch_size: int
    alpha: Mapping[str, float]
    leave_one_out: bool = False
    row_sample: int = 0
    replay: Replay | None = None


class BatchMaker:
    """Makes the batches of each epoch.

    Parameters
    ----------
    network : HyperNetwork
        The training network.
    rows : mapping of node type to RowEncoding
    kernels : Kernels
    sampler : NegativeSampler
    options : BatchOptions
    device, dtype
        Device and precision of the batches.
    evidence : PairEvidence, optional
    share : (rank, size)
        This worker's number, and the number of workers: all draw the same batches, and each takes
        its share of the tuples.
    """

    def __init__(
        self,
        network: HyperNetwork,
        rows: Mapping[str, RowEncoding],
        kernels: Kernels,
        sampler: NegativeSampler,
        options: BatchOptions,
        *,
        device: torch.device,
        dtype: torch.dtype,
        evidence: PairEvidence | None = None,
        share: tuple[int, int] | None = None,
    ) -> None:
        self.network, self.rows, self.kernels, self.share = network, rows, kernels, share
        self.alpha, self.device, self.dtype = options.alpha, device, dtype
        self._replay = options.replay
        leave_one_out = None
        if options.leave_one_out:
            longest = max(e.length for e in network.edge_sets)
            one_shape = device.type != "cpu" or share is not None
            leave_one_out = LeaveOneOut(
                rows, longest, device=device, dtype=dtype, one_shape=one_shape
            )
        self.drawer = TupleDrawer(sampler, evidence, leave_one_out, device=device, dtype=dtype)
        # On a GPU a hub's row costs little, and the host would have to wait for the device; workers
        # have a part of each row, so a sample would depend on the number of workers.
        samples = device.type == "cpu" and share is None
        self.row_sample = options.row_sample if samples else 0
        self._edges = {e.types: self._held(e) for e in network.edge_sets if len(e)}
        self._families = self._gather_families(self._edges)
        self._plan(options.batch_size)
        self._num_nodes = {t: network.num_nodes(t) for t in network.node_types}
        self.sparse = {t: r.matrix(device=device, dtype=dtype) for t, r in rows.items()}

    def _held(self, edges: EdgeSet) -> Positives:
        """Return the hyperedges of one type on the device."""
        return self.drawer.positives(edges)

    def _gather_families(self, edges: dict[EdgeType, Positives]) -> list[Family]:
        """Remove the sets from `edges` and return their families.

        On a GPU a step is recorded and replayed, and must have a fixed shape: there each size
        remains an edge type of its own.
        """
        if self.device.type != "cpu":
            return []
        forms: dict[Any, list[Positives]] = {}
        for types in [r for r in edges if r.has_sets]:
            forms.setdefault(types.key, []).append(edges.pop(types))
        k, leave_one_out = self.drawer.per_edge, self.drawer.leave_one_out
        return [Family(f, k, leave_one_out) for f in forms.values()]

    def _plan(self, batch_size: int) -> None:
        """Set the number of batches, and how many hyperedges of each type a batch has."""
        visited = [self._visited(e) for e in self._edges.values()]
        in_families = [sum(self._visited(e) for e in f.forms) for f in self._families]
        self.num_edges = sum(visited) + sum(in_families)
        most = max(1, -(-self.num_edges // batch_size))
        self._sizes = {r: -(-n // most) for r, n in zip(self._edges, visited, strict=True)}
        self._family_sizes = [-(-n // most) for n in in_families]
        # Sizes are rounded up, so the last few batches may have no hyperedge.
        sizes = [*self._sizes.values(), *self._family_sizes]
        counted = zip([*visited, *in_families], sizes, strict=True)
        self.num_batches = max(-(-n // max(size, 1)) for n, size in counted)

    def _visited(self, edges: Positives) -> int:
        """Return how many of these hyperedges an epoch visits."""
        n = len(edges)
        return n if self._replay is None else self._replay.count(edges.types, n)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the hyperedges, to check that a training resumes with the same ones."""
        return edges_digest(self.network)

    # -- an epoch --------------------------------------------------------------------------------

    def epoch(self, seed: int, epoch: int) -> Iterator[StepInputs]:
        """Yield the inputs of each step of one epoch.

        The same seed and epoch give the same batches. All batches of an epoch have the same shape,
        except the last of each edge type, so that a step can be recorded and replayed.
        """
        rng = np.random.default_rng([seed, epoch])
        shuffled = {r: self._shuffle(e, rng) for r, e in self._edges.items()}
        orders = [family.shuffled(rng, self._replay) for family in self._families]
        batches_at_once = max(1, _CHUNK_TUPLES * self.num_batches // (6 * self.num_edges))
        for first in range(0, self.num_batches, batches_at_once):
            last = min(first + batches_at_once, self.num_batches)
            pieces = [self._draw(e, first, last, rng) for e in shuffled.values()]
            laid_out = [
                self._draw_family(number, order, (seed, epoch), first, last, rng)
                for number, order in enumerate(orders)
            ]
            for batch in range(last - first):
                turn = rng.random() if self.device.type == "cpu" else None
                groups = tuple(piece[batch] for piece in pieces)
                yield StepInputs(groups, turn, tuple(family[batch] for family in laid_out))

    def _shuffle(self, edges: Positives, rng: np.random.Generator) -> Positives:
        n, replay = len(edges), self._replay
        order = rng.permutation(n) if replay is None else replay.order(edges.types, n, rng)
        return edges.take(torch.from_numpy(order).to(edges.nodes.device))

    def _draw(
        self, edges: Positives, first: int, last: int, rng: np.random.Generator
    ) -> list[TupleInputs]:
        """Draw the negatives of several batches at once and return them batch by batch."""
        m, size = len(edges), self._sizes[edges.types]
        cuts = [min(size * b, m) for b in range(first, last + 1)]
        both = self.drawer.draw(edges.take(slice(cuts[0], cuts[-1])), rng, self._mine(cuts))
        return [both.part(low, high) for low, high in pairwise(cut - cuts[0] for cut in cuts)]

    def _mine(self, cuts: list[int]) -> Tensor | None:
        """Return which hyperedges are this worker's, given the batch boundaries; None for all."""
        if self.share is None or self.drawer.evidence is None:
            return None
        parts = []
        for low, high in pairwise(cut - cuts[0] for cut in cuts):
            first, end = share_of(high - low, *self.share)
            parts.append(torch.arange(low + first, low + end, device=self.device))
        return torch.cat(parts)

    def _draw_family(
        self,
        number: int,
        order: Tensor,
        key: tuple[int, int],
        first: int,
        last: int,
        rng: np.random.Generator,
    ) -> list[FamilyInputs]:
        """Draw the negatives of several batches of a family at once.

        `key` is (seed, epoch). A small family's hyperedges are drawn for several epochs at once,
        always in the same blocks, so that a training can resume at any epoch.
        """
        family, size = self._families[number], self._family_sizes[number]
        cuts = [min(size * b, len(order)) for b in range(first, last + 1)]
        members = family.num_members * (1 + self.drawer.per_edge)
        together = max(1, min(_EPOCHS, _SMALL // max(members, 1)))
        if together > 1:
            layout, start = self._several_epochs(family, together, *key)
            start *= len(order)
        else:
            layout = family.lay_out(order[cuts[0] : cuts[-1]], lambda e: self.drawer.draw(e, rng))
            start = -cuts[0]
        return [layout.part(start + low, start + high) for low, high in pairwise(cuts)]

    def _several_epochs(
        self, family: Family, together: int, seed: int, epoch: int
    ) -> tuple[Layout, int]:
        """Return a family's hyperedges of several epochs, and this epoch's index among them."""
        block, within = divmod(epoch, together)
        if family.kept is None or family.kept[0] != (seed, block):
            rng = np.random.default_rng([seed, block, _FAMILY])
            order = torch.cat([family.shuffled(rng, self._replay) for _ in range(together)])
            layout = family.lay_out(order, lambda e: self.drawer.draw(e, rng))
            family.kept = (seed, block), layout
        return family.kept[1], within

    # -- a step ----------------------------------------------------------------------------------

    def assemble(self, inputs: StepInputs) -> Batch:
        """Index each type's distinct nodes and make the tuples refer to them."""
        index = NodeIndex.build(inputs, self.kernels, self._num_nodes)
        leave_one_out, total = self.drawer.leave_one_out, index.num_tuples
        extra = {} if leave_one_out is None else index.leave_out(leave_one_out)
        types = {}
        for t, found in index.distinct.items():
            sample = self._sample(t, inputs.turn)
            selection = RowSelection(self.sparse[t], found.nodes, extra.get(t), sample)
            visits = found.visits.to(self.dtype) * (self.alpha[t] / total)
            types[t] = TypeBatch(self.kernels.prepare(selection), visits)
        groups = [
            TupleBatch(g.types, i, g.valid, len(g.edges), self._features(g))
            for g, i in zip(index.groups, index.of_groups, strict=True)
        ]
        sets = [
            FamilyBatch(f.types, i, f.slots, f.begins, f.valid, f.num_edges, self._features(f))
            for f, i in zip(index.families, index.of_families, strict=True)
        ]
        batch = Batch(types, groups, total, sets)
        return batch if self.share is None else batch.share(*self.share)

    def _features(self, drawn: TupleInputs | FamilyInputs) -> Tensor | None:
        return drawn.features if self.drawer.evidence is not None else None

    def _sample(self, node_type: str, turn: float | None) -> RowSample | None:
        """Return how to sample a type's long rows, or None if no row is long."""
        if turn is None or not 0 < self.row_sample < self.rows[node_type].longest:
            return None
        return RowSample(self.row_sample, turn)
