"""Ranking one position over the best or the expected rest of the tuple.

"Which drug for this patient?" asks about two columns of a network that may have four. With f the
given nodes, c a candidate and r the nodes at the other positions,

    best:      score(c) = max_r S(f, c, r)
    expected:  score(c) = Σ_r P(r) S(f, c, r),   P(r) the share of hyperedges with this rest.

The best rest is exact if all rests can be tried with all candidates. Otherwise a *beam* of rests is
tried with every candidate: first those of known hyperedges with the given nodes, then the most
frequent ones. The rests of the best candidates are then improved, position by position and over all
nodes, until no change helps. Every score is that of a complete tuple, which is returned; so it is a
lower bound on the best, and `exact` says whether it is the best. The expectation runs over the
`beam` most frequent rests, and is exact if there are no others.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.network.edge_keys import distinct_rows
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import ANY

from .ranking import top_k

RESTS = ("best", "expected")
_ALL = 1 << 22  # up to so many tuples, all are scored
_TOGETHER = 8  # rests tried with all candidates in one pass
_SPARE = 16  # candidates beyond k whose rest is improved
_ROUNDS = 4  # times that each position of a rest may change

Floats = npt.NDArray[np.float64]


class Scored(Protocol):
    """What this needs from a method."""

    network_: HyperNetwork

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Floats:
        """Return a score for each tuple."""

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Floats:
        """Return the score of each tuple with every node at `position`."""


def rank_over_rest(
    method: Scored,
    types: EdgeType,
    nodes: NodeArray,
    position: int,
    *,
    k: int,
    drop_known: bool,
    beam: int,
    rest: str = "best",
) -> tuple[NodeArray, Floats, bool]:
    """Return (complete tuples ``int64[k, N]``, scores, whether they are exact), best first.

    ``nodes: int64[N]`` has `ANY` at positions that may hold any node. With `drop_known`, candidates
    that share a hyperedge with all the given nodes are left out.
    """
    if rest not in RESTS:
        raise ParameterError(f"rest must be 'best' or 'expected', got {rest!r}")
    if types.has_sets:
        raise ParameterError(f"name every position: {types.label} has sets of any size")
    free = [p for p, node in enumerate(nodes) if node == ANY]
    given = [p for p, node in enumerate(nodes) if node >= 0]
    rests, shares, exact = _rests(method.network_, types, nodes, free, given, position, beam, rest)
    scores, chosen = _over(method, types, nodes, position, free, rests, shares)
    if drop_known and given:
        known = method.network_.edge_set(types).nodes
        together = (known[:, given] == nodes[given]).all(axis=1)
        scores[known[together, position]] = -np.inf
    best = top_k(scores, k if exact or rest == "expected" else k + _SPARE)
    tuples = np.repeat(nodes[None], len(best), axis=0)
    tuples[:, position] = best
    tuples[:, free] = rests[chosen[best]]
    if rest == "expected":
        return tuples, scores[best], exact
    found = scores[best] if exact else _improve(method, types, tuples, free)
    order = np.lexsort((tuples[:, position], -found))[:k]
    return tuples[order], found[order], exact


def _rests(
    network: HyperNetwork,
    types: EdgeType,
    nodes: NodeArray,
    free: list[int],
    given: list[int],
    position: int,
    beam: int,
    rest: str,
) -> tuple[NodeArray, Floats | None, bool]:
    """Return (rests ``int64[r, free]``, their shares for averaging, whether these are all)."""
    sizes = [network.num_nodes(types[p]) for p in free]
    every = int(np.prod(np.array(sizes, dtype=object)))
    if rest == "best" and every * network.num_nodes(types[position]) <= _ALL:
        return np.array(list(product(*(range(n) for n in sizes))), dtype=np.int64), None, True
    edges = network.edge_set(types)
    seen = edges.nodes[:, free]
    first, number = distinct_rows(seen)
    counts = np.bincount(number, edges.weights, len(first))
    if rest == "expected":
        kept = top_k(counts, beam)
        return seen[first[kept]], counts[kept] / counts[kept].sum(), len(kept) == len(first)
    if given:  # rests of hyperedges with the given nodes come first
        near = (edges.nodes[:, given] == nodes[given]).any(axis=1)
        counts[number[near]] += counts.sum()
    return seen[first[top_k(counts, beam)]], None, False


def _over(
    method: Scored,
    types: EdgeType,
    nodes: NodeArray,
    position: int,
    free: list[int],
    rests: NodeArray,
    shares: Floats | None,
) -> tuple[Floats, NodeArray]:
    """Return (the score of each candidate over the rests, the index of its best rest)."""
    n = method.network_.num_nodes(types[position])
    total, highest = np.zeros(n), np.full(n, -np.inf)
    chosen = np.zeros(n, dtype=np.int64)
    for start in range(0, len(rests), _TOGETHER):
        part = rests[start : start + _TOGETHER]
        rows = np.repeat(nodes[None], len(part), axis=0)
        rows[:, position] = 0
        rows[:, free] = part
        scores = method.score_candidates(rows, types, position)
        for number, line in enumerate(scores, start=start):
            if shares is not None:
                total += shares[number] * line
            better = line > highest
            highest[better], chosen[better] = line[better], number
    return (highest if shares is None else total), chosen


def _improve(
    method: Scored, types: EdgeType, tuples: NodeArray, free: list[int]
) -> npt.NDArray[Any]:
    """Improve the rest of each tuple in place while its score rises; return the scores."""
    scores = method.score_ids(tuples, types)
    for _ in range(_ROUNDS):
        changed = False
        for p in free:
            for start in range(0, len(tuples), _TOGETHER):
                part = slice(start, start + _TOGETHER)
                best = method.score_candidates(tuples[part], types, p).argmax(axis=1)
                tried = tuples[part].copy()
                tried[:, p] = best
                found = method.score_ids(tried, types)
                better = found > scores[part]
                tuples[part][better], scores[part][better] = tried[better], found[better]
                changed |= bool(better.any())
        if not changed:
            break
    return scores
