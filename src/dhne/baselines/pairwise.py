"""Pairwise methods, and how they score whole tuples.

The similarity of nodes a, b is the cosine or the inner product of their vectors, or the sigmoid of
the inner product; if a method's vectors consist of separately learned parts, it is the mean over
the parts. A tuple of N nodes has N(N−1)/2 pairs of positions; its score is the mean or the
minimum of their similarities,

    S_mean(v) = 2/(N(N−1)) Σ_{p<q} sim(v_p, v_q),      S_min(v) = min_{p<q} sim(v_p, v_q).

Both come from one fit: `score` uses the parameter `aggregate`, and `scored_by` returns the same
method with a different one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from dhne.embedder import Embedder, Scores
from dhne.errors import ParameterError
from dhne.network.edges import EdgeType, NodeArray

AGGREGATES = ("mean", "min")
SIMILARITIES = ("cosine", "dot", "sigmoid")
_TUPLES_AT_ONCE = 65536  # scored at once: a few dozen MB at any dimension in use


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseEmbedder(Embedder):
    """Base of the methods that score a tuple by its pairs; see the module docstring.

    A method sets `embeddings_` in `_fit`.

    Parameters
    ----------
    dim : int
    aggregate : {"mean", "min"}
        How a tuple's score is computed from the similarities of its pairs.
    similarity : {"cosine", "dot", "sigmoid"}, optional
        None for the method's default; evaluation then chooses between the cosine and the inner
        product on validation data.
    random_state : int
    """

    aggregates: ClassVar[tuple[str, ...]] = AGGREGATES
    usual_similarity: ClassVar[str] = "dot"

    dim: int = 64
    aggregate: str = "mean"
    similarity: str | None = None
    random_state: int = 0

    def similarities(self) -> tuple[str, ...]:
        """Return the similarity that was set, or those that evaluation chooses between."""
        return ("dot", "cosine") if self.similarity is None else (self.similarity,)

    def _pair_scores(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return ``[m, N(N-1)/2]``: the similarity of each pair of positions of each tuple."""
        positions = list(combinations(range(len(edge_type)), 2))
        scores = np.empty((len(nodes), len(positions)), dtype=np.float64)
        scale = {t: self._scale(t) for t in set(edge_type)}
        for start in range(0, len(nodes), _TUPLES_AT_ONCE):
            part = nodes[start : start + _TUPLES_AT_ONCE]
            rows = [
                self.embeddings_[t][part[:, p]] * scale[t][part[:, p], None]
                for p, t in enumerate(edge_type)
            ]
            for column, (p, q) in enumerate(positions):
                scores[start : start + _TUPLES_AT_ONCE, column] = self._similarities(
                    rows[p], rows[q], "ij,ij->i"
                )
        return scores

    def _similarity(self) -> str:
        """Return the similarity in use; raise if it is unknown."""
        found = self.usual_similarity if self.similarity is None else self.similarity
        if found not in SIMILARITIES:
            raise ParameterError(f"similarity must be one of {SIMILARITIES}: {found!r}")
        return found

    def _parts(self) -> list[slice]:
        """Return the columns of the vectors' separately learned parts."""
        return [slice(None)]

    def _similarities(self, a: Any, b: Any, how: str) -> npt.NDArray[np.float64]:
        """Return the similarities of rows that `_scale` has been applied to, as einsum's `how`."""
        parts = self._parts()
        sigmoid = self._similarity() == "sigmoid"
        total: Any = 0.0
        for part in parts:
            product = np.einsum(how, a[:, part], b[:, part], optimize=True).astype(np.float64)
            total = total + (expit(product) if sigmoid else product)
        return np.asarray(total / len(parts), dtype=np.float64)

    def _scale(self, node_type: str) -> npt.NDArray[np.float32]:
        """Return the factor of each vector of a type: 1/norm for the cosine."""
        vectors = self.embeddings_[node_type]
        if self._similarity() != "cosine":
            return np.ones(len(vectors), dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1)
        # a node without hyperedges may have a zero vector: all its cosines are 0
        scale: npt.NDArray[np.float32] = np.zeros_like(norms)
        np.divide(1, norms, out=scale, where=norms > 0)
        return scale

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        """Return the score of each tuple of ids."""
        return aggregate_pairs(self._pair_scores(nodes, edge_type), self.aggregate)

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Scores:
        """Score all candidates with one matrix product per other position."""
        others = [p for p in range(len(edge_type)) if p != position]
        fixed_types = edge_type.without(position)
        fixed = self._pair_scores(nodes[:, others], fixed_types)
        kind = edge_type[position]
        candidates = self.embeddings_[kind] * self._scale(kind)[:, None]
        total: Scores = np.full((len(nodes), len(candidates)), _start(self.aggregate))
        for p in others:
            t = edge_type[p]
            rows = self.embeddings_[t][nodes[:, p]] * self._scale(t)[nodes[:, p], None]
            scores = self._similarities(rows, candidates, "ik,jk->ij")
            if self.aggregate == "min":
                np.minimum(total, scores, out=total)
            else:
                total += scores
        if self.aggregate == "min":
            np.minimum(total, fixed.min(axis=1, initial=np.inf)[:, None], out=total)
        else:
            total += fixed.sum(axis=1)[:, None]
            total /= len(others) + fixed.shape[1]
        return total


def aggregate_pairs(pairs: npt.NDArray[np.float64], aggregate: str) -> Scores:
    """Return the mean or the minimum of each row.

    Examples
    --------
    >>> aggregate_pairs(np.array([[0.0, 0.5, 1.0]]), "mean")
    array([0.5])
    """
    _start(aggregate)
    scores: Scores = pairs.min(axis=1) if aggregate == "min" else pairs.mean(axis=1)
    return scores


def _start(aggregate: str) -> float:
    """Return the neutral element of an aggregate; raise if it is unknown."""
    if aggregate not in AGGREGATES:
        raise ParameterError(f"aggregate must be 'mean' or 'min', got {aggregate!r}")
    return np.inf if aggregate == "min" else 0.0
