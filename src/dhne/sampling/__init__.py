"""Negatives: corrupted hyperedges that are in no known edge set, for training and evaluation.

`KnownEdges` tells which tuples are hyperedges, a *scheme* says which positions of a hyperedge get
another node and which, and `NegativeSampler` draws until every draw is a negative. All of it works
on NumPy arrays and, by the same code, on torch tensors of any device.
"""

from .known import KnownEdges
from .sampler import Negatives, NegativeSampler, evaluation_negatives
from .schemes import SCHEMES

__all__ = ["SCHEMES", "KnownEdges", "NegativeSampler", "Negatives", "evaluation_negatives"]
