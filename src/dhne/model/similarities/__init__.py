"""Similarities of whole tuples: one file each, and one line in the registry.

To add one, derive from :class:`Similarity` and call :func:`register_similarity`; models can then be
built with its name.
"""

from .base import Members, QuickForm, Similarity, SimilarityShape
from .hidden import HiddenSimilarity
from .registry import make_similarity, register_similarity, similarity_names

__all__ = [
    "HiddenSimilarity",
    "Members",
    "QuickForm",
    "Similarity",
    "SimilarityShape",
    "make_similarity",
    "register_similarity",
    "similarity_names",
]

register_similarity("hidden", HiddenSimilarity)
