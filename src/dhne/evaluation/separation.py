"""How well a fitted method separates hyperedges from negatives: AUC, precision, ROC, ranks.

Pairwise methods score a tuple by an aggregate (mean or minimum) of its pairs' similarities (inner
products or cosines). Every aggregate is reported (``auc_mean``, ``auc_min``), each with the better
similarity; ``auc`` is that of the better aggregate. Which is better is decided *on validation
data*, never on the test part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.answers.calibration import Reliability
from dhne.answers.judging import Judging
from dhne.embedder import Embedder
from dhne.errors import SaturatedNetworkError
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork

from .filtered_ranking import TUPLES_AT_ONCE, rank_edges
from .metrics import RocCurve, auc, average_precision, roc
from .protocols import EVALUATION_SEED, NEGATIVES, Split

Scores = npt.NDArray[np.float64]
Tuples = Mapping[EdgeType, NodeArray]
ReportProgress = Callable[[str, int, int], None]
RANKED = 2000
_SIMILARITY_TITLES = {"dot": "inner products", "cosine": "cosines", "sigmoid": "sigmoids"}
_TUPLES_AT_ONCE = 1 << 16  # scored


@dataclass(frozen=True)
class Options:
    """Options of an evaluation of hyperedges against negatives.

    Attributes
    ----------
    negatives : int
        Number per hyperedge.
    negative_scheme : {"paper", "one", "all", "degree", "matched"}
        How they are drawn; see `dhne.sampling.schemes`.
    evaluation_seed : int
        Seed for the negatives and for the choice of hyperedges to rank.
    ranked : int or None
        Number of hyperedges to rank, each against all candidates; None ranks all, 0 none.
    validation : float
        Share of train on which choices are made.
    roc : bool
        Whether to keep the curve.
    chunk : int
        Number of tuples scored at once in ranking.
    """

    negatives: int = NEGATIVES
    negative_scheme: str = "paper"
    evaluation_seed: int = EVALUATION_SEED
    ranked: int | None = RANKED
    validation: float = 0.1
    roc: bool = False
    chunk: int = TUPLES_AT_ONCE


@dataclass(frozen=True)
class Outcome:
    """Metrics of one fit, the curve if requested, and what was chosen or counted."""

    metrics: dict[str, float]
    curve: RocCurve | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def tuple_scores(model: Embedder, tuples: Tuples) -> Scores:
    """Return the scores of all tuples, in order."""
    parts = [
        model.score(nodes[start : start + _TUPLES_AT_ONCE], types)
        for types, nodes in tuples.items()
        for start in range(0, len(nodes), _TUPLES_AT_ONCE)
    ]
    if not parts:
        raise SaturatedNetworkError(
            "every tuple is a hyperedge, so there are no negatives to tell them from"
        )
    return np.concatenate(parts)


def hyperedges(network: HyperNetwork) -> dict[EdgeType, NodeArray]:
    """Return the hyperedges by edge type, without empty types."""
    return {e.types: e.nodes for e in network.edge_sets if len(e)}


def similarity_title(name: str) -> str:
    """Return what people call the values of a similarity.

    Examples
    --------
    >>> similarity_title("dot"), similarity_title("")
    ('inner products', 'scores')
    """
    return _SIMILARITY_TITLES.get(name, name or "scores")


@dataclass(frozen=True)
class Scoring:
    """How a method with aggregates scores tuples, chosen on validation data.

    Attributes
    ----------
    aggregate : str
        The better one.
    similarity : dict of aggregate to str
        The better one for each aggregate; empty where there is only one.
    validation_auc : dict
        Of each aggregate and similarity.
    """

    aggregate: str
    similarity: dict[str, str]
    validation_auc: dict[str, dict[str, float]]

    def applied(self, model: Embedder) -> dict[str, Embedder]:
        """Return the model for each aggregate, with the similarity chosen for it."""
        return {a: model.scored_by(a, s) for a, s in self.similarity.items()}


def choose_scoring(model: Embedder, split: Split, options: Options) -> Scoring:
    """Return the aggregate and the similarity with the largest AUC on `split`.

    A similarity set on the model is kept. The negatives use a different seed from those of the
    test.
    """
    negatives = _negatives(split, options, options.evaluation_seed + 1)
    edges = hyperedges(split.test)

    def judged(way: Embedder) -> float:
        return auc(tuple_scores(way, edges), tuple_scores(way, negatives))

    found = {
        name: {s: judged(model.scored_by(name, s)) for s in model.similarities()}
        for name in model.aggregates
    }
    best = {name: max(aucs, key=lambda s: aucs[s]) for name, aucs in found.items()}
    aggregate = max(found, key=lambda name: found[name][best[name]])
    return Scoring(aggregate, best, found)


def _negatives(split: Split, options: Options, seed: int) -> dict[EdgeType, NodeArray]:
    return split.negatives(per_edge=options.negatives, seed=seed, scheme=options.negative_scheme)


def separate(
    model: Embedder,
    split: Split,
    options: Options,
    *,
    chosen: Scoring | None = None,
    report: ReportProgress | None = None,
) -> Outcome:
    """Score the test hyperedges and their negatives, and rank the hyperedges.

    Parameters
    ----------
    model : Embedder
        Fitted on ``split.train``.
    split : Split
    options : Options
    chosen : Scoring, optional
        From `choose_scoring`; for methods with aggregates.
    report : callable, optional
        Called with (what, done, total) while ranking.
    """
    negatives = _negatives(split, options, options.evaluation_seed)
    edges = hyperedges(split.test)
    ways = {} if chosen is None else chosen.applied(model)
    scores = {a: (tuple_scores(m, edges), tuple_scores(m, negatives)) for a, m in ways.items()}
    if chosen is None:
        positive, negative = tuple_scores(model, edges), tuple_scores(model, negatives)
    else:
        model = ways[chosen.aggregate]
        positive, negative = scores[chosen.aggregate]
    metrics = {"auc": auc(positive, negative), "aupr": average_precision(positive, negative)}
    if isinstance(model, Judging):
        metrics["ece"] = _calibration_error(model, positive, negative)
    for name, both in scores.items():
        metrics |= {f"auc_{name}": auc(*both), f"aupr_{name}": average_precision(*both)}
    counts = {"positives": len(positive), "negatives": len(negative), "ranked": 0}
    if options.ranked != 0:
        ranking, counts["ranked"] = _ranked(model, split, options, report)
        metrics |= ranking
    curve = roc(positive, negative) if options.roc else None
    return Outcome(metrics, curve, {} if chosen is None else asdict(chosen), counts)


def _calibration_error(model: Judging, positive: Scores, negative: Scores) -> float:
    """Return the expected calibration error of the model's probabilities among these negatives."""
    per_edge = len(negative) / len(positive)
    both = (model.calibration_.of_scores(s, per_edge) for s in (positive, negative))
    return Reliability.of(*both).error


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
