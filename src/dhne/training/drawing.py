"""Tuples to train on: hyperedges on the device, fresh negatives, and the evidence of both."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dhne.errors import SaturatedNetworkError
from dhne.model.evidence import PairEvidence
from dhne.network.edges import EdgeSet
from dhne.sampling import NegativeSampler
from dhne.sampling.device_chunks import on_device

from .leave_one_out import LeaveOneOut
from .step_inputs import Positives, TupleInputs, spread


class TupleDrawer:
    """Draws the negatives of hyperedges and counts the evidence of both.

    Parameters
    ----------
    sampler : NegativeSampler
    evidence : PairEvidence, optional
    leave_one_out : LeaveOneOut, optional
    device, dtype
        Device and precision of the tuples.
    """

    def __init__(
        self,
        sampler: NegativeSampler,
        evidence: PairEvidence | None,
        leave_one_out: LeaveOneOut | None,
        *,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.evidence, self.per_edge = evidence, sampler.per_positive
        self.leave_one_out, self._sampler = leave_one_out, sampler
        self._device, self._dtype = device, dtype

    def positives(self, edges: EdgeSet) -> Positives:
        """Return hyperedges on the device, with everything that is the same in every epoch."""
        nodes, weights = on_device(edges, self._device, self._dtype)
        counts = weights.new_empty(len(nodes), 0)
        if self.evidence is not None:
            counts = self.evidence.counts_of_edges(nodes, weights, edges.types)
        taken = weights.new_empty(*nodes.shape, 0)
        if self.leave_one_out is not None:
            taken = self.leave_one_out.taken(edges)
        return Positives(edges.types, nodes, weights, counts, taken)

    def draw(
        self, edges: Positives, rng: np.random.Generator, mine: Tensor | None = None
    ) -> TupleInputs:
        """Return hyperedges with newly drawn negatives; see `with_negatives` for `mine`."""
        nodes = edges.nodes
        if self._device.type == "cpu":
            found = self._sampler.sample(nodes.numpy(), rng, edge_type=edges.types)
            drawn, valid = torch.from_numpy(found.nodes), torch.from_numpy(found.valid)
            if len(valid) and not bool(valid.any()):
                raise SaturatedNetworkError(
                    f"every corruption of the hyperedges of type {edges.types!r} is a hyperedge "
                    "too, so there are no negatives to learn from; leave that edge type out, or "
                    "try negative_scheme='all'"
                )
        else:
            source = torch.Generator(self._device).manual_seed(int(rng.integers(2**62)))
            found = self._sampler.sample(nodes, source, edge_type=edges.types, wait=False)
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
            rows = (mine[:, None] * k + torch.arange(k, device=self._device)).reshape(-1)
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
