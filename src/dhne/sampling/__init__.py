"""Negatives: corrupted hyperedges that are in no known edge set, for training and evaluation.

`KnownEdges` knows which tuples are hyperedges, a *scheme* chooses which positions of a hyperedge
get which other node, and `NegativeSampler` draws until every draw is a negative. The same code
works on NumPy arrays and on torch tensors of any device.
"""

from .known import KnownEdges
from .sampler import Negatives, NegativeSampler, evaluation_negatives
from .schemes import SCHEMES

__all__ = ["SCHEMES", "KnownEdges", "NegativeSampler", "Negatives", "evaluation_negatives"]
