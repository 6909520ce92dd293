"""The methods that DHNE is compared with, one file per method, all with the same interface.

Each is an :class:`~dhne.embedder.Embedder`: ``fit(network)``, ``embeddings_``, ``score(tuples)``,
``rank``, ``similar``. They work for tuples of any length and for several edge types.

=============== ====================================================================================
name            method
=============== ====================================================================================
`deepwalk`      uniform random walks on the clique expansion, skip-gram with hierarchical softmax
`node2vec`      second-order random walks on the clique expansion, skip-gram with negatives
`line`          first- and second-order proximity of the clique expansion
`she`           eigenvectors of the normalised hypergraph Laplacian
`tensor`        CP decomposition of the sparse tensor of hyperedges
`hebe`          each node of a hyperedge predicted from the others
`cooccurrence`  gradient boosting on pair co-occurrences and degrees, without the scored edge
=============== ====================================================================================

The first four are pairwise: a tuple's score is the mean or the minimum of its pairs' similarities.
`dhne.methods` creates each by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_CLASSES = {
    "Cooccurrence": "cooccurrence",
    "DeepWalk": "deepwalk",
    "HEBE": "hebe",
    "LINE": "line",
    "Node2Vec": "node2vec",
    "SHE": "she",
    "TensorDecomposition": "tensor",
}

__all__ = list(_CLASSES)


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(import_module(f"{__name__}.{_CLASSES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_CLASSES})
