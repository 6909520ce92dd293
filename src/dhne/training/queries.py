"""The completion queries of a training network: distinct contexts with all their known answers.

Hyperedges that differ only at one position ask the same question there. So for each position the
hyperedges are grouped by their other nodes, and each group is one query. In a network of few
relations that saves most of the work: drug has 137,404 hyperedges and 3,350 distinct queries
(user, drug, ?).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.model.meetings import ragged
from dhne.network.edge_keys import edge_keys
from dhne.network.edges import EdgeSet

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Queries:
    """The distinct queries at one position of an edge type.

    Attributes
    ----------
    position : int
    nodes : int64[q, N]
        The context of each query; the open position holds one of the answers.
    begins : int64[q + 1]
        Where the answers of each query begin.
    answers : int64[distinct answers]
    shares : float[distinct answers]
        The share of the query's hyperedges that have this answer.
    weights : float[q]
        The number of hyperedges of each query, relative to the average.
    """

    position: int
    nodes: Tensor
    begins: Tensor
    answers: Tensor
    shares: Tensor
    weights: Tensor

    @classmethod
    def of(cls, edges: EdgeSet, sizes: Ints, position: int, device: torch.device) -> Self:
        """Group hyperedges by their nodes at all positions but one."""
        others = [p for p in range(edges.length) if p != position]
        keys = edge_keys(edges.nodes[:, others], sizes[others])
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        n = max(int(sizes[position]), 1)
        both, count = np.unique(group * n + edges.nodes[:, position], return_counts=True)
        query, answer = np.divmod(both, n)
        begins = np.searchsorted(query, np.arange(len(first) + 1))
        weights = np.bincount(query, count)
        shares = count / weights[query]
        return cls(
            position,
            nodes=torch.from_numpy(np.ascontiguousarray(edges.nodes[first])).to(device),
            begins=torch.from_numpy(begins).to(device),
            answers=torch.from_numpy(answer).to(device),
            shares=torch.from_numpy(shares).to(device),
            weights=torch.from_numpy(weights / weights.mean()).to(device),
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def answers_of(self, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return (index in `which`, entry of `answers`) of all known answers of some queries."""
        return ragged(self.begins[which], self.begins[which + 1])


@dataclass(frozen=True, eq=False)
class Asked:
    """Some of the queries at one position, in one step."""

    queries: Queries
    which: Tensor

    def __len__(self) -> int:
        return len(self.which)

    @property
    def position(self) -> int:
        """The open position."""
        return self.queries.position

    @cached_property
    def nodes(self) -> Tensor:
        """``int64[m, N]``: their contexts."""
        return self.queries.nodes[self.which]

    @property
    def weights(self) -> Tensor:
        """``float[m]``: what each query counts in the mean over this step's queries."""
        return self.queries.weights[self.which] / max(len(self), 1)

    @cached_property
    def answers(self) -> tuple[Tensor, Tensor]:
        """(query, entry of ``queries.answers``) of all known answers."""
        return self.queries.answers_of(self.which)
