"""A network that has grown: what it held before is its first nodes and its first hyperedges.

`HyperNetwork.merge` without folding keeps ids and appends, so two lists of numbers are enough to
tell the earlier network from what came later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dhne.errors import InputError

from .hypernetwork import HyperNetwork
from .vocabulary import Vocabulary

Sizes = dict[str, Any]


def sizes_of(network: HyperNetwork) -> Sizes:
    """Return how much a network holds, as plain data.

    Examples
    --------
    >>> sizes_of(HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Heat")], ("user", "movie")))
    {'nodes': {'user': 2, 'movie': 1}, 'edges': [2]}
    """
    return {
        "nodes": {t: network.num_nodes(t) for t in network.node_types},
        "edges": [len(e) for e in network.edge_sets],
    }


def first_part(network: HyperNetwork, sizes: Any) -> HyperNetwork:
    """Return the network as it was when it held as much as `sizes`, without its labels."""
    if not _fits(network, sizes):
        raise InputError("the sizes of the network before it was extended are damaged")
    nodes = {
        t: Vocabulary(network.vocabulary(t).take(np.arange(n)), node_type=t, checked=True)
        for t, n in sizes["nodes"].items()
    }
    before = zip(network.edge_sets, sizes["edges"], strict=False)
    return HyperNetwork(nodes, [edges.take(np.arange(m)) for edges, m in before])


def _fits(network: HyperNetwork, sizes: Any) -> bool:
    if not isinstance(sizes, dict) or not isinstance(sizes.get("nodes"), dict):
        return False
    nodes, edges = sizes["nodes"], sizes.get("edges")
    if not isinstance(edges, list) or len(edges) > len(network.edge_sets):
        return False
    there = [(n, network.num_nodes(t)) for t, n in nodes.items() if t in network.node_types]
    there += [(m, len(e)) for m, e in zip(edges, network.edge_sets, strict=False)]
    counts = all(type(n) is int and 0 <= n <= most for n, most in there)
    return counts and set(nodes) <= set(network.node_types)
