"""The baseline that every method should beat: gradient boosting on simple counts.

A tuple is described by how often each pair of its nodes occurs together and by its nodes' degrees
(:mod:`dhne.baselines.counts`): six numbers for a triple. Gradient-boosted trees learn from them to
separate hyperedges from negatives, which are drawn by the paper's scheme.

In training, each hyperedge is left out of its own counts, and of the counts of the negatives made
from it. Otherwise every positive would be recognisable by its own counts, which an unseen one does
not have. Repeats of a hyperedge stay in, as they would for an unseen repeat. In `score` nothing is
left out: the counts are those of the whole network.

The embeddings, which the score does not use, are the leading eigenvectors of the clique expansion
scaled by degrees, D^{-1/2} A D^{-1/2}, each times the root of the size of its eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from dhne.embedder import Embedder, Scores
from dhne.errors import ParameterError, SaturatedNetworkError
from dhne.sampling import NegativeSampler

from .clique import clique_expansion
from .counts import TupleCounts
from .spectral import leading_eigenvectors, padded

if TYPE_CHECKING:
    from dhne.network.edges import EdgeSet, EdgeType, NodeArray
    from dhne.network.hypernetwork import HyperNetwork


@dataclass(kw_only=True, eq=False, repr=False)
class Cooccurrence(Embedder):
    """Gradient boosting on pair co-occurrences and degrees, without the scored edge.

    Parameters
    ----------
    dim : int
        Size of the embeddings, which the score does not use.
    negatives : int
        Number per hyperedge, drawn by the paper's scheme.
    max_iterations : int
        Maximum number of trees; training stops earlier if held-out tuples no longer improve.
    learning_rate : float
    random_state : int

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(2, size=(200, 1))
    >>> edges = 10 * group + rng.integers(10, size=(200, 3))  # within one of two groups
    >>> model = Cooccurrence(dim=8).fit(HyperNetwork.from_arrays({("a", "b", "c"): edges}))
    >>> scores = model.score(np.array([[0, 1, 2], [0, 11, 2]]))
    >>> bool(scores[0] > scores[1])
    True
    """

    dim: int = 64
    negatives: int = 5
    max_iterations: int = 200
    learning_rate: float = 0.1
    random_state: int = 0

    def _fit(self, network: HyperNetwork) -> None:
        if self.negatives < 1:
            raise ParameterError(f"negatives must be at least 1, got {self.negatives}")
        rng = np.random.default_rng(self.random_state)
        self.counts_ = TupleCounts(network)
        sampler = NegativeSampler(network, per_positive=self.negatives, allow_fewer=True)
        self.classifiers_: dict[EdgeType, Any] = {
            edges.types: self._train(edges, sampler, rng)
            for edges in network.edge_sets
            if len(edges)
        }
        self.embeddings_ = self._embed(network, rng)

    def _train(self, edges: EdgeSet, sampler: NegativeSampler, rng: np.random.Generator) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        drawn = sampler.sample(edges, rng)
        if not drawn.valid.any():
            raise SaturatedNetworkError(
                f"every possible tuple of type {edges.types!r} is a hyperedge: "
                "there are no negatives to learn from"
            )
        source = np.concatenate(
            [np.arange(len(edges)), np.repeat(np.arange(len(edges)), self.negatives)[drawn.valid]]
        )
        tuples = np.concatenate([edges.nodes, drawn.nodes[drawn.valid]])
        features = self.counts_.features(
            tuples, edges.types, left_out=edges.nodes[source], weights=edges.weights[source]
        )
        labels = np.zeros(len(tuples), dtype=np.int64)
        labels[: len(edges)] = 1
        classifier = HistGradientBoostingClassifier(
            max_iter=self.max_iterations,
            learning_rate=self.learning_rate,
            random_state=self.random_state,
        )
        return classifier.fit(features, labels)

    def _embed(self, network: HyperNetwork, rng: np.random.Generator) -> dict[str, Any]:
        graph = clique_expansion(network)
        degree = graph.matrix.sum(axis=1)
        root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
        scale = sparse.diags_array(root)
        values, vectors = leading_eigenvectors(
            sparse.csr_array(scale @ graph.matrix @ scale), self.dim, rng=rng, tolerance=1e-3
        )
        return graph.split(padded(vectors * np.sqrt(np.abs(values)), self.dim))

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        """Return the score of each tuple of ids."""
        features = self.counts_.features(nodes, edge_type)
        scores: Scores = self._classifier(edge_type).decision_function(features)
        return scores

    def _classifier(self, edge_type: EdgeType) -> Any:
        if edge_type in self.classifiers_:
            return self.classifiers_[edge_type]
        # sets of one node type have the same features for every size
        same = [t for t in self.classifiers_ if set(t) == set(edge_type)]
        if not same or len(set(edge_type)) > 1:
            raise ParameterError(f"there were no hyperedges of type {edge_type!r} to learn from")
        return self.classifiers_[min(same, key=lambda t: abs(len(t) - len(edge_type)))]
