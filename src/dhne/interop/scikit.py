"""scikit-learn's tools for hyperedges and nodes: cross-validation, grid search, pipelines.

Every method is already a scikit-learn estimator (``get_params``, ``clone``). The tools also need
samples that can be counted and indexed, and a scorer:

* `Hyperedges` is a network whose hyperedges are the samples;
* `link_prediction_auc` scores a fitted method on hyperedges held out from it;
* `NodeVectors` turns node names into vectors, for any classifier or regressor.

::

    search = GridSearchCV(
        DHNE(), {"alpha": [0.1, 1]}, scoring=link_prediction_auc, cv=KFold(3, shuffle=True)
    )
    search.fit(Hyperedges.of(network.fold()))

Fold repeats first; otherwise the same hyperedge could be in training and test at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import average_precision_score, roc_auc_score

from dhne.embedder import Embedder
from dhne.errors import ParameterError
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary
from dhne.sampling import KnownEdges, evaluation_negatives

Metric = Literal["auc", "aupr"]


class Hyperedges(HyperNetwork):
    """A network that is also a sequence of its hyperedges, in the order of edge types.

    ``hyperedges[rows]`` is a network with those hyperedges and all nodes; iterating gives tuples of
    names. It can be used wherever a network can.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Alien")], ("user", "movie"))
    >>> samples = Hyperedges.of(net)
    >>> len(samples), list(samples[[1]])
    (2, [('bob', 'Alien')])
    >>> samples[[1]].num_nodes("user")
    2
    """

    @classmethod
    def of(cls, network: HyperNetwork) -> Hyperedges:
        """Return the hyperedges of a network as samples."""
        labels = {t: network.labels(t) for t in network.labelled_types}
        nodes = {t: network.vocabulary(t) for t in network.node_types}
        return cls(nodes, network.edge_sets, labels)

    def __len__(self) -> int:
        return self.num_edges()

    @property
    def shape(self) -> tuple[int]:
        """(number of hyperedges,), like an array's shape."""
        return (len(self),)

    def __getitem__(self, rows: Any) -> Hyperedges:
        if isinstance(rows, tuple):  # scikit-learn indexes like an array: X[rows, ...]
            rows = next(r for r in rows if r is not Ellipsis)
        try:
            chosen = np.atleast_1d(np.arange(len(self))[rows])
        except IndexError as error:
            raise ParameterError(f"rows out of range: {error}") from None
        edge_sets, start = [], 0
        for edges in self.edge_sets:
            here = chosen[(chosen >= start) & (chosen < start + len(edges))] - start
            edge_sets.append(edges.take(here))
            start += len(edges)
        return Hyperedges.of(self.with_edges(edge_sets))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for edges in self.edge_sets:
            columns = [
                self.vocabulary(t).take(edges.nodes[:, p]).to_pylist()
                for p, t in enumerate(edges.types)
            ]
            yield from zip(*columns, strict=True)


@dataclass(frozen=True)
class LinkPredictionScorer:
    """How well a fitted method separates held-out hyperedges from negatives; larger is better.

    A scikit-learn scorer: called with an estimator and samples. Negatives are drawn with the seed
    and are hyperedges neither of the method's network nor of the samples, so all candidates of a
    search get the same ones.

    Attributes
    ----------
    metric : {"auc", "aupr"}
        Area under the ROC curve, or average precision.
    negatives : int
        Number per hyperedge.
    seed : int

    Examples
    --------
    >>> from dhne import DHNE
    >>> from dhne.datasets import planted_clusters
    >>> train, test = planted_clusters(types=3, clusters=2, nodes_per_cluster=5).split(0.2)
    >>> model = DHNE(dim=8, epochs=20, kernels="reference").fit(train)
    >>> 0.5 < LinkPredictionScorer("aupr")(model, test) <= 1
    True
    """

    metric: Metric = "auc"
    negatives: int = 5
    seed: int = 2018

    def __call__(self, estimator: Any, X: HyperNetwork, y: Any = None) -> float:
        """Return the score of `estimator`, a fitted method or a pipeline that ends in one."""
        model = _method(estimator)
        if not isinstance(X, HyperNetwork):
            raise ParameterError(
                f"the samples must be hyperedges, got {type(X).__name__}; "
                "use dhne.interop.Hyperedges.of(network)"
            )
        known = KnownEdges(model.network_, X)
        targets, scores = [], []
        for edges in X.edge_sets:
            if not len(edges):
                continue
            drawn = evaluation_negatives(
                edges, known, per_positive=self.negatives, seed=self.seed, allow_fewer=True
            )
            nodes = np.concatenate([edges.nodes, drawn.nodes[drawn.valid]])
            targets.append(np.arange(len(nodes)) < len(edges))
            scores.append(model.score(nodes, edges.types))
        if not targets:
            raise ParameterError("there are no hyperedges to score")
        measure = roc_auc_score if self._checked() == "auc" else average_precision_score
        return float(measure(np.concatenate(targets), np.concatenate(scores)))

    def _checked(self) -> Metric:
        if self.metric not in ("auc", "aupr"):
            raise ParameterError(f"metric must be 'auc' or 'aupr', got {self.metric!r}")
        return self.metric


link_prediction_auc = LinkPredictionScorer()


def _method(estimator: Any) -> Embedder:
    """Return the method itself if it is the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    model = steps[-1][1] if steps else estimator
    if not isinstance(model, Embedder):
        raise ParameterError(
            f"link prediction needs a method such as DHNE, got {type(model).__name__}"
        )
    model._check_fitted()
    return model


class NodeVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns node names into vectors: the first step of a pipeline that predicts something of nodes.

    Parameters
    ----------
    vectors : Arrow table with the columns ``name`` and ``vector``
        From ``model.vectors("movie")``.

    Examples
    --------
    >>> table = pa.table({"name": ["Heat", "Alien"], "vector": [[1.0, 0.0], [0.0, 1.0]]})
    >>> NodeVectors(table).fit_transform(["Alien"])
    array([[0., 1.]], dtype=float32)
    """

    def __init__(self, vectors: pa.Table) -> None:
        self.vectors = vectors

    def fit(self, names: Any, y: Any = None) -> Self:
        """Check the vectors; nothing is learned."""
        self.vocabulary_ = Vocabulary(self.vectors["name"])
        rows = self.vectors["vector"].combine_chunks()
        flat = rows.flatten().to_numpy(zero_copy_only=False)
        self.matrix_ = np.asarray(flat, np.float32).reshape(len(rows), -1)
        return self

    def transform(self, names: Any) -> npt.NDArray[np.float32]:
        """Return the vectors of `names`, ``float32[m, d]``; an unknown name raises."""
        values = np.asarray(names).reshape(-1).tolist()
        found: npt.NDArray[np.float32] = self.matrix_[self.vocabulary_.ids(values)]
        return found

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return one name per dimension."""
        return np.array([f"dimension{i}" for i in range(self.matrix_.shape[1])], dtype=object)
