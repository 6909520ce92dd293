"""The registered similarities, by name."""

from __future__ import annotations

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters.open_choices import SIMILARITIES

from .base import Similarity, SimilarityShape

_CLASSES: dict[str, type[Similarity]] = {}


def register_similarity(name: str, similarity: type[Similarity]) -> None:
    """Register a similarity under a name; a name in use must refer to the same class."""
    if _CLASSES.setdefault(name, similarity) is not similarity:
        raise ParameterError(f"there is already a similarity called {name!r}")
    if name not in SIMILARITIES:
        SIMILARITIES.append(name)


def similarity_names() -> tuple[str, ...]:
    """Return the names of all similarities."""
    return tuple(_CLASSES)


def make_similarity(name: str, shape: SimilarityShape) -> Similarity:
    """Return a new similarity of the given shape, its weights not yet drawn."""
    if name not in _CLASSES:
        raise UnknownNameError("similarity", name, _CLASSES)
    return _CLASSES[name](shape)
