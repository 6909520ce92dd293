"""Whether near nodes are alike: the share of a node's nearest that have a label in common with it.

For each labelled node the ten nearest of the other labelled nodes are found, by the cosine of their
vectors, as `similar` finds them. No classifier is trained. Of very many nodes an even random sample
is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.answers.nearest import NearestNodes

NEAREST = 10
_ASKED = 5000  # nodes; the standard error is then below 0.005
_AT_ONCE = 256  # questions in one pass


def shared_labels(
    vectors: npt.NDArray[Any],
    truth: npt.NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    k: int = NEAREST,
    asked: int = _ASKED,
) -> float:
    """Return the mean share of the `k` nearest nodes that share a label with the node asked about.

    Parameters
    ----------
    vectors : float[n, d]
        Of the labelled nodes.
    truth : bool[n, classes]
        Their labels, at least one each.
    rng : numpy.random.Generator
        Draws the nodes to ask about if there are more than `asked`.
    k, asked : int

    Examples
    --------
    >>> vectors = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> truth = np.array([[1, 0], [1, 0], [0, 1], [1, 1]], bool)
    >>> shared_labels(vectors, truth, np.random.default_rng(0), k=1)
    1.0
    """
    n = len(vectors)
    nodes = np.arange(n) if n <= asked else np.sort(rng.choice(n, asked, replace=False))
    near = NearestNodes({"": np.asarray(vectors, dtype=np.float32)})
    hits = []
    for start in range(0, len(nodes), _AT_ONCE):
        some = nodes[start : start + _AT_ONCE]
        for node, found in zip(some, near.to_nodes("", some, k), strict=True):
            hits.append((truth[found.nodes] & truth[node]).any(axis=1).mean())
    return float(np.mean(hits))
