"""Classification of labelled nodes with a linear SVM on the embeddings.

Embeddings are learned from the whole network, without labels. A share of the labelled nodes is
drawn at random; a one-vs-rest linear SVM is trained on their embeddings (each coordinate
standardised over the training nodes) and predicts the labels of all others. Nodes without a label
are ignored. The means of micro and macro F1 over several draws are reported per share, and over all
shares. ``neighbours@10`` needs no classifier: see `dhne.evaluation.neighbours`.

If every node has one label, the class with the largest decision value is predicted. If some have
several, there are two conventions. ``label_count="positive"``, the default, predicts every class
with a positive decision value, and at least the best one; this is a usable classifier. ``"known"``,
common for node embeddings since DeepWalk, gives the classifier the number of labels of each node
and predicts that many; its scores are higher and not comparable.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from dhne.errors import ParameterError
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.labels import label_matrix

from .metrics import f1_scores
from .neighbours import NEAREST, shared_labels

SHARES_MULTI_LABEL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHARES_MULTI_CLASS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1)
LABEL_COUNTS = ("positive", "known")
MAX_ITERATIONS = 200  # of Newton's method; ten suffice unless coordinates have extreme outliers
Matrix = npt.NDArray[Any]
_NEIGHBOURS = f"neighbours@{NEAREST}"


def classify_nodes(
    network: HyperNetwork,
    embeddings: Mapping[str, Matrix],
    *,
    node_type: str | None = None,
    shares: Sequence[float] | None = None,
    repeats: int = 5,
    seed: int = 0,
    label_count: str = "positive",
) -> dict[str, float]:
    """Return how well embeddings predict labels: micro and macro F1, and shared labels nearby.

    Parameters
    ----------
    network : HyperNetwork
        With labels.
    embeddings : mapping of node type to float[n, d]
    node_type : str, optional
        Type to classify; by default every labelled type, and the mean over the types.
    shares : sequence of float, optional
        Shares of the labelled nodes used for training; by default, as in the paper, 10% to 90% if
        nodes have several labels and 1% to 10% if they have one.
    repeats : int
        Number of draws of training nodes to average over.
    seed : int
        Seed for the draws.
    label_count : {"positive", "known"}
        Number of labels to predict for a node with several; see the module docstring.

    Returns
    -------
    dict
        ``micro_f1`` and ``macro_f1`` (means over the shares), ``neighbours@10``,
        ``micro_f1@0.1`` … and, with several node types, ``micro_f1/movie`` ….
    """
    if label_count not in LABEL_COUNTS:
        raise ParameterError(f"label_count must be 'positive' or 'known', got {label_count!r}")
    if repeats < 1:
        raise ParameterError(f"repeats must be at least 1, got {repeats}")
    types = labelled(network, node_type)
    found = {}
    for number, t in enumerate(types):
        rng = np.random.default_rng([seed, number])
        found[t] = _one_type(network, t, embeddings[t], shares, repeats, rng, label_count)
        found[t][_NEIGHBOURS] = _neighbours(network, t, embeddings[t], [seed, number, 1])
    if len(types) == 1:
        return found[types[0]]
    names = [n for n in found[types[0]] if all(n in f for f in found.values())]
    mean = {n: float(np.mean([f[n] for f in found.values()])) for n in names}
    for t in types:
        mean |= {f"{n}/{t}": found[t][n] for n in ("micro_f1", "macro_f1", _NEIGHBOURS)}
    return mean


def labelled(network: HyperNetwork, node_type: str | None = None) -> tuple[str, ...]:
    """Return the node types with labels, or the requested one; raise if there are none."""
    types = network.labelled_types
    if node_type is not None and network.labels(node_type) is None:
        raise ParameterError(
            f"nodes of type {node_type!r} have no labels; "
            + (f"labelled types: {', '.join(types)}" if types else "this network has no labels")
        )
    if not types:
        raise ParameterError(
            "classification needs labels and this network has none; add them from a table with "
            "the columns type, name and label (--labels FILE, or network.with_labels)"
        )
    return types if node_type is None else (node_type,)


def _one_type(
    network: HyperNetwork,
    node_type: str,
    embedding: Matrix,
    shares: Sequence[float] | None,
    repeats: int,
    rng: np.random.Generator,
    label_count: str,
) -> dict[str, float]:
    _, matrix = label_matrix(network.labels(node_type))
    has = matrix.any(axis=1)
    features, truth = np.asarray(embedding, np.float64)[has], matrix[has]
    several = bool((truth.sum(axis=1) > 1).any())
    if shares is None:
        shares = SHARES_MULTI_LABEL if several else SHARES_MULTI_CLASS
    metrics: dict[str, float] = {}
    for share in shares:
        scores = [
            _one_draw(features, truth, share, several, label_count, rng) for _ in range(repeats)
        ]
        micro, macro = np.mean(scores, axis=0).tolist()
        metrics |= {f"micro_f1@{share:g}": micro, f"macro_f1@{share:g}": macro}
    head = {
        name: float(np.mean([v for k, v in metrics.items() if k.startswith(f"{name}@")]))
        for name in ("micro_f1", "macro_f1")
    }
    return head | metrics


def _neighbours(
    network: HyperNetwork, node_type: str, embedding: Matrix, seed: Sequence[int]
) -> float:
    _, matrix = label_matrix(network.labels(node_type))
    has = matrix.any(axis=1)
    return shared_labels(np.asarray(embedding)[has], matrix[has], np.random.default_rng(seed))


def _one_draw(
    features: Matrix,
    truth: npt.NDArray[np.bool_],
    share: float,
    several: bool,
    label_count: str,
    rng: np.random.Generator,
) -> tuple[float, float]:
    if not 0 < share < 1:
        raise ParameterError(f"a share of training nodes must be between 0 and 1, got {share}")
    n = len(truth)
    if n < 2:
        raise ParameterError(f"classification needs at least two labelled nodes, there are {n}")
    order = rng.permutation(n)
    cut = min(max(round(share * n), 1), n - 1)
    train, test = order[:cut], order[cut:]
    decision = _decisions(features[train], truth[train], features[test])
    return f1_scores(truth[test], predict(decision, truth[test], several, label_count))


def _decisions(train: Matrix, truth: npt.NDArray[np.bool_], test: Matrix) -> Matrix:
    """Return ``[test nodes, classes]``: a linear SVM's decision value for each class."""
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    decision = np.full((len(test), truth.shape[1]), -np.inf)
    for c in np.flatnonzero(truth.any(axis=0)):  # a class unseen in training is never predicted
        if truth[:, c].all():
            decision[:, c] = 1.0
            continue
        svm = LinearSVC(dual=False, max_iter=MAX_ITERATIONS)
        with warnings.catch_warnings():  # an approximate solution is good enough
            warnings.simplefilter("ignore", ConvergenceWarning)
            decision[:, c] = svm.fit(train, truth[:, c]).decision_function(test)
    return decision


def predict(
    decision: Matrix, truth: npt.NDArray[np.bool_], several: bool, label_count: str
) -> npt.NDArray[np.bool_]:
    """Return the predicted labels ``bool[nodes, classes]``; only ``"known"`` uses `truth`.

    Examples
    --------
    >>> decision = np.array([[0.5, 0.2, -1.0], [-2.0, -1.0, -3.0]])
    >>> predict(decision, np.zeros((2, 3), bool), True, "positive").astype(int)
    array([[1, 1, 0],
           [0, 1, 0]])
    """
    best = np.zeros(decision.shape, dtype=bool)
    best[np.arange(len(decision)), decision.argmax(axis=1)] = True
    if not several:
        return best
    if label_count == "positive":
        return best | (decision > 0)
    place = np.argsort(np.argsort(-decision, axis=1, kind="stable"), axis=1, kind="stable")
    known: npt.NDArray[np.bool_] = place < truth.sum(axis=1, keepdims=True)
    return known
