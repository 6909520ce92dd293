"""The clique expansion: a hyper-network as one weighted graph over all nodes.

Every hyperedge becomes a clique of its nodes; the weight of a pair is the total weight of the
hyperedges that contain both, which is A = H Hᵀ − D_v off the diagonal. Nodes of all types share one
numbering: node i of type t is ``offsets[t] + i``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork


@dataclass(frozen=True, eq=False)
class CliqueGraph:
    """A symmetric weighted graph over the nodes of all types.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of float64, ``[n, n]``
        Symmetric, without loops, column indices sorted in each row.
    offsets : dict of node type to int
        The number of the type's first node.
    sizes : dict of node type to int
    """

    matrix: sparse.csr_array
    offsets: dict[str, int]
    sizes: dict[str, int]

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all types."""
        return int(self.matrix.shape[0])

    def split(self, rows: npt.NDArray[np.floating]) -> dict[str, npt.NDArray[np.float32]]:
        """Split a matrix with one row per node into one matrix per node type."""
        return split_rows(rows, self.offsets, self.sizes)


def node_offsets(network: HyperNetwork) -> tuple[dict[str, int], dict[str, int]]:
    """Return (offset, size) of each node type in the numbering of all nodes.

    Examples
    --------
    >>> node_offsets(HyperNetwork.from_arrays({("a", "b"): [[0, 1], [2, 0]]}))
    ({'a': 0, 'b': 3}, {'a': 3, 'b': 2})
    """
    sizes = {t: network.num_nodes(t) for t in network.node_types}
    starts = np.cumsum([0, *sizes.values()])[:-1].tolist()
    return dict(zip(sizes, starts, strict=True)), sizes


def global_ids(nodes: NodeArray, edge_type: EdgeType, offsets: dict[str, int]) -> NodeArray:
    """Return tuples of ids within types as ids among all nodes."""
    return nodes + np.array([offsets[t] for t in edge_type], dtype=np.int64)


def split_rows(
    rows: npt.NDArray[np.floating], offsets: dict[str, int], sizes: dict[str, int]
) -> dict[str, npt.NDArray[np.float32]]:
    """Split a matrix with one row per node into one float32 matrix per node type."""
    return {
        t: np.ascontiguousarray(rows[start : start + sizes[t]], dtype=np.float32)
        for t, start in offsets.items()
    }


def clique_expansion(network: HyperNetwork) -> CliqueGraph:
    """Return the clique expansion of a hyper-network.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("a", "b", "c"): [[0, 0, 0], [0, 0, 1]]})
    >>> clique_expansion(net).matrix.toarray()
    array([[0., 2., 1., 1.],
           [2., 0., 1., 1.],
           [1., 1., 0., 0.],
           [1., 1., 0., 0.]])
    """
    offsets, sizes = node_offsets(network)
    n = sum(sizes.values())
    total = sparse.csr_array((n, n), dtype=np.float64)
    for edges in network.edge_sets:
        ids = global_ids(edges.nodes, edges.types, offsets)
        for p, q in combinations(range(edges.length), 2):
            apart = ids[:, p] != ids[:, q]
            pair = (edges.weights[apart], (ids[apart, p], ids[apart, q]))
            # one pair of positions at a time: memory stays linear in the hyperedges
            total = total + sparse.csr_array(sparse.coo_array(pair, shape=(n, n)))
    matrix = sparse.csr_array(total + total.T)
    matrix.sum_duplicates()
    return CliqueGraph(matrix, offsets, sizes)
