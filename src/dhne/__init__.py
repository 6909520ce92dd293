"""Embeddings for heterogeneous hyper-networks: tuples that mean something only as a whole."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .threads import prepare

__version__ = "0.1.0"

prepare()  # here, because it must be set before torch and numba load their threads

# Where each public name lives; loaded at first use, so that ``import dhne`` stays light.
_PUBLIC = {
    "DHNE": "estimator",
    "DHNEError": "errors",
    "EdgeSet": "network",
    "HyperNetwork": "network",
    "Vocabulary": "network",
    "load": "methods",
    "load_dataset": "datasets",
    "read": "io",
    "read_facts": "io",
    "read_table": "io",
    "write": "io",
}
_MODULES = {
    *("adjacency", "baselines", "datasets", "evaluation", "interop", "io", "sampling"),
    *("methods", "trackers", "tuning", "workers"),
}

__all__ = [
    "DHNE",
    "DHNEError",
    "EdgeSet",
    "HyperNetwork",
    "Vocabulary",
    "__version__",
    "load",
    "load_dataset",
    "read",
    "read_facts",
    "read_table",
    "write",
]

if TYPE_CHECKING:
    from .datasets import load_dataset
    from .errors import DHNEError
    from .estimator import DHNE
    from .io import read, read_facts, read_table, write
    from .methods import load
    from .network.edges import EdgeSet
    from .network.hypernetwork import HyperNetwork
    from .network.vocabulary import Vocabulary


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _PUBLIC:
        value = getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})
