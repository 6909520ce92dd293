"""The tuples of a batch on the training device: hyperedges, and the negatives drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from dhne.network.edges import EdgeType


@dataclass(frozen=True)
class Positives:
    """The hyperedges of one type, in the order of an epoch.

    Attributes
    ----------
    types : EdgeType
    nodes : int64[m, N]
    weights : float[m]
    counts : float[m, k]
        What evidence counts of each, without itself; without columns if there is none.
    taken : float[m, N, k]
        What leaves each out of its nodes' rows; without entries if nothing does.
    """

    types: EdgeType
    nodes: Tensor
    weights: Tensor
    counts: Tensor
    taken: Tensor

    def take(self, which: slice | Tensor) -> Positives:
        """Return some of them, or all in another order."""
        tensors = (t[which] for t in (self.nodes, self.weights, self.counts, self.taken))
        return Positives(self.types, *tensors)


@dataclass(frozen=True)
class Drawn:
    """One edge type's tuples of a batch: B hyperedges, then k negatives of each.

    Attributes
    ----------
    types : the edge type
    edges : int64[B, N]
    taken : float[B, N, …], what leaves each hyperedge out of its nodes' rows
    negatives : int64[B * k, N]
    valid : bool[B * k], which of them are
    features : float[B * (k + 1), …], their evidence, hyperedges first
    """

    types: EdgeType
    edges: Tensor
    taken: Tensor
    negatives: Tensor
    valid: Tensor
    features: Tensor

    TENSORS: ClassVar = ("edges", "taken", "negatives", "valid", "features")

    @property
    def tensors(self) -> list[Tensor]:
        """All but the edge type, as a step's inputs."""
        return [getattr(self, name) for name in self.TENSORS]

    def part(self, low: int, high: int) -> Drawn:
        """Return the hyperedges from `low` to `high`, with their negatives."""
        m = len(self.edges)
        k = len(self.negatives) // max(m, 1)
        edges, negatives = slice(low, high), slice(low * k, high * k)
        features = torch.cat([self.features[edges], self.features[m:][negatives]])
        return Drawn(
            self.types,
            self.edges[edges],
            self.taken[edges],
            self.negatives[negatives],
            self.valid[negatives],
            features,
        )

    @cached_property
    def kept(self) -> Tensor:
        """``bool[B * k, N]``: where a negative still holds its hyperedge's node."""
        return self.negatives == spread(self.edges, len(self.negatives))

    @cached_property
    def tuples(self) -> Tensor:
        """``int64[B * (k + 1), N]``: the hyperedges, then the negatives."""
        return torch.cat([self.edges, self.negatives])


def spread(of_edges: Tensor, num_negatives: int) -> Tensor:
    """Return for each negative what its hyperedge has."""
    k = num_negatives // max(len(of_edges), 1)
    return of_edges.repeat_interleave(k, dim=0, output_size=num_negatives)
