"""HEBE: hyperedge-based embedding (Gui et al., 2016), predicting each node from the others.

With one vector w per node, the score of a target u for the rest C of its hyperedge is

    S(u, C) = w_uᵀ Σ_{c∈C} w_c.

The probability of u given C is learned by noise pairwise ranking: for a hyperedge drawn in
proportion to its weight, a position drawn uniformly as the target, and noise nodes v of the
target's type drawn in proportion to degree^{3/4}, stochastic gradients descend

    −Σ_v log σ(S(u, C) − S(v, C)) + (decay/2) ‖w‖².

The score of a tuple is the mean of S over its N possible targets divided by N − 1: the mean inner
product of its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhne.embedder import Embedder, Scores

from .alias import AliasTable
from .clique import global_ids, node_offsets, split_rows
from .progress import track

if TYPE_CHECKING:
    from dhne.network.edges import EdgeSet, EdgeType, NodeArray
    from dhne.network.hypernetwork import HyperNetwork

_SAMPLES_AT_ONCE = 1 << 17
_LOWEST_RATE = 1e-4  # of the first learning rate


@dataclass(kw_only=True, eq=False, repr=False)
class HEBE(Embedder):
    """Each node of a hyperedge predicted from the others.

    Parameters
    ----------
    dim : int
    negatives : int
        Noise nodes per target.
    epochs : int
        Samples drawn, in multiples of the number of hyperedges.
    min_samples : int
        Minimum number of samples, so that small networks are also trained enough.
    learning_rate : float
        Initial value; it falls linearly.
    decay : float
        Weight of the squared-norm penalty.
    noise_power : float
        Noise nodes are drawn in proportion to their degree to this power.
    random_state : int
    verbose : bool
        Whether to show progress on standard error.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> edges = [[0, 0, 0], [1, 0, 0], [2, 1, 1], [3, 1, 1]]
    >>> net = HyperNetwork.from_arrays({("a", "b", "c"): edges})
    >>> model = HEBE(dim=8, min_samples=10_000).fit(net)
    >>> scores = model.score(np.array([[0, 0, 0], [0, 1, 0]]))
    >>> bool(scores[0] > scores[1])
    True
    """

    dim: int = 64
    negatives: int = 5
    epochs: int = 200
    min_samples: int = 1_000_000
    learning_rate: float = 0.025
    decay: float = 0.01
    noise_power: float = 0.75
    random_state: int = 0
    verbose: bool = False

    def _fit(self, network: HyperNetwork) -> None:
        from .compiled import hebe_steps

        rng = np.random.default_rng(self.random_state)
        offsets, sizes = node_offsets(network)
        vectors = ((rng.random((sum(sizes.values()), self.dim)) - 0.5) / self.dim).astype(
            np.float32
        )
        draws = [_Draws(e, offsets, sizes, self.noise_power) for e in network.edge_sets if len(e)]
        total = max(self.epochs * network.num_edges(), self.min_samples)
        share = np.array([d.weight for d in draws]) / sum(d.weight for d in draws)
        for start in track(range(0, total, _SAMPLES_AT_ONCE), "HEBE", verbose=self.verbose):
            size = min(_SAMPLES_AT_ONCE, total - start)
            counts = rng.multinomial(size, share)
            left = 1 - np.arange(start, start + size) / total
            rates = self.learning_rate * np.maximum(left, _LOWEST_RATE)
            for draw, count in zip(draws, counts.tolist(), strict=True):
                edges, positions, negatives = draw.draw(count, self.negatives, rng)
                hebe_steps(vectors, edges, positions, negatives, rates[:count], self.decay)
        self.embeddings_ = split_rows(vectors, offsets, sizes)

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        """Return the score of each tuple of ids."""
        rows = [self.embeddings_[t][nodes[:, p]] for p, t in enumerate(edge_type)]
        return _pair_sums(rows, len(nodes)) / _num_pairs(len(edge_type))

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Scores:
        """Return each tuple's score with every node at `position`."""
        others = [p for p in range(len(edge_type)) if p != position]
        rows = [self.embeddings_[edge_type[p]][nodes[:, p]] for p in others]
        context = np.sum(rows, axis=0)
        scores: Scores = np.asarray(context @ self.embeddings_[edge_type[position]].T, np.float64)
        scores += _pair_sums(rows, len(nodes))[:, None]
        return scores / _num_pairs(len(edge_type))


class _Draws:
    """Draws hyperedges of one type, target positions and noise nodes of the targets' types."""

    def __init__(
        self, edges: EdgeSet, offsets: dict[str, int], sizes: dict[str, int], power: float
    ) -> None:
        self.nodes = global_ids(edges.nodes, edges.types, offsets)
        self.rows = AliasTable(edges.weights)
        self.weight = float(edges.weights.sum())
        self.noise = []
        for t, start in ((t, offsets[t]) for t in edges.types):
            degree = np.zeros(sizes[t])
            for p, other in enumerate(edges.types):
                if other == t:
                    degree += np.bincount(edges.nodes[:, p], edges.weights, minlength=sizes[t])
            table = AliasTable(np.where(degree > 0, degree, 1) ** power * (degree > 0))
            self.noise.append((start, table))

    def draw(
        self, count: int, negatives: int, rng: np.random.Generator
    ) -> tuple[NodeArray, NodeArray, NodeArray]:
        edges = self.nodes[self.rows.draw(count, rng)]
        positions = rng.integers(edges.shape[1], size=count)
        noise = np.empty((count, negatives), dtype=np.int64)
        for p, (start, table) in enumerate(self.noise):
            here = np.flatnonzero(positions == p)
            noise[here] = start + table.draw((len(here), negatives), rng)
        return edges, positions, noise


def _pair_sums(rows: list[npt.NDArray[np.float32]], m: int) -> Scores:
    """Return Σ_{p<q} x_p·x_q of each tuple."""
    total = np.zeros(m)
    running = np.zeros_like(rows[0], dtype=np.float64)
    for row in rows:
        total += np.einsum("ij,ij->i", running, row)
        running += row
    return total


def _num_pairs(length: int) -> int:
    return length * (length - 1) // 2
