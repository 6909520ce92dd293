"""What it says for a pair of nodes at two places that they met at two other places.

A *place pair* b = (r, i, p) is a pair of positions i and p of an edge type, told apart by the node
r at its context position if it has one (the relation of a fact). With n_b(e, c) the number of known
hyperedges that hold e and c at the place pair b, a node c at p beside a node e at i gets

    Σ_b W[a, b] g(n_b(e, c)),      g(0) = 0,  g(n) = 1 + log n,

a = (r, i, p) being the place pair that is asked about. W is learned, zero at first, and the same
for a pair read in either direction, so that a tuple has one sum over its pairs. It is how "brothers
have the same father" is learned; in a network without a context it weighs pair counts.

While a hyperedge is scored in training it must not speak for itself: for *every* known answer of
the question, not only the one that was asked for, the hyperedge with that answer is left out.
Otherwise the right answer alone would lack its own count, and "known" would speak against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Meetings:
    """Who met whom at which places: entries of nodes of one type with those of another.

    Sorted by source, target and place pair; `keys` is source · targets + target.
    """

    num_targets: int
    begins: Tensor  # int64[sources + 1]
    targets: Tensor  # int64[entries]
    places: Tensor  # int64[entries]
    counts: Tensor  # float[entries]
    keys: Tensor  # int64[entries]


class PlaceEvidence(nn.Module):
    """The counts n_b of a network, and the weights W.

    Parameters
    ----------
    network : HyperNetwork
    context : str or None
        The node type that tells places apart.
    """

    def __init__(self, network: HyperNetwork, context: str | None) -> None:
        super().__init__()
        self.context = context
        self._edge_types = {t: k for k, t in enumerate(network.edge_types)}
        self._length = max(len(t) for t in network.edge_types)
        self._contexts = max(network.num_nodes(context), 1) if context is not None else 1
        codes, parts = _all_meetings(network, self)
        found = np.unique(np.concatenate(codes)) if codes else np.empty(0, np.int64)
        size = len(self._edge_types) * self._contexts * self._length**2
        number = np.full(max(size, 1), -1, np.int64)
        number[found] = np.arange(len(found))
        self.num_places = len(found)
        self.weights = nn.Parameter(torch.zeros(max(self.num_places**2, 1)))  # W
        self._number = torch.from_numpy(number)
        self._turned = torch.from_numpy(number[self._turn(found)])
        self._meetings = {
            pair: _sort(np.concatenate(rows, axis=1), number, *map(network.num_nodes, pair))
            for pair, rows in parts.items()
        }

    def copy_weights(self, old: PlaceEvidence) -> None:
        """Copy W of the place pairs of a smaller network; context nodes keep their ids."""
        known = np.flatnonzero(old._number.cpu().numpy() >= 0)  # in the order of their numbers
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
        shared = old.weights[: old.num_places**2].reshape(old.num_places, -1)[there][:, there]
        at = place[:, None] * self.num_places + place
        self.weights[at.reshape(-1)] = shared.reshape(-1).to(self.weights)

    def to_device(self, device: torch.device) -> None:
        """Move the counts to a device; they are not parameters."""
        self._number, self._turned = self._number.to(device), self._turned.to(device)
        for pair, m in self._meetings.items():
            moved = (x.to(device) for x in (m.begins, m.targets, m.places, m.counts, m.keys))
            self._meetings[pair] = Meetings(m.num_targets, *moved)

    def context_position(self, edge_type: EdgeType) -> int | None:
        """Return where the context is in an edge type, if it is there once."""
        if self.context is None or edge_type.count(self.context) != 1:
            return None
        return edge_type.index(self.context)

    def code(self, edge_type: EdgeType, i: int, p: int, context: npt.ArrayLike) -> Ints:
        """Return the codes of place pairs, before they are numbered."""
        known = self._edge_types.get(edge_type)
        if known is None:
            return np.full(np.shape(context), -1)
        place = (known * self._contexts + np.asarray(context)) * self._length + i
        return np.asarray(place * self._length + p, dtype=np.int64)

    def _turn(self, codes: Ints) -> Ints:
        """Return the codes of the same pairs, read in the other direction."""
        rest, p = np.divmod(codes, self._length)
        rest, i = np.divmod(rest, self._length)
        return np.asarray((rest * self._length + p) * self._length + i)

    # -- what is added to logits -----------------------------------------------------------------

    def _asked(self, nodes: Tensor, edge_type: EdgeType, i: int, p: int) -> Tensor:
        """Return the number of the place pair (i, p) of each tuple; -1 where it was never seen."""
        at = self.context_position(edge_type)
        context = torch.zeros_like(nodes[:, 0]) if at is None else nodes[:, at]
        if edge_type not in self._edge_types or not self.num_places:
            return torch.full_like(context, -1)
        code = (self._edge_types[edge_type] * self._contexts + context) * self._length + i
        return self._number[code * self._length + p]

    def _weight(self, asked: Tensor, met: Tensor, turned: bool) -> Tensor:
        """Return W[a, b]; of a pair and its turned form one weight serves both."""
        if turned:
            asked, met = self._turned[asked], self._turned[met]
        return self.weights[asked * self.num_places + met]

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
            asked = self._asked(nodes, edge_type, i, p)
            key = nodes[:, i] * met.num_targets + nodes[:, p]
            first = torch.searchsorted(met.keys, key)
            last = torch.searchsorted(met.keys, key, right=True)
            last = torch.where(asked >= 0, last, first)
            rows, entries = ragged(first, last)
            w = self._weight(asked[rows], met.places[entries], turned=False)
            total = total.index_add(0, rows, w * self._damped(met.counts[entries]))
        return total

    def of_candidates(
        self,
        nodes: Tensor,
        edge_type: EdgeType,
        position: int,
        column: Tensor,
        num_columns: int,
        known: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Return ``float[m, columns]``: the evidence of each candidate of an open position.

        Parameters
        ----------
        column : int64[n]
            The column of each node of the position's type, -1 if it is no candidate.
        known : (rows, nodes), optional
            The known answers of each question, each to be scored without its own hyperedge.
        """
        out = self.weights.new_zeros(len(nodes) * num_columns)
        at = self.context_position(edge_type)
        for i in range(len(edge_type)):
            met = self._meetings.get((edge_type[i], edge_type[position]))
            if met is None or i in (position, at) or position == at:
                continue
            asked, turned = self._asked(nodes, edge_type, i, position), i > position
            source = nodes[:, i]
            first, last = met.begins[source], met.begins[source + 1]
            rows, entries = ragged(first, torch.where(asked >= 0, last, first))
            place = column[met.targets[entries]]
            rows, entries, place = (x[place >= 0] for x in (rows, entries, place))
            w = self._weight(asked[rows], met.places[entries], turned)
            out = out.index_add(
                0, rows * num_columns + place, w * self._damped(met.counts[entries])
            )
            if known is not None:
                rows, answers = known
                place = column[answers]
                fits = (asked[rows] >= 0) & (place >= 0)
                rows, answers, place = rows[fits], answers[fits], place[fits]
                counted = self._count(met, source[rows], answers, asked[rows])
                change = self._damped(counted - 1) - self._damped(counted)
                w = self._weight(asked[rows], asked[rows], turned)
                out = out.index_add(0, rows * num_columns + place, w * change)
        return out.reshape(len(nodes), num_columns)

    def _damped(self, counts: Tensor) -> Tensor:
        """Return g: 0 for 0, else 1 + log n."""
        n = counts.to(self.weights.dtype)
        return torch.where(n > 0, 1 + torch.log(n.clamp(min=1)), torch.zeros_like(n))

    def _count(self, met: Meetings, source: Tensor, target: Tensor, place: Tensor) -> Tensor:
        """Return n_b of pairs that are there, b being `place`."""
        key = source * met.num_targets + target
        whole = met.keys * self.num_places + met.places
        at = torch.searchsorted(whole, key * self.num_places + place)
        at = at.clamp(max=max(len(whole) - 1, 0))
        there = whole[at] == key * self.num_places + place
        return torch.where(there, met.counts[at], torch.ones_like(met.counts[at]))


