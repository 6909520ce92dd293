"""Place evidence: what a pair's co-occurrence at other positions tells about it at these.

A *place pair* b = (r, i, p) is a pair of positions i and p of an edge type, distinguished by the
node r at its context position if it has one (the relation of a fact). With n_b(e, c) the number of
known hyperedges that have e and c at the place pair b, a node c at p next to a node e at i gets

    Σ_b W[a, b] g(n_b(e, c)),      g(0) = 0,  g(n) = 1 + log n,

where a = (r, i, p) is the place pair in question. W is learned, starts at zero, and is the same for
a pair read in either direction, so that a tuple has one sum over its pairs. It can learn rules such
as "brothers have the same father"; in a network without a context it weights pair counts.

In training a hyperedge must not be evidence for itself: for *every* known answer to the query, not
only the target, the hyperedge with that answer is left out. Otherwise only the right answer would
lack its own count, and the model would learn that being known counts against an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .candidate_evidence import Asked, Beside, CandidateEvidence
from .meetings import all_meetings, ragged, sort_meetings

Ints = npt.NDArray[np.int64]
LONGEST = 16  # positions; longer hyperedges have neither products nor place evidence
_FEW_PLACES = 128  # place pairs, up to which gradients have all rows of W
_MOST_PLACES = 2048  # place pairs with evidence, the most frequent ones: W has at most 16 MiB


class PlaceEvidence(nn.Module):
    """The counts n_b of a network, and the weights W.

    Parameters
    ----------
    network : HyperNetwork
    context : str or None
        The node type that distinguishes place pairs.
    """

    def __init__(self, network: HyperNetwork, context: str | None) -> None:
        super().__init__()
        self.context = context
        self._edge_types = {t: k for k, t in enumerate(network.edge_types)}
        self._length = max(len(t) for t in network.edge_types)
        self._contexts = max(network.num_nodes(context), 1) if context is not None else 1
        found, rows = all_meetings(network, self._codes)
        found = self._most_frequent(found, rows.values())
        size = len(self._edge_types) * self._contexts * self._length**2
        number = np.full(max(size, 1), -1, np.int64)
        number[found] = np.arange(len(found))
        self.num_places = len(found)
        self.weights = nn.Parameter(torch.zeros(self.num_places, self.num_places))  # W
        self._number = torch.from_numpy(number)
        self._turned = torch.from_numpy(number[self._turn(found)])
        self._meetings = {
            pair: sort_meetings(r, number, *map(network.num_nodes, pair))
            for pair, r in rows.items()
        }

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the counts with the weights; the counts are not parameters."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self._number, self._turned = fn(self._number), fn(self._turned)
        self._meetings = {pair: m.apply(fn) for pair, m in self._meetings.items()}
        return self

    def copy_weights(self, old: PlaceEvidence) -> None:
        """Copy W for the place pairs of a smaller network; context nodes keep their ids."""
        known = np.flatnonzero(old._number.cpu().numpy() >= 0)  # in the order of their indices
        rest, p = np.divmod(known, old._length)
        rest, i = np.divmod(rest, old._length)
        edge_type, context = np.divmod(rest, old._contexts)
        codes = np.full(len(known), -1, np.int64)
        for types, k in old._edge_types.items():
            if types in self._edge_types:
                code = (self._edge_types[types] * self._contexts + context) * self._length + i
                codes = np.where(edge_type == k, code * self._length + p, codes)
        numbers = np.where(codes >= 0, self._number.cpu().numpy()[codes], -1)
        there = torch.from_numpy(np.flatnonzero(numbers >= 0))
        place = torch.from_numpy(numbers[numbers >= 0])
        self.weights[place[:, None], place] = old.weights[there][:, there].to(self.weights)

    def context_position(self, edge_type: EdgeType) -> int | None:
        """Return the context's position in an edge type, if it occurs exactly once."""
        if self.context is None or edge_type.count(self.context) != 1:
            return None
        return edge_type.index(self.context)

    def _codes(self, edges: EdgeSet, i: int, p: int) -> Ints | None:
        """Return the codes of a pair of positions, not yet indexed; None if one is the context."""
        at = self.context_position(edges.types)
        if at in (i, p) or edges.length > LONGEST:
            return None
        context = np.zeros(len(edges), np.int64) if at is None else edges.nodes[:, at]
        place = (self._edge_types[edges.types] * self._contexts + context) * self._length + i
        return np.asarray(place * self._length + p, dtype=np.int64)

    def _turn(self, codes: Ints) -> Ints:
        """Return the codes of the same pairs, read in the other direction."""
        rest, p = np.divmod(codes, self._length)
        rest, i = np.divmod(rest, self._length)
        return np.asarray((rest * self._length + p) * self._length + i)

    def _most_frequent(self, codes: Ints, rows: Iterable[Ints]) -> Ints:
        """Return at most `_MOST_PLACES` codes in order; a pair is kept in both directions."""
        if len(codes) <= _MOST_PLACES:
            return codes
        every = np.concatenate([r[2] for r in rows])
        both, counts = np.unique(np.minimum(every, self._turn(every)), return_counts=True)
        both = both[np.argsort(-counts, kind="stable")][: _MOST_PLACES // 2]
        return np.unique(np.concatenate([both, self._turn(both)]))

    # -- additions to the logits ------------------------------------------------------------------

    def place_pairs(self, nodes: Tensor, edge_type: EdgeType, i: int, p: int) -> Tensor:
        """Return the index of the place pair (i, p) of each tuple; -1 if it was never seen."""
        at = self.context_position(edge_type)
        context = torch.zeros_like(nodes[:, 0]) if at is None else nodes[:, at]
        if edge_type not in self._edge_types or not self.num_places:
            return torch.full_like(context, -1)
        code = (self._edge_types[edge_type] * self._contexts + context) * self._length + i
        return self._number[code * self._length + p]

    def pairs(self, edge_type: EdgeType) -> list[tuple[int, int]]:
        """Return the pairs of positions that have evidence."""
        at = self.context_position(edge_type)
        return [(i, p) for i, p in combinations(range(len(edge_type)), 2) if at not in (i, p)]

    def of_tuples(self, nodes: Tensor, edge_type: EdgeType, left_out: int | None = None) -> Tensor:
        """Return the evidence of tuples ``int64[m, N]``, summed over pairs without `left_out`."""
        total = self.weights.new_zeros(len(nodes))
        for i, p in self.pairs(edge_type):
            if left_out in (i, p):
                continue
            met = self._meetings.get((edge_type[i], edge_type[p]))
            if met is None:
                continue
            asked = self.place_pairs(nodes, edge_type, i, p)
            key = nodes[:, i] * met.num_targets + nodes[:, p]
            first = torch.searchsorted(met.keys, key)
            last = torch.searchsorted(met.keys, key, right=True)
            last = torch.where(asked >= 0, last, first)
            rows, entries = ragged(first, last)
            w = self.weights[asked[rows], met.places[entries].long()]
            total = total.index_add(0, rows, w * met.values[entries])
        return total

    def beside(self, nodes: Tensor, edge_type: EdgeType, position: int) -> list[Beside]:
        """Return what the nodes at each fixed position say about an open one."""
        at, found = self.context_position(edge_type), []
        for i in range(len(edge_type)):
            met = self._meetings.get((edge_type[i], edge_type[position]))
            if met is not None and i not in (position, at) and position != at:
                asked = self.place_pairs(nodes, edge_type, i, position)
                turned = i > position
                lines = self._turned[asked] if turned and self.num_places else asked
                found.append(Beside(met, nodes[:, i], asked, lines, turned))
        return found

    def touched(self, beside: Sequence[Sequence[Beside]]) -> tuple[Tensor, list[list[Beside]]]:
        """Return the rows of W that several questions need, and the questions with these rows.

        The gradient then has these rows alone, unless W is small or on a GPU.
        """
        if self.num_places <= _FEW_PLACES or self.weights.device.type != "cpu":
            return self.weights, [list(b) for b in beside]
        needed = [b.lines[b.asked >= 0] for question in beside for b in question]
        lines = torch.unique(torch.cat(needed)) if needed else self._turned[:0]
        number = torch.zeros_like(self._turned)
        number[lines] = torch.arange(len(lines), device=lines.device)
        rows = functional.embedding(lines, self.weights, sparse=True)
        return rows, [[replace(b, lines=number[b.lines]) for b in question] for question in beside]

    def of_candidates(
        self,
        beside: Sequence[Beside],
        column: Tensor,
        shape: tuple[int, int],
        *,
        known: tuple[Tensor, Tensor] | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Return ``float[m, candidates]``: the evidence of each candidate of an open position.

        Parameters
        ----------
        beside : sequence of Beside
        column : int64[n]
            The column of each node of the position's type; those outside the shape are ignored.
        shape : (m, candidates)
        known : (rows, columns), optional
            The known answers of each query; each is scored without its own hyperedge.
        weights : optional
            The rows of W, from `touched`.
        """
        marks = None
        if known is not None:
            marks = torch.zeros(shape, dtype=torch.bool, device=column.device)
            marks[known] = True
        question = Asked(beside, column, *shape, self._turned, marks)
        evidence: Tensor = CandidateEvidence.apply(  # type: ignore[no-untyped-call]
            self.weights if weights is None else weights, question
        )
        return evidence
