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

from dhne.errors import SaturatedNetworkError
from dhne.kernels import Kernels, RowSample, RowSelection
from dhne.model.batch import Batch, FamilyBatch, TupleBatch, TypeBatch, share_of
from dhne.model.evidence import PairEvidence
from dhne.model.row_encoding import RowEncoding
from dhne.network.digest import edges_digest
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import NegativeSampler

from .families import Family, Layout
from .leave_one_out import LeaveOneOut, joined
from .replay import Replay
from .step_inputs import FamilyInputs, Positives, StepInputs, TupleInputs, spread

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
    """

    batch_size: int
    alpha: Mapping[str, float]
    leave_one_out: bool = False
    row_sample: int = 0
    replay: Replay | None = None
    """The hyperedges that an epoch visits; all by default."""


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
        self.share = share
        self.network, self.kernels, self.sampler = network, kernels, sampler
        self.alpha, self.device, self.dtype = options.alpha, device, dtype
        self.rows, self.evidence, self.replay = rows, evidence, options.replay
        self.leave_one_out = None
        if options.leave_one_out:
            longest = max(e.length for e in network.edge_sets)
            one_shape = device.type != "cpu" or share is not None
            self.leave_one_out = LeaveOneOut(
                rows, longest, device=device, dtype=dtype, one_shape=one_shape
            )
        # On a GPU a hub's row costs little, and the host would have to wait for the device; workers
        # have a part of each row, so a sample would depend on the number of workers.
        samples = device.type == "cpu" and share is None
        self.row_sample = options.row_sample if samples else 0
        edges = {e.types: self.positives(e) for e in network.edge_sets if len(e)}
        self._families = self._gather_families(edges)
        self._edges = edges
        visited = [self._visited(e) for e in self._edges.values()]
        in_families = [sum(self._visited(e) for e in f.forms) for f in self._families]
        self.num_edges = sum(visited) + sum(in_families)
        most = max(1, -(-self.num_edges // options.batch_size))
        self._sizes = {r: -(-n // most) for r, n in zip(self._edges, visited, strict=True)}
        self._family_sizes = [-(-n // most) for n in in_families]
        # Sizes are rounded up, so the last few batches may have no hyperedge.
        sizes = [*self._sizes.values(), *self._family_sizes]
        counted = zip([*visited, *in_families], sizes, strict=True)
        self.num_batches = max(-(-n // max(size, 1)) for n, size in counted)
        self.sparse = {t: r.matrix(device=device, dtype=dtype) for t, r in rows.items()}

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
        k = self.sampler.per_positive
        return [Family(f, k, self.leave_one_out) for f in forms.values()]

    def _visited(self, edges: Positives) -> int:
        """Return how many of these hyperedges an epoch visits."""
        n = len(edges)
        return n if self.replay is None else self.replay.count(edges.types, n)

    def _shuffle(self, edges: Positives, rng: np.random.Generator) -> Positives:
        n = len(edges)
        replay = self.replay
        order = rng.permutation(n) if replay is None else replay.order(edges.types, n, rng)
        return edges.take(torch.from_numpy(order).to(edges.nodes.device))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the hyperedges, to check that a training resumes with the same ones."""
        return edges_digest(self.network)

    def positives(self, edges: EdgeSet) -> Positives:
        """Return hyperedges on the device, with everything that is the same in every epoch."""
        nodes = torch.from_numpy(edges.nodes.copy()).to(self.device)
        weights = torch.from_numpy(edges.weights.copy()).to(device=self.device, dtype=self.dtype)
        counts = weights.new_empty(len(nodes), 0)
        if self.evidence is not None:
            counts = self.evidence.counts_of_edges(nodes, weights, edges.types)
        taken = weights.new_empty(*nodes.shape, 0)
        if self.leave_one_out is not None:
            taken = self.leave_one_out.taken(edges)
        return Positives(edges.types, nodes, weights, counts, taken)

    def epoch(self, seed: int, epoch: int) -> Iterator[StepInputs]:
        """Yield the inputs of each step of one epoch.

        The same seed and epoch give the same batches. All batches of an epoch have the same shape,
        except the last of each edge type, so that a step can be recorded and replayed.
        """
        rng = np.random.default_rng([seed, epoch])
        shuffled = {r: self._shuffle(e, rng) for r, e in self._edges.items()}
        orders = [family.shuffled(rng, self.replay) for family in self._families]
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

    def _draw(
        self, edges: Positives, first: int, last: int, rng: np.random.Generator
    ) -> list[TupleInputs]:
        """Draw the negatives of several batches at once and yield them batch by batch."""
        m, size = len(edges), self._sizes[edges.types]
        cuts = [min(size * b, m) for b in range(first, last + 1)]
        both = self._with_drawn(edges.take(slice(cuts[0], cuts[-1])), rng, self._mine(cuts))
        return [both.part(low, high) for low, high in pairwise(cut - cuts[0] for cut in cuts)]

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
        members = family.num_members * (1 + self.sampler.per_positive)
        together = max(1, min(_EPOCHS, _SMALL // max(members, 1)))
        if together > 1:
            layout, start = self._several_epochs(family, together, *key)
            start *= len(order)
        else:
            layout = family.lay_out(order[cuts[0] : cuts[-1]], lambda e: self._with_drawn(e, rng))
            start = -cuts[0]
        return [layout.part(start + low, start + high) for low, high in pairwise(cuts)]

    def _several_epochs(
        self, family: Family, together: int, seed: int, epoch: int
    ) -> tuple[Layout, int]:
        """Return a family's hyperedges of several epochs, and this epoch's index among them."""
        block, within = divmod(epoch, together)
        if family.kept is None or family.kept[0] != (seed, block):
            rng = np.random.default_rng([seed, block, _FAMILY])
            order = torch.cat([family.shuffled(rng, self.replay) for _ in range(together)])
            layout = family.lay_out(order, lambda e: self._with_drawn(e, rng))
            family.kept = (seed, block), layout
        return family.kept[1], within

    def _mine(self, cuts: list[int]) -> Tensor | None:
        """Return which hyperedges are this worker's, given the batch boundaries; None for all."""
        if self.share is None or self.evidence is None:
            return None
        parts = []
        for low, high in pairwise(cut - cuts[0] for cut in cuts):
            first, end = share_of(high - low, *self.share)
            parts.append(torch.arange(low + first, low + end, device=self.device))
        return torch.cat(parts)

    def _with_drawn(
        self, edges: Positives, rng: np.random.Generator, mine: Tensor | None = None
    ) -> TupleInputs:
        """Return hyperedges with newly drawn negatives."""
        nodes = edges.nodes
        if self.device.type == "cpu":
            found = self.sampler.sample(nodes.numpy(), rng, edge_type=edges.types)
            drawn, valid = torch.from_numpy(found.nodes), torch.from_numpy(found.valid)
            if len(valid) and not bool(valid.any()):
                raise SaturatedNetworkError(
                    f"every corruption of the hyperedges of type {edges.types!r} is a hyperedge "
                    "too, so there are no negatives to learn from; leave that edge type out, or "
                    "try negative_scheme='all'"
                )
        else:
            source = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
            found = self.sampler.sample(nodes, source, edge_type=edges.types, wait=False)
            drawn, valid = found.nodes, found.valid
        return self.with_negatives(edges, drawn, valid, mine)

    def with_negatives(
        self, edges: Positives, negatives: Tensor, valid: Tensor, mine: Tensor | None = None
    ) -> TupleInputs:
        """Combine hyperedges with their negatives and evidence.

        If `mine` is given, evidence is counted only for those hyperedges and zero for others.
        """
        m, k = len(edges.nodes), len(negatives) // max(len(edges.nodes), 1)
        if mine is None:
            features = self._evidence_of(edges, negatives)
        else:
            rows = (mine[:, None] * k + torch.arange(k, device=self.device)).reshape(-1)
            some = self._evidence_of(edges.take(mine), negatives[rows])
            features = some.new_zeros(m + len(negatives), some.shape[1])
            features[mine], features[m + rows] = some[: len(mine)], some[len(mine) :]
        return TupleInputs(edges.types, edges.nodes, edges.taken, negatives, valid, features)

    def _evidence_of(self, edges: Positives, negatives: Tensor) -> Tensor:
        """Return the evidence of hyperedges and their negatives; no columns without evidence."""
        m = len(negatives)
        if self.evidence is None:
            return edges.weights.new_empty(len(edges.nodes) + m, 0)
        return self.evidence.features(
            torch.cat([edges.nodes, negatives]),
            edges.types,
            source=torch.cat([edges.nodes, spread(edges.nodes, m)]),
            left_out=torch.cat([edges.weights, spread(edges.weights, m)]),
            num_edges=len(edges.nodes),
            of_edges=edges.counts,
        )

    def assemble(self, inputs: StepInputs) -> Batch:
        """Index each type's distinct nodes and make the tuples refer to them."""
        drawn = [d for d in inputs.groups if len(d.edges)]
        families = [f for f in inputs.families if len(f)]
        total = sum(len(d.tuples) for d in drawn) + sum(len(f) for f in families)
        places: dict[str, list[tuple[int, int]]] = {}
        for g, d in enumerate(drawn):
            for position, t in enumerate(d.types):
                places.setdefault(t, []).append((g, position))
        index = [torch.empty_like(d.tuples) for d in drawn]
        members = [torch.empty_like(f.nodes) for f in families]
        found = {}
        for t in dict.fromkeys([*places, *(t for f in families for t in f.types)]):
            where = places.get(t, [])
            columns = [drawn[g].tuples[:, p] for g, p in where]
            mine = [(m, _members_of(f, t)) for m, f in enumerate(families) if t in f.types]
            columns += [families[m].nodes[which] for m, which in mine]
            found[t] = self.kernels.distinct(columns, self.network.num_nodes(t))
            for (g, p), inverse in zip(where, found[t].inverse, strict=False):
                index[g][:, p] = inverse
            for (m, which), inverse in zip(mine, found[t].inverse[len(where) :], strict=True):
                members[m][which] = inverse
        extra = {}
        if self.leave_one_out is not None:
            stored = {t: len(f.nodes) for t, f in found.items()}
            extra = self.leave_one_out.rows(drawn, index, stored)
            below = {t: n + (len(extra[t]) if t in extra else 0) for t, n in stored.items()}
            more = self.leave_one_out.rows_of_families(families, members, below)
            for t, rows in more.items():
                extra[t] = joined([extra[t], *rows] if t in extra else rows)
        types = {}
        for t, f in found.items():
            sample = self._sample(t, inputs.turn)
            selection = RowSelection(self.sparse[t], f.nodes, extra.get(t), sample)
            visits = f.visits.to(self.dtype) * (self.alpha[t] / total)
            types[t] = TypeBatch(self.kernels.prepare(selection), visits)
        groups = [
            TupleBatch(d.types, i, d.valid, len(d.edges), self._features(d))
            for d, i in zip(drawn, index, strict=True)
        ]
        sets = [
            FamilyBatch(f.types, i, f.slots, f.begins, f.valid, f.num_edges, self._features(f))
            for f, i in zip(families, members, strict=True)
        ]
        batch = Batch(types, groups, total, sets)
        return batch if self.share is None else batch.share(*self.share)

    def _features(self, drawn: TupleInputs | FamilyInputs) -> Tensor | None:
        return drawn.features if self.evidence is not None else None

    def _sample(self, node_type: str, turn: float | None) -> RowSample | None:
        """Return how to sample a type's long rows, or None if no row is long."""
        if turn is None or not 0 < self.row_sample < self.rows[node_type].longest:
            return None
        return RowSample(self.row_sample, turn)


def _members_of(family: FamilyInputs, node_type: str) -> Tensor | slice:
    """Return which of a family's members have a node type."""
    return slice(None) if family.is_uniform else family.of_type(node_type)
