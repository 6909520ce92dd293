"""Conversion to and from other libraries, in memory; one file per library.

========================= ===================== ==================================================
library                   out                   in
========================= ===================== ==================================================
XGI                       `to_xgi`              `from_xgi`
HyperNetX                 `to_hypernetx`        `from_hypernetx`
Arrow, pandas, polars     `to_arrow`,           :func:`dhne.read_table`
                          `to_pandas`,
                          `to_polars`
PyTorch Geometric         `to_pyg`
gensim                    `to_gensim`
scikit-learn              `Hyperedges`,
                          `NodeVectors`,
                          `link_prediction_auc`
========================= ===================== ==================================================

For files (HIF, CSV, Parquet, TensorBoard's projector and others) see :mod:`dhne.io`. A library is
imported only when its function is called; if it is missing, the error names the extra to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Module of each name; the scikit-learn adapters import scikit-learn, so they load on demand.
_PUBLIC = {
    "Hyperedges": "scikit",
    "LinkPredictionScorer": "scikit",
    "NodeVectors": "scikit",
    "from_hypernetx": "hypernetx",
    "from_xgi": "xgi",
    "link_prediction_auc": "scikit",
    "to_arrow": "tables",
    "to_gensim": "gensim",
    "to_hypernetx": "hypernetx",
    "to_pandas": "tables",
    "to_polars": "tables",
    "to_pyg": "pyg",
    "to_xgi": "xgi",
}

__all__ = [
    "Hyperedges",
    "LinkPredictionScorer",
    "NodeVectors",
    "from_hypernetx",
    "from_xgi",
    "link_prediction_auc",
    "to_arrow",
    "to_gensim",
    "to_hypernetx",
    "to_pandas",
    "to_polars",
    "to_pyg",
    "to_xgi",
]

if TYPE_CHECKING:
    from .gensim import to_gensim
    from .hypernetx import from_hypernetx, to_hypernetx
    from .pyg import to_pyg
    from .scikit import Hyperedges, LinkPredictionScorer, NodeVectors, link_prediction_auc
    from .tables import to_arrow, to_pandas, to_polars
    from .xgi import from_xgi, to_xgi


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
