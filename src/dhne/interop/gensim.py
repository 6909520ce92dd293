"""Embeddings as gensim's `KeyedVectors`: ``most_similar``, analogies, and its file formats."""

from __future__ import annotations

from typing import Any

from dhne.embedder import Embedder
from dhne.errors import require


def to_gensim(model: Embedder, node_type: str) -> Any:
    """Return the vectors of one node type as `gensim.models.KeyedVectors`, node i at row i.

    Keys are names as strings, because gensim reads an integer as a row number. A key's attribute
    ``count`` is the node's degree, so that ``sort_by_descending_frequency`` works.

    Examples
    --------
    >>> from dhne import DHNE, HyperNetwork
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "Heat", "noir"), ("bob", "Alien", "space")], ("user", "movie", "tag")
    ... )
    >>> model = DHNE(dim=4, epochs=1, kernels="reference").fit(net)
    >>> to_gensim(model, "movie").most_similar("Heat", topn=1)[0][0]
    'Alien'
    """
    keyed_vectors = require("gensim.models.keyedvectors", extra="interop")
    model._check_fitted()
    network = model.network_
    names = [str(name) for name in network.names(node_type).to_pylist()]
    matrix = model.vectors_[node_type]
    vectors = keyed_vectors.KeyedVectors(matrix.shape[1], dtype=matrix.dtype)
    vectors.add_vectors(names, matrix.copy())
    for name, degree in zip(names, network.degrees(node_type).tolist(), strict=True):
        vectors.set_vecattr(name, "count", degree)
    return vectors
