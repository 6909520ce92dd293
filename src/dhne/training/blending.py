"""The weights of the tuplewise similarity and the products, chosen on held-out hyperedges.

The logit of a tuple is

    ω h + γ ρ / s,

with h the logit of the similarity, ρ that of the products, and s the standard deviation of ρ over
held-out hyperedges and their negatives. Ranking determines ρ only up to a constant per query, so
the products' mean per edge type is subtracted first (`HeldOutTuples.product_means`); otherwise
tuples of different types could not be compared. (ω, γ) is chosen from a short list to maximise the
relative gain in the filtered mean reciprocal rank of held-out hyperedges, over all positions, minus
twelve times the loss in AUC against negatives. Products are used only if they gain more than twice
the standard error of the gain. So a network whose rows do not distinguish nodes is ranked by
products alone, and one that products do not help keeps the similarity unchanged.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from dhne.model.blend import Blend
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

from .held_out_questions import Questions, held_out_questions

Floats = npt.NDArray[np.float64]

CHOICES = (  # (ω, γ)
    *((1.0, 0.0), (1.0, 0.25), (1.0, 0.5), (1.0, 1.0), (1.0, 1.4), (1.0, 2.0), (1.0, 2.8)),
    *((1.0, 4.0), (1.0, 5.6), (1.0, 8.0), (1.0, 11.0), (0.0, 1.0)),
)
_COST_OF_AUC = 12.0  # a thousandth of the AUC is worth 1.2% of the MRR
_HYPEREDGES = 1000  # maximum number of held-out hyperedges to rank
_CANDIDATES = 1 << 24  # maximum number of candidates over all of them
_CANDIDATES_AT_ONCE = 1 << 20


class BothLogits(Protocol):
    """Provides the logits of a similarity and of products, as `TupleScorer` does."""

    def similarity_logits(self, nodes: NodeArray, edge_type: EdgeType) -> Floats:
        """Return h of tuples."""

    def product_logits(self, nodes: NodeArray, edge_type: EdgeType) -> Floats:
        """Return ρ of tuples."""

    def similarity_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Floats:
        """Return h ``[m, n]`` of tuples with every node at a position."""

    def product_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Floats:
        """Return ρ ``[m, n]`` of tuples with every node at a position."""


class HeldOutTuples:
    """Held-out hyperedges, with negatives and all competing nodes at every position."""

    def __init__(self, train: HyperNetwork, held_out: HyperNetwork, *, seed: int) -> None:
        known = KnownEdges(train, held_out)
        self.against: list[tuple[EdgeType, NodeArray, npt.NDArray[np.bool_]]] = []
        rivals = 0.0
        for edges in held_out.edge_sets:
            if not len(edges):
                continue
            drawn = evaluation_negatives(edges, known, seed=seed, allow_fewer=True)
            nodes = np.concatenate([edges.nodes, drawn.nodes[drawn.valid]])
            self.against.append((edges.types, nodes, np.arange(len(nodes)) < len(edges)))
            rivals += len(edges) * float(train.position_sizes(edges.types).sum())
        total = max(held_out.num_edges(), 1)
        limit = min(_HYPEREDGES, int(_CANDIDATES * total / max(rivals, 1.0)) + 1)
        self.questions = held_out_questions(train, held_out, limit=limit, seed=seed)

    def product_means(self, logits: BothLogits) -> dict[EdgeType, float]:
        """Return the mean of ρ per edge type, over hyperedges and negatives."""
        return {r: float(logits.product_logits(n, r).mean()) for r, n, _ in self.against}

    def choose(self, logits: BothLogits) -> Blend:
        """Return the blend with the best validation results."""
        h = np.concatenate([logits.similarity_logits(n, r) for r, n, _ in self.against])
        rho = np.concatenate([logits.product_logits(n, r) for r, n, _ in self.against])
        is_edge = np.concatenate([is_edge for _, _, is_edge in self.against])
        spread = float(rho.std()) or 1.0
        blends = [Blend(w, g / spread) for w, g in CHOICES]
        ranks = [_reciprocal_ranks(logits, q, blends) for q in self.questions]
        if not ranks:
            return Blend()
        found = np.concatenate(ranks, axis=1)
        cost = np.array([_auc(is_edge, h) - _auc(is_edge, b(h, rho)) for b in blends])
        gains = (found - found[:1]) / found[0].mean()
        gains -= _COST_OF_AUC * np.maximum(cost, 0)[:, None]
        means = gains.mean(axis=1)
        # Of equal blends the last: without the similarity answers are faster.
        best = int(np.flatnonzero(means == means.max())[-1])
        if gains[best].mean() <= 2 * _standard_error(gains[best]):
            return Blend()
        return blends[best]


def _reciprocal_ranks(logits: BothLogits, q: Questions, blends: list[Blend]) -> Floats:
    """Return ``[blends, m]``: the filtered reciprocal ranks of the right nodes."""
    found, step = [], max(1, _CANDIDATES_AT_ONCE // max(q.num_candidates, 1))
    for low in range(0, len(q.nodes), step):
        part = q.nodes[low : low + step]
        h = logits.similarity_candidates(part, q.types, q.position)
        rho = logits.product_candidates(part, q.types, q.position)
        here = (q.rows >= low) & (q.rows < low + step)
        away = q.rows[here] - low, q.answers[here]
        line = np.arange(len(part)), q.own[low : low + step]
        ranks = []
        for blend in blends:
            scores = blend(h, rho)
            own = scores[line][:, None]
            scores[away], scores[line] = -np.inf, -np.inf
            ranks.append(1 + (scores > own).sum(1) + (scores == own).sum(1) / 2)
        found.append(1 / np.array(ranks))
    return np.concatenate(found, axis=1)


def _auc(is_edge: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Return the AUC; 1/2 if there is only one class."""
    if is_edge.all() or not is_edge.any():
        return 0.5
    return float(roc_auc_score(is_edge, scores))


def _standard_error(values: Floats) -> float:
    return float(values.std() / np.sqrt(len(values)))
