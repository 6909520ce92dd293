"""Negatives: corrupted hyperedges that are not known hyperedges, for training and evaluation.

`KnownEdges` knows which tuples are hyperedges, a *scheme* chooses the positions to corrupt and the
nodes to put there, and `NegativeSampler` redraws until every draw is a negative. The same code
works on NumPy arrays and on torch tensors on any device.
"""

from .known import KnownEdges
from .sampler import Negatives, NegativeSampler, evaluation_negatives
from .schemes import SCHEMES

__all__ = ["SCHEMES", "KnownEdges", "NegativeSampler", "Negatives", "evaluation_negatives"]
