"""SHE: spectral hypergraph embedding (Zhou, Huang and Schölkopf, 2006).

With the incidence matrix H, hyperedge weights W, hyperedge sizes D_e and weighted node degrees D_v,
the normalised hypergraph Laplacian is

    Δ = I − D_v^{-1/2} H W D_e^{-1} Hᵀ D_v^{-1/2}.

The embedding X consists of the eigenvectors φ_k of its smallest eigenvalues δ_k, each times
√(1 − δ_k). X Xᵀ is then the best approximation of Θ = I − Δ by those eigenvectors, so the inner
product of two rows, which is the similarity of the pair, weights them by what they explain.

The smallest eigenvalue is 0. Its eigenvector √degree says nothing about how to cut the hypergraph,
but much about which nodes are likely to be in a hyperedge. It is kept unless `skip_trivial`: this,
inner products and the factor were each better than their alternatives (cosines, distances, plain
eigenvectors) on validation sets of GPS and MovieLens.

Δ is never formed: its smallest eigenvectors are the largest of Θ = B Bᵀ with
B = D_v^{-1/2} H (W D_e^{-1})^{1/2}, which has one entry per node of each hyperedge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .clique import global_ids, node_offsets, split_rows
from .pairwise import PairwiseEmbedder
from .spectral import leading_eigenvectors, padded

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork


@dataclass(kw_only=True, eq=False, repr=False)
class SHE(PairwiseEmbedder):
    """Eigenvectors of the normalised hypergraph Laplacian.

    Parameters
    ----------
    dim : int
        Number of eigenvectors.
    skip_trivial : bool
        Whether to leave out the first one, which only reflects degrees.
    aggregate : {"mean", "min"}
        How a tuple's score is computed from the similarities of its pairs.
    similarity : {"cosine", "dot", "sigmoid"}, optional
        None for the inner product; evaluation then chooses between it and the cosine.
    tolerance : float
        Relative accuracy of the eigenvalues.
    random_state : int
        Seed for the start vector of the eigensolver.

    Attributes
    ----------
    eigenvalues_ : float64[dim]
        Of the Laplacian, smallest first.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 0], [2, 1], [3, 1], [1, 1]]})
    >>> model = SHE(dim=2).fit(net)
    >>> model.embeddings_["a"].shape
    (4, 2)
    >>> scores = model.score(np.array([[0, 0], [0, 1]]))
    >>> bool(scores[0] > scores[1])
    True
    """

    skip_trivial: bool = False
    tolerance: float = 1e-4

    def _fit(self, network: HyperNetwork) -> None:
        incidence = scaled_incidence(network)
        n = incidence.shape[0]
        transposed = sparse.csr_array(incidence.T)
        theta = LinearOperator(
            (n, n),
            dtype=np.float64,
            matvec=lambda x: incidence @ (transposed @ x),
            matmat=lambda x: incidence @ (transposed @ x),
        )
        rng = np.random.default_rng(self.random_state)
        first = int(self.skip_trivial)
        values, vectors = leading_eigenvectors(
            theta, self.dim + first, rng=rng, tolerance=self.tolerance
        )
        self.eigenvalues_ = 1 - values[first:]
        rows = vectors[:, first:] * np.sqrt(np.maximum(values[first:], 0))
        self.embeddings_ = split_rows(padded(rows, self.dim), *node_offsets(network))


def scaled_incidence(network: HyperNetwork) -> sparse.csr_array:
    """Return B = D_v^{-1/2} H (W D_e^{-1})^{1/2}, nodes of all types by hyperedges of all types.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 0]]})
    >>> B = scaled_incidence(net)
    >>> (B @ B.T).toarray().round(3)
    array([[0.5  , 0.   , 0.354],
           [0.   , 0.5  , 0.354],
           [0.354, 0.354, 0.5  ]])
    """
    offsets, sizes = node_offsets(network)
    n = sum(sizes.values())
    blocks, weights = [], []
    for edges in network.edge_sets:
        m = len(edges)
        ids = global_ids(edges.nodes, edges.types, offsets).ravel()
        columns = np.repeat(np.arange(m), edges.length)
        block = sparse.csr_array(
            sparse.coo_array((np.ones(ids.size), (ids, columns)), shape=(n, m))
        )
        block.data[:] = 1.0  # a node that is in a hyperedge twice counts once
        blocks.append(block)
        weights.append(edges.weights)
    incidence = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    weight = np.concatenate(weights)
    degree = incidence @ weight
    size = incidence.sum(axis=0)
    left = np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    return sparse.csr_array(
        sparse.diags_array(left) @ incidence @ sparse.diags_array(np.sqrt(weight / size))
    )
