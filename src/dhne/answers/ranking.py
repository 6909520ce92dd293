"""Exact top-k: the best completions of an open tuple, and the nearest rows of a matrix."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import OPEN


class CandidateScorer(Protocol):
    """What ranking asks of a method."""

    network_: HyperNetwork

    def score_candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return ``[m, n]``: the score of each tuple with every node of the type at `position`."""


def top_k(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Return the positions of the `k` largest scores, best first; the lower wins among equals.

    Examples
    --------
    >>> top_k(np.array([0.1, 0.9, 0.5, 0.9]), 3)
    array([1, 3, 2])
    """
    k = min(k, int(np.isfinite(scores).sum()))
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    chosen = np.flatnonzero(scores >= threshold)
    return chosen[np.lexsort((chosen, -scores[chosen]))][:k]


def nearest(
    matrix: npt.NDArray[np.float32], rows: npt.NDArray[np.int64], k: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
    """Return for each of `rows` the (ids, cosines) of the `k` other rows nearest to it."""
    _check_k(k)
    norms = np.maximum(np.linalg.norm(matrix, axis=1), 1e-12)
    found = []
    for row in rows.tolist():
        cosine = (matrix @ matrix[row]) / (norms * norms[row])
        cosine[row] = -np.inf
        best = top_k(cosine, k)
        found.append((best, cosine[best].astype(np.float64)))
    return found


def complete(
    embedder: CandidateScorer,
    nodes: NodeArray,
    edge_type: EdgeType,
    *,
    k: int,
    drop_known: bool,
    beam: int,
) -> tuple[list[Any], npt.NDArray[np.float64]]:
    """Return (names, scores) of the best completions of one tuple with open positions.

    One open position is ranked exactly over all candidates. Of two, the first is narrowed to the
    `beam` nodes whose best completion of a provisional tuple scores highest; each is then completed
    exactly at the second.
    """
    _check_k(k)
    is_open = np.flatnonzero(nodes == OPEN)
    network = embedder.network_
    if len(is_open) == 1:
        position = int(is_open[0])
        scores = embedder.score_candidates(nodes[None], edge_type, position)[0].copy()
        _mask(scores, embedder, nodes, edge_type, position, drop_known)
        best = top_k(scores, k)
        vocabulary = network.vocabulary(edge_type[position])
        return vocabulary.take(best).to_pylist(), scores[best]
    if len(is_open) != 2:
        raise ParameterError(
            f"rank completes one or two open positions, this tuple has {len(is_open)}"
        )
    return _complete_two(embedder, nodes, edge_type, is_open, k, drop_known, beam)


def _complete_two(
    embedder: CandidateScorer,
    nodes: NodeArray,
    edge_type: EdgeType,
    is_open: npt.NDArray[np.int64],
    k: int,
    drop_known: bool,
    beam: int,
) -> tuple[list[Any], npt.NDArray[np.float64]]:
    network = embedder.network_
    first, second = (int(p) for p in is_open)
    if network.num_nodes(edge_type[first]) > network.num_nodes(edge_type[second]):
        first, second = second, first  # try every node of the smaller type if the beam allows
    starts = _beam(embedder, nodes, edge_type, first, second, beam)
    same = second in edge_type.peers(first)
    tuples = np.repeat(nodes[None], len(starts), axis=0)
    tuples[:, first] = starts
    pairs, scores = [], []
    for row in tuples:
        line = embedder.score_candidates(row[None], edge_type, second)[0].copy()
        _mask(line, embedder, row, edge_type, second, drop_known)
        if same:  # of a set's two orders one is enough: a pair whose lower node was tried is there
            lower = starts[starts < row[first]]
            line[lower] = -np.inf
        best = top_k(line, k)
        pairs.append(np.stack([np.full(len(best), row[first]), best], axis=1))
        scores.append(line[best])
    if not pairs:  # every node that could begin is in the set already
        return [], np.empty(0)
    every, flat = np.concatenate(pairs), np.concatenate(scores)
    best = top_k(flat, k)
    at = {first: every[best, 0], second: every[best, 1]}
    columns = [network.vocabulary(edge_type[int(p)]).take(at[int(p)]).to_pylist() for p in is_open]
    return list(zip(*columns, strict=True)), flat[best]


def _beam(
    embedder: CandidateScorer,
    nodes: NodeArray,
    edge_type: EdgeType,
    first: int,
    second: int,
    beam: int,
) -> npt.NDArray[np.int64]:
    """Nodes for the first open position, by coordinate ascent from the second's busiest nodes."""
    n = embedder.network_.num_nodes(edge_type[first])
    taken = _members(nodes, edge_type, first)
    if n <= beam:
        return np.setdiff1d(np.arange(n, dtype=np.int64), taken)
    degrees = embedder.network_.degrees(edge_type[second])
    probes = top_k(degrees.astype(np.float64), min(beam, len(degrees)))
    best = np.full(n, -np.inf)
    for probe in probes.tolist():
        row = nodes.copy()
        row[second] = probe
        line = embedder.score_candidates(row[None], edge_type, first)[0].copy()
        line[_members(row, edge_type, first)] = -np.inf
        np.maximum(best, line, out=best)
    best[taken] = -np.inf
    return np.sort(top_k(best, beam))


def _members(nodes: NodeArray, edge_type: EdgeType, position: int) -> NodeArray:
    """Return the nodes that are in the set of `position` already, and so may not fill it."""
    return nodes[[p for p in edge_type.peers(position) if nodes[p] != OPEN]]


def _mask(
    scores: npt.NDArray[Any],
    embedder: CandidateScorer,
    nodes: NodeArray,
    edge_type: EdgeType,
    position: int,
    drop_known: bool,
) -> None:
    """Set to -inf what may not be an answer: known hyperedges, and a node twice in one set."""
    network = embedder.network_
    scores[_members(nodes, edge_type, position)] = -np.inf
    if drop_known and edge_type in network.edge_types:
        edges = network.edge_set(edge_type)
        found = completions(edges.nodes, nodes, edge_type, position)
        scores[found] = -np.inf


def completions(
    known: NodeArray, nodes: NodeArray, edge_type: EdgeType, position: int
) -> NodeArray:
    """Return the nodes at `position` that make `nodes` one of the `known` hyperedges."""
    hit = np.ones(len(known), dtype=bool)
    for group in edge_type.groups:
        if position not in group:
            hit &= (known[:, group] == np.sort(nodes[list(group)])).all(axis=1)
    # Sets are kept sorted: the query must be what is left of one when a member is taken out.
    peers = edge_type.peers(position)
    if not peers:
        fitting: NodeArray = known[hit, position]
        return fitting
    members, others = known[hit][:, sorted((position, *peers))], np.sort(nodes[list(peers)])
    found = [
        members[(np.delete(members, i, axis=1) == others).all(axis=1), i]
        for i in range(members.shape[1])
    ]
    distinct: NodeArray = np.unique(np.concatenate(found))
    return distinct


def _check_k(k: int) -> None:
    if k < 1:
        raise ParameterError(f"k must be at least 1, got {k}")
