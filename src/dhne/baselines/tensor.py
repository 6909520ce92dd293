"""CP decomposition of the sparse tensor of hyperedges (Kolda and Bader, 2009).

The hyperedges of one type with N positions are a sparse tensor X of order N, whose entry at
(v_1, …, v_N) is the weight of that hyperedge and 0 elsewhere. The decomposition

    X ≈ Σ_r λ_r u_r^(1) ∘ … ∘ u_r^(N),      S(v) = Σ_r λ_r Π_p U^(p)[v_p, r],

is fitted either to counts, as the means of Poisson variables (CP-APR of Chi and Kolda, 2012), or by
alternating least squares. S is the score of a tuple. Least squares treat all zeros as measured and
at rank 64 describe the training edges rather than the network, so Poisson is the default.

The factor rows are the embeddings. Each edge type has its own decomposition. If positions are
unordered, X contains every order of a hyperedge's nodes. If a node type is at several positions,
its factor rows are concatenated and reduced to `dim` dimensions by the projection that best
preserves their inner products.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhne.embedder import Embedder, Scores
from dhne.errors import ParameterError, require

from .progress import track
from .spectral import padded

if TYPE_CHECKING:
    from dhne.network.edges import EdgeSet, EdgeType, NodeArray
    from dhne.network.hypernetwork import HyperNetwork

_TUPLES_AT_ONCE = 65536  # scored
_MOST_ORDERS = 24  # up to four unordered positions are expanded into every order

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factors:
    """A decomposition: ``weights: [rank]`` and one matrix ``[n, rank]`` per position."""

    weights: FloatArray
    matrices: list[FloatArray]

    @classmethod
    def of(cls, model: Any) -> Factors:
        """Take the parts of a pyttb.ktensor."""
        matrices = [np.ascontiguousarray(m) for m in model.factor_matrices]
        return cls(np.asarray(model.weights, dtype=np.float64), matrices)

    def score(self, nodes: NodeArray) -> Scores:
        """Return Σ_r λ_r Π_p U^(p)[v_p, r] for each tuple."""
        scores = np.empty(len(nodes), dtype=np.float64)
        for start in range(0, len(nodes), _TUPLES_AT_ONCE):
            part = nodes[start : start + _TUPLES_AT_ONCE]
            rows = np.ones((len(part), len(self.weights)))
            for p, matrix in enumerate(self.matrices):
                rows *= matrix[part[:, p]]
            scores[start : start + _TUPLES_AT_ONCE] = rows @ self.weights
        return scores

    def score_candidates(self, nodes: NodeArray, position: int) -> Scores:
        """Return the score with every node at `position`, as one matrix product."""
        rows = np.broadcast_to(self.weights, (len(nodes), len(self.weights))).copy()
        for p, matrix in enumerate(self.matrices):
            if p != position:
                rows *= matrix[nodes[:, p]]
        return rows @ self.matrices[position].T

    def for_length(self, length: int) -> Factors:
        """Return factors for a set of another size: the mean over positions."""
        mean = np.mean(self.matrices, axis=0)
        return Factors(self.weights, [mean] * length)


@dataclass(kw_only=True, eq=False, repr=False)
class TensorDecomposition(Embedder):
    """CP decomposition of the tensor of hyperedges (pyttb).

    Parameters
    ----------
    dim : int
        The rank. If least squares have no unique solution with that many components, fewer are
        used and the embeddings are padded with zeros.
    loss : {"poisson", "gaussian"}
        Poisson counts with non-negative factors, or squared errors.
    max_iterations : int
    tolerance : float
        Iterations stop when the optimality conditions hold to this accuracy (Poisson) or the
        explained share of the tensor grows by less (squares).
    random_state : int
    verbose : bool
        Whether to show progress on standard error.

    Attributes
    ----------
    factors_ : dict of edge type to Factors

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> edges = [[0, 0, 0], [1, 0, 0], [2, 1, 1], [3, 1, 1]]
    >>> net = HyperNetwork.from_arrays({("a", "b", "c"): edges})
    >>> model = TensorDecomposition(dim=2, loss="gaussian").fit(net)
    >>> model.score(np.array([[0, 0, 0], [0, 1, 0]])).round(3) + 0.0
    array([1., 0.])
    """

    dim: int = 64
    loss: str = "poisson"
    max_iterations: int = 10
    tolerance: float = 1e-4
    random_state: int = 0
    verbose: bool = False

    def _fit(self, network: HyperNetwork) -> None:
        solvers = {"poisson": self._poisson, "gaussian": self._least_squares}
        if self.loss not in solvers:
            raise ParameterError(f"loss must be 'poisson' or 'gaussian', got {self.loss!r}")
        ttb = require("pyttb", extra="baselines")
        self.factors_: dict[EdgeType, Factors] = {}
        rng = np.random.default_rng(self.random_state)
        edge_sets = [e for e in network.edge_sets if len(e)]
        for edges in track(edge_sets, "tensor decomposition", verbose=self.verbose):
            nodes, weights = every_order(edges)
            sizes = tuple(network.position_sizes(edges.types).tolist())
            tensor = ttb.sptensor(np.array(nodes), np.array(weights)[:, None], sizes)
            self.factors_[edges.types] = solvers[self.loss](ttb, tensor, rng)
        self.embeddings_ = {t: self._vectors(t, network.num_nodes(t)) for t in network.node_types}

    def _poisson(self, ttb: Any, tensor: Any, rng: np.random.Generator) -> Factors:
        model, _, _ = ttb.cp_apr(
            tensor,
            self.dim,
            algorithm="mu",
            init=ttb.ktensor([rng.random((n, self.dim)) for n in tensor.shape]),
            stoptol=self.tolerance,
            maxiters=self.max_iterations,
            printitn=0,
        )
        return Factors.of(model)

    def _least_squares(self, ttb: Any, tensor: Any, rng: np.random.Generator) -> Factors:
        sizes = tensor.shape
        rank = min(self.dim, *(math.prod(sizes) // n for n in sizes))
        while rank:
            try:
                model, _, _ = ttb.cp_als(
                    tensor,
                    rank,
                    init=ttb.ktensor([rng.random((n, rank)) for n in sizes]),
                    stoptol=self.tolerance,
                    maxiters=self.max_iterations,
                    printitn=0,
                )
                factors = Factors.of(model)
                if all(np.isfinite(m).all() for m in factors.matrices):
                    return factors
            except np.linalg.LinAlgError:
                pass
            rank //= 2  # more components than the tensor has: no unique solution
        raise ParameterError("least squares failed; use loss='poisson'")

    def _vectors(self, node_type: str, n: int) -> npt.NDArray[np.float32]:
        parts = []
        for types, factors in self.factors_.items():
            # λ is shared between the factors, so that lengths are meaningful
            share = np.abs(factors.weights) ** (1 / len(types))
            parts += [
                matrix * share
                for t, matrix in zip(types, factors.matrices, strict=True)
                if t == node_type
            ]
        if not parts:
            return np.zeros((n, self.dim), dtype=np.float32)
        rows = np.concatenate(parts, axis=1)
        if rows.shape[1] > self.dim:
            _, axes = np.linalg.eigh(rows.T @ rows)
            rows = rows @ axes[:, ::-1][:, : self.dim]
        return padded(rows, self.dim).astype(np.float32)

    def _factors_of(self, edge_type: EdgeType) -> Factors:
        if edge_type in self.factors_:
            return self.factors_[edge_type]
        # sets of one node type: use the decomposition of the nearest size
        same = [t for t in self.factors_ if set(t) == set(edge_type)]
        if not same or len(set(edge_type)) > 1:
            raise ParameterError(f"there were no hyperedges of type {edge_type!r} to learn from")
        nearest = min(same, key=lambda t: abs(len(t) - len(edge_type)))
        return self.factors_[nearest].for_length(len(edge_type))

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        """Return the score of each tuple of ids."""
        return self._factors_of(edge_type).score(nodes)

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Scores:
        """Return each tuple's score with every node at `position`."""
        return self._factors_of(edge_type).score_candidates(nodes, position)


def every_order(edges: EdgeSet) -> tuple[NodeArray, FloatArray]:
    """Return (nodes, weights) of distinct hyperedges, unordered ones in every order of their nodes.

    Examples
    --------
    >>> from dhne.network.edges import EdgeSet
    >>> every_order(EdgeSet.build(("a", "a"), [[0, 1]], ordered=False))[0]
    array([[0, 1],
           [1, 0]])
    """
    folded = edges.fold()
    if not edges.types.has_sets:
        return folded.nodes, folded.weights
    groups = [list(group) for group in edges.types.groups]
    orders: list[list[int]] = []
    for choice in product(*(permutations(g) for g in groups)):
        order: list[Any] = [0] * edges.length
        for group, chosen in zip(groups, choice, strict=True):
            for p, q in zip(group, chosen, strict=True):
                order[p] = q
        orders.append(order)
        if len(orders) >= _MOST_ORDERS:
            break
    nodes = np.concatenate([folded.nodes[:, order] for order in orders])
    distinct, first = np.unique(nodes, axis=0, return_index=True)
    return distinct, np.tile(folded.weights, len(orders))[first]
