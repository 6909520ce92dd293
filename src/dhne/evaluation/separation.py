"""How well a fitted method tells hyperedges from negatives: AUC, average precision, ROC, ranks.

Methods that know only pairs score a tuple by the mean or by the minimum of its pairs' similarities,
inner products or cosines. Mean and minimum are both reported (``auc_mean``, ``auc_min``), each with
the better of the two similarities; ``auc`` is that of the better of all four. Which is better is
*judged on validation data*, never on the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.baselines.pairwise import AGGREGATES, PairwiseEmbedder
from dhne.embedder import Embedder
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork

from .filtered_ranking import TUPLES_AT_ONCE, rank_edges
from .metrics import RocCurve, auc, average_precision, roc
from .protocols import EVALUATION_SEED, NEGATIVES, Split

Scores = npt.NDArray[np.float64]
Tuples = Mapping[EdgeType, NodeArray]
ReportProgress = Callable[[str, int, int], None]
RANKED = 2000
# the similarities of pairs that an evaluation chooses between, and what people call them
SIMILARITY_TITLES = {"dot": "inner products", "cosine": "cosines", "sigmoid": "sigmoids"}
CHOICES = ("dot", "cosine")
_TUPLES_AT_ONCE = 1 << 16  # scored


@dataclass(frozen=True)
class Options:
    """What an evaluation of hyperedges against negatives may vary.

    Attributes
    ----------
    negatives : int
        For each hyperedge.
    evaluation_seed : int
        Draws the negatives and which hyperedges are ranked.
    ranked : int or None
        How many hyperedges are ranked, each against all candidates; None ranks all, 0 none.
    validation : float
        The part of train that choices are judged on.
    roc : bool
        Whether the curve is kept.
    chunk : int
        How many tuples are scored at once in ranking.
    """

    negatives: int = NEGATIVES
    evaluation_seed: int = EVALUATION_SEED
    ranked: int | None = RANKED
    validation: float = 0.1
    roc: bool = False
    chunk: int = TUPLES_AT_ONCE


@dataclass(frozen=True)
class Outcome:
    """Metrics of one fit, the curve if it was asked for, and what was chosen or counted."""

    metrics: dict[str, float]
    curve: RocCurve | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def tuple_scores(model: Embedder, tuples: Tuples) -> dict[str, Scores]:
    """Return the scores of all tuples, by aggregate for a pairwise method, else under ``""``."""
    parts: dict[str, list[Scores]] = {}
    for types, nodes in tuples.items():
        for start in range(0, len(nodes), _TUPLES_AT_ONCE):
            rows = nodes[start : start + _TUPLES_AT_ONCE]
            if isinstance(model, PairwiseEmbedder):
                found = model.scores_by_aggregate(rows, types)
            else:
                found = {"": model.score(rows, types)}
            for name, scores in found.items():
                parts.setdefault(name, []).append(scores)
    return {name: np.concatenate(scores) for name, scores in parts.items()}


def hyperedges(network: HyperNetwork) -> dict[EdgeType, NodeArray]:
    """Return the hyperedges by edge type, types without any left out."""
    return {e.types: e.nodes for e in network.edge_sets if len(e)}


@dataclass(frozen=True)
class PairScoring:
    """How a pairwise method scores tuples, as judged on validation data.

    Attributes
    ----------
    aggregate : str
        The better one.
    similarity : dict of aggregate to str
        The better one for each aggregate.
    validation_auc : dict
        Of each aggregate and similarity.
    """

    aggregate: str
    similarity: dict[str, str]
    validation_auc: dict[str, dict[str, float]]

    def scores(self, model: PairwiseEmbedder, tuples: Tuples) -> dict[str, Scores]:
        """Return the scores by aggregate, each with its similarity; `model` keeps the better."""
        found: dict[str, Scores] = {}
        for similarity in set(self.similarity.values()):
            by_aggregate = tuple_scores(model.set_params(similarity=similarity), tuples)
            found |= {a: by_aggregate[a] for a, s in self.similarity.items() if s == similarity}
        model.set_params(aggregate=self.aggregate, similarity=self.similarity[self.aggregate])
        return found


def choose_scoring(model: PairwiseEmbedder, split: Split, options: Options) -> PairScoring:
    """Return which aggregate and which similarity of pairs have the largest AUC on `split`.

    A similarity that the model was given is kept. The negatives come from another seed than those
    of the test.
    """
    negatives = split.negatives(per_edge=options.negatives, seed=options.evaluation_seed + 1)
    given = model.similarity
    found: dict[str, dict[str, float]] = {name: {} for name in AGGREGATES}
    for similarity in CHOICES if given is None else (given,):
        model.set_params(similarity=similarity)
        positive = tuple_scores(model, hyperedges(split.test))
        negative = tuple_scores(model, negatives)
        for name in AGGREGATES:
            found[name][similarity] = auc(positive[name], negative[name])
    model.set_params(similarity=given)
    best = {name: max(aucs, key=lambda s: aucs[s]) for name, aucs in found.items()}
    aggregate = max(AGGREGATES, key=lambda name: found[name][best[name]])
    return PairScoring(aggregate, best, found)


def separate(
    model: Embedder,
    split: Split,
    options: Options,
    *,
    chosen: PairScoring | None = None,
    report: ReportProgress | None = None,
) -> Outcome:
    """Score the test hyperedges and their negatives and rank the former among all candidates.

    Parameters
    ----------
    model : Embedder
        Fitted on ``split.train``.
    split : Split
    options : Options
    chosen : PairScoring, optional
        From `choose_scoring`; needed for pairwise methods.
    report : callable, optional
        Called with (what, done, total) while ranking.
    """
    negatives = split.negatives(per_edge=options.negatives, seed=options.evaluation_seed)
    best = ""
    if isinstance(model, PairwiseEmbedder):
        assert chosen is not None
        positive = chosen.scores(model, hyperedges(split.test))
        negative = chosen.scores(model, negatives)
        best = chosen.aggregate
    else:
        positive = tuple_scores(model, hyperedges(split.test))
        negative = tuple_scores(model, negatives)
    metrics = {
        "auc": auc(positive[best], negative[best]),
        "aupr": average_precision(positive[best], negative[best]),
    }
    if best:
        for name in AGGREGATES:
            metrics[f"auc_{name}"] = auc(positive[name], negative[name])
            metrics[f"aupr_{name}"] = average_precision(positive[name], negative[name])
    counts = {"positives": len(positive[best]), "negatives": len(negative[best]), "ranked": 0}
    if options.ranked != 0:
        ranking, counts["ranked"] = _ranked(model, split, options, report)
        metrics |= ranking
    curve = roc(positive[best], negative[best]) if options.roc else None
    return Outcome(metrics, curve, {} if chosen is None else asdict(chosen), counts)


def _ranked(
    model: Embedder, split: Split, options: Options, report: ReportProgress | None
) -> tuple[dict[str, float], int]:
    progress = None if report is None else lambda done, total: report("ranking", done, total)
    return rank_edges(
        model,
        split.test,
        split.known,
        limit=options.ranked,
        seed=options.evaluation_seed,
        chunk=options.chunk,
        progress=progress,
    )
