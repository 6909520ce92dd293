"""Exact filtered ranks: the rank of the true node among all candidates of a position.

AUC against random negatives says little about the top of a list. So for each test hyperedge and
each of its positions, every node of the position's type is put there and scored. Candidates that
make *another* known hyperedge (train ∪ test) are not mistakes and are excluded ("filtered"). Ties
count half: the mean of the best and the worst rank that the scores allow is

    rank = 1 + #{candidates with a higher score} + #{others with the same score} / 2,

so a method that gives every tuple the same score gets the middle rank, not the first. From the
ranks come MRR = mean(1 / rank), Hits@k = mean(rank ≤ k) and the mean rank.

Tuples are scored in chunks of bounded size, so memory does not grow with the test set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.answers.known_completions import KnownCompletions
from dhne.embedder import Embedder
from dhne.errors import ParameterError
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork

HITS = (1, 3, 10)
TUPLES_AT_ONCE = 1 << 20  # scored; their scores are 8 MB
Ranks = npt.NDArray[np.float64]
ReportDone = Callable[[int], None]


def filtered_ranks(
    embedder: Embedder,
    queries: NodeArray,
    known: KnownCompletions,
    *,
    chunk: int = TUPLES_AT_ONCE,
    progress: ReportDone | None = None,
) -> Ranks:
    """Return the filtered rank of each query's own node at the open position of `known`.

    Parameters
    ----------
    embedder : Embedder
        Fitted.
    queries : int64[m, N]
        Complete hyperedges.
    known : KnownCompletions
    chunk : int
        Maximum number of tuples scored at once.
    progress : callable, optional
        Called with the number of queries finished since the last call.

    Returns
    -------
    float64[m]
    """
    keys = known.contexts(queries)
    order = known.together(queries)
    ranks = np.empty(len(queries), dtype=np.float64)
    step = max(1, chunk // int(known.sizes[known.position]))
    for start in range(0, len(queries), step):
        rows = order[start : start + step]
        _, first, same = np.unique(keys[rows], return_index=True, return_inverse=True)
        distinct = queries[rows[first]]
        scores = embedder.score_candidates(distinct, known.types, known.position)
        if np.isnan(scores).any():
            raise ParameterError(
                "the method gives scores that are not numbers; it did not converge"
            )
        ranks[rows] = _ranks(scores, same.reshape(-1), queries[rows], keys[rows], known)
        if progress is not None:
            progress(len(rows))
    return ranks


def _ranks(
    scores: npt.NDArray[np.floating[Any]],
    same: npt.NDArray[np.int64],
    queries: NodeArray,
    keys: npt.NDArray[np.int64],
    known: KnownCompletions,
) -> Ranks:
    """Return the ranks of the queries' own nodes; row ``same[i]`` of `scores` is for query i."""
    line, truth = np.arange(len(queries)), queries[:, known.position]
    rival = np.ones((len(queries), scores.shape[1]), dtype=bool)
    rival[known.of(keys)] = False
    rival[line, truth] = False
    for peer in known.types.peers(known.position):  # a node can be in a set only once
        rival[line, queries[:, peer]] = False
    own = scores[same, truth][:, None]
    spread = scores[same]
    higher = np.count_nonzero((spread > own) & rival, axis=1)
    equal = np.count_nonzero((spread == own) & rival, axis=1)
    ranks: Ranks = 1.0 + higher + equal / 2.0
    return ranks


def ranking_metrics(ranks: Ranks) -> dict[str, float]:
    """Return MRR, Hits@1, 3 and 10 and the mean rank.

    Examples
    --------
    >>> ranking_metrics(np.array([1.0, 4.0]))
    {'mrr': 0.625, 'hits@1': 0.5, 'hits@3': 0.5, 'hits@10': 1.0, 'mean_rank': 2.5}
    """
    found = {"mrr": float((1.0 / ranks).mean())}
    found |= {f"hits@{k}": float((ranks <= k).mean()) for k in HITS}
    return found | {"mean_rank": float(ranks.mean())}


def rank_edges(
    embedder: Embedder,
    test: HyperNetwork,
    known: HyperNetwork,
    *,
    positions: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
    chunk: int = TUPLES_AT_ONCE,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, float], int]:
    """Return (metrics over all positions and per position, number of hyperedges ranked).

    Parameters
    ----------
    embedder : Embedder
        Fitted on a network with the nodes of `test`.
    test : HyperNetwork
        The hyperedges to rank.
    known : HyperNetwork
        All hyperedges known to be true, including those of `test`; used for filtering.
    positions : node types, optional
        Rank only at positions of these types; by default at all.
    limit : int, optional
        Maximum number of hyperedges to rank, drawn with `seed`; each against all candidates.
    chunk : int
        Maximum number of tuples scored at once; bounds the memory.
    progress : callable, optional
        Called with (queries done, total).

    Returns
    -------
    metrics : dict
        ``mrr``, ``hits@1``, … over all positions; ``mrr/movie`` for the position of movies.
    int
    """
    chosen = _draw(test, limit, seed)
    ranks: dict[str, list[Ranks]] = {}
    asked = {types: _asked(types, positions) for types in chosen}
    total = sum(len(rows) * len(asked[types]) for types, rows in chosen.items())
    if not total:
        raise ParameterError("there is no test hyperedge with a position to rank")
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        if progress is not None:
            progress(done, total)

    for types, queries in chosen.items():
        sizes = known.position_sizes(types)
        for position in asked[types]:
            index = KnownCompletions.build(known.edge_set(types), sizes, position)
            label = position_label(known, types, position)
            found = filtered_ranks(embedder, queries, index, chunk=chunk, progress=advance)
            ranks.setdefault(label, []).append(found)
    every = np.concatenate([r for group in ranks.values() for r in group])
    metrics = ranking_metrics(every)
    for label, group in ranks.items():
        own = ranking_metrics(np.concatenate(group))
        metrics |= {f"{name}/{label}": value for name, value in own.items()}
    return metrics, sum(len(rows) for rows in chosen.values())


def _asked(types: EdgeType, positions: Collection[str]) -> list[int]:
    return [p for p, t in enumerate(types) if not positions or t in positions]


def _draw(test: HyperNetwork, limit: int | None, seed: int) -> dict[EdgeType, NodeArray]:
    """Return the hyperedges to rank: all, or `limit` over all types, drawn without repetition."""
    edge_sets = [e for e in test.edge_sets if len(e)]
    total = sum(len(e) for e in edge_sets)
    if limit is None or limit >= total:
        return {e.types: e.nodes for e in edge_sets}
    kept = np.sort(np.random.default_rng(seed).choice(total, limit, replace=False))
    drawn, start = {}, 0
    for e in edge_sets:
        mine = kept[(kept >= start) & (kept < start + len(e))] - start
        start += len(e)
        if len(mine):
            drawn[e.types] = e.nodes[mine]
    return drawn


def position_label(network: HyperNetwork, types: EdgeType, position: int) -> str:
    """Return the name of a position: its node type, numbered if ordered positions share it.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("a", "is", "b")], ("word", "relation", "word"))
    >>> [position_label(net, net.edge_types[0], p) for p in range(3)]
    ['word[1]', 'relation', 'word[2]']
    """
    peers = types.positions_of(types[position])
    if len(peers) == 1 or types.many[position]:
        return types[position]
    return f"{types[position]}[{peers.index(position) + 1}]"
