"""The methods that DHNE is measured against, one file a method, all with the estimator's contract.

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

The first four know only pairs: a tuple's score is the mean or the minimum of its pairs'
similarities.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dhne.errors import UnknownNameError

if TYPE_CHECKING:
    from dhne.embedder import Embedder

METHODS: dict[str, str] = {
    "deepwalk": "dhne.baselines.deepwalk:DeepWalk",
    "node2vec": "dhne.baselines.node2vec:Node2Vec",
    "line": "dhne.baselines.line:LINE",
    "she": "dhne.baselines.she:SHE",
    "tensor": "dhne.baselines.tensor:TensorDecomposition",
    "hebe": "dhne.baselines.hebe:HEBE",
    "cooccurrence": "dhne.baselines.cooccurrence:Cooccurrence",
}

_CLASSES = {path.split(":")[1]: path for path in METHODS.values()}

__all__ = ["METHODS", "make_method", "method_class", *sorted(_CLASSES)]  # noqa: PLE0604


def method_class(name: str) -> type[Embedder]:
    """Return the class of a method; its module is imported only now.

    Examples
    --------
    >>> method_class("she").__name__
    'SHE'
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    found: type[Embedder] = _load(METHODS[name])
    return found


def make_method(name: str, **params: Any) -> Embedder:
    """Return an unfitted method with these hyper-parameters.

    Examples
    --------
    >>> make_method("line", dim=32, random_state=1)
    LINE(dim=32, random_state=1)
    """
    return method_class(name)(**params)


def _load(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _load(_CLASSES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_CLASSES})
