"""The hyper-network: typed nodes with names and labels, and typed hyperedges with weights."""

from .edges import EdgeSet, EdgeType
from .hypernetwork import HyperNetwork
from .vocabulary import Vocabulary

__all__ = ["EdgeSet", "EdgeType", "HyperNetwork", "Vocabulary"]
