"""Datasets: the paper's four hyper-networks by name, a bundled sample, and generators.

>>> from dhne.datasets import load_dataset
>>> load_dataset("wordnet-sample", "all").node_types
('head', 'relation', 'tail')
"""

from __future__ import annotations

from dhne.datasets.catalogue import CATALOGUE, PAPER, Entry
from dhne.datasets.drift import drifting
from dhne.datasets.generators import planted_clusters, power_law, unordered_sets
from dhne.datasets.registry import (
    Availability,
    Dataset,
    build,
    list_datasets,
    load_dataset,
)

__all__ = [
    "CATALOGUE",
    "PAPER",
    "Availability",
    "Dataset",
    "Entry",
    "build",
    "drifting",
    "list_datasets",
    "load_dataset",
    "planted_clusters",
    "power_law",
    "unordered_sets",
]
