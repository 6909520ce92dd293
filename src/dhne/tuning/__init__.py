"""Hyper-parameter search, judged on hyperedges held out from training, never on test data."""

from __future__ import annotations

from .search import Search, tune
from .space import Choice, Range, Space, default_space, parse_space
from .trials import Trial, Tuned

__all__ = [
    "Choice",
    "Range",
    "Search",
    "Space",
    "Trial",
    "Tuned",
    "default_space",
    "parse_space",
    "tune",
]