def ragged(first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Return (row, entry) of all entries first[row] … last[row] − 1.

    Examples
    --------
    >>> rows, entries = ragged(torch.tensor([0, 5]), torch.tensor([2, 6]))
    >>> rows.tolist(), entries.tolist()
    ([0, 0, 1], [0, 1, 5])
    """
    count = last - first
    rows = torch.repeat_interleave(torch.arange(len(first), device=first.device), count)
    within = torch.arange(len(rows), device=first.device) - (torch.cumsum(count, 0) - count)[rows]
    return rows, first[rows] + within


def _all_meetings(
    network: HyperNetwork, evidence: PlaceEvidence
) -> tuple[list[Ints], dict[tuple[str, str], list[Ints]]]:
    """Return all codes of place pairs, and (source, target, code) rows for each pair of types."""
    codes: list[Ints] = []
    parts: dict[tuple[str, str], list[Ints]] = {}
    for edges in network.edge_sets:
        at = evidence.context_position(edges.types)
        context = np.zeros(len(edges), np.int64) if at is None else edges.nodes[:, at]
        for i, p in permutations(range(edges.length), 2):
            if at in (i, p) or not len(edges):
                continue
            code = evidence.code(edges.types, i, p, context)
            codes.append(code)
            rows = np.stack([edges.nodes[:, i], edges.nodes[:, p], code])
            parts.setdefault((edges.types[i], edges.types[p]), []).append(rows)
    return codes, parts


def _sort(rows: Ints, number: Ints, num_sources: int, num_targets: int) -> Meetings:
    source, target, code = rows
    place = number[code]
    order = np.lexsort((place, target, source))
    source, target, place = source[order], target[order], place[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(source) != 0) | (np.diff(target) != 0) | (np.diff(place) != 0)
    first = np.flatnonzero(new)
    counts = np.diff(np.append(first, len(order))).astype(np.float32)
    source, target, place = source[first], target[first], place[first]
    begins = np.searchsorted(source, np.arange(num_sources + 1))
    arrays = (begins, target, place, counts, source * num_targets + target)
    return Meetings(num_targets, *(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays))
