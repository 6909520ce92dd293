"""A digest of a network's hyperedges, to check that work continues with the same ones."""

from __future__ import annotations

import hashlib

import numpy as np

from .hypernetwork import HyperNetwork

_PIECE = 1 << 18  # hyperedges whose ids or weights are hashed at once


def edges_digest(network: HyperNetwork) -> str:
    """Return the sha256 of the edge types, ids and weights, in their order.

    Examples
    --------
    >>> one = HyperNetwork.from_arrays({("a", "b"): [[0, 1], [1, 0]]})
    >>> other = HyperNetwork.from_arrays({("a", "b"): [[0, 1], [1, 1]]})
    >>> edges_digest(one) == edges_digest(one), edges_digest(one) == edges_digest(other)
    (True, False)
    """
    digest = hashlib.sha256()
    for edges in network.edge_sets:
        digest.update(repr((edges.types.to_record(), edges.nodes.shape)).encode())
        for column in (edges.nodes, edges.weights):
            for low in range(0, len(column), _PIECE):  # views are copied, so not all at once
                piece = np.ascontiguousarray(column[low : low + _PIECE])
                digest.update(piece.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
