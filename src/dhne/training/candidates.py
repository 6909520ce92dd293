"""The candidates of a step: the nodes against which its queries' answers are ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from dhne.kernels.products import Rows
from dhne.model.products import Products
from dhne.network.edges import EdgeType

from .queries import Asked, Queries
from .random_numbers import Random

_ANSWERS = 16  # about so many known answers of a query are made candidates


@dataclass(frozen=True)
class Candidates:
    """The nodes of one type in a step: candidates first, then other nodes of its queries.

    Attributes
    ----------
    vectors : float[nodes, dim]
    place : int64[n]
        The row of each node of the type in `vectors`; -1 if it has none.
    size : int
        The number of candidates.
    log_chance : float[candidates], optional
        log π; None if all nodes are candidates.
    chosen : mapping of position to bool[answers]
        Which known answers of the queries were made candidates on purpose.
    """

    vectors: Tensor
    place: Tensor
    size: int
    log_chance: Tensor | None = None
    chosen: Mapping[int, Tensor] = field(default_factory=dict)

    def rows(self, nodes: Tensor) -> Rows:
        """Return the rows of nodes in `vectors`."""
        return Rows(self.vectors, self.place[nodes])

    def answers(self, asked: Asked) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return (query, entry, column, made a candidate on purpose) of known answers.

        Answers that are not among the candidates are left out.
        """
        query, entry = asked.answers
        column = self.place[asked.queries.answers[entry]]
        if self.log_chance is None:
            return query, entry, column, torch.ones_like(column, dtype=torch.bool)
        kept = (column >= 0) & (column < self.size)
        return query[kept], entry[kept], column[kept], self.chosen[asked.position][kept]


class CandidateSampler:
    """Draws the candidates of each step.

    Parameters
    ----------
    products : Products
    queries : mapping of edge type to its queries by position
    number : int
        Uniform candidates per step; 0 uses all nodes.
    """

    def __init__(
        self, products: Products, queries: Mapping[EdgeType, Sequence[Queries]], number: int
    ) -> None:
        self._products, self._number = products, number
        self._chances = {
            (types, q.position): _chance(q, products.sizes[types[q.position]])
            for types, every in queries.items()
            for q in every
        }

    def draw(
        self, node_type: str, types: EdgeType, asked: Sequence[Asked], random: Random
    ) -> Candidates:
        """Draw the candidates of a step; all nodes of the type unless there are many more."""
        x, s = self._products.vectors_of(node_type), self._number
        n, device = len(x), x.device
        here = [a for a in asked if types[a.position] == node_type]
        m = sum(len(a) for a in here)
        if not s or node_type == self._products.context or n <= 2 * (s + m):
            return Candidates(x, torch.arange(n, device=device), n)
        drawn, chosen = [random.integers(n, s)], {}
        missed = torch.full((n,), (1 - 1 / n) ** s, dtype=torch.float64, device=device)
        for a in here:
            _, entry = a.answers
            is_chosen = random.uniform(len(entry)) < a.queries.shares[entry] * _ANSWERS
            chosen[a.position] = is_chosen
            drawn.append(a.queries.answers[entry[is_chosen]])
            missed *= (1 - self._chances[types, a.position]) ** len(a)
        ids = torch.unique(torch.cat(drawn))
        place = torch.full((n,), -1, dtype=torch.int64, device=device)
        place[ids] = torch.arange(len(ids), device=device)
        fixed = torch.unique(torch.cat([ids[:0], *_fixed(node_type, types, asked)]))
        more = fixed[place[fixed] < 0]
        place[more] = torch.arange(len(ids), len(ids) + len(more), device=device)
        vectors = functional.embedding(torch.cat([ids, more]), x, sparse=True)
        log_chance = torch.log1p(-missed[ids]).to(x.dtype)
        return Candidates(vectors, place, len(ids), log_chance, chosen)


def _fixed(node_type: str, types: EdgeType, asked: Sequence[Asked]) -> list[Tensor]:
    """Return the nodes of a type at the fixed positions of queries."""
    return [
        a.nodes[:, p]
        for a in asked
        for p, t in enumerate(types)
        if t == node_type and p != a.position
    ]


def _chance(queries: Queries, size: int) -> Tensor:
    """Return the probability that a random query makes each node a candidate."""
    chance = (queries.shares * _ANSWERS).clamp(max=1) / max(len(queries), 1)
    total = torch.zeros(size, dtype=torch.float64, device=chance.device)
    return total.index_add_(0, queries.answers, chance).clamp_(max=1)
