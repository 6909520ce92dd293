"""How much the products count beside the tuplewise similarity, chosen on held-out hyperedges.

The logit of a tuple is

    ω h + γ (ρ − μ) / s,

h the logit of the similarity, ρ that of the products, μ and s the mean and the spread of ρ over
held-out hyperedges and their negatives. (ω, γ) is the pair of a short list with the largest
mean reciprocal rank of a hyperedge's own node among a hundred random ones at every position, less
twenty times what it loses in AUC against negatives; without products unless they gain more than
twice the standard error of the gain, and without the similarity if that costs less than the
standard error of the difference. So a network whose rows tell nobody apart is ranked by products
alone, and one that they do not help keeps the similarity as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from dhne.model.blend import Blend
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

Floats = npt.NDArray[np.float64]
Logits = Callable[[NodeArray, EdgeType], Floats]

CHOICES = (  # (ω, γ)
    *((1.0, 0.0), (1.0, 0.25), (1.0, 0.5), (1.0, 1.0), (1.0, 2.0), (1.0, 4.0)),
    (0.0, 1.0),
)
_COST_OF_AUC = 20.0  # a thousandth of the AUC is worth two hundredths of the MRR
_HYPEREDGES = 1000  # held-out hyperedges that are ranked
_RIVALS = 100  # random nodes that each is ranked among


class HeldOutTuples:
    """Held-out hyperedges with negatives and with random rivals at every position."""

    def __init__(self, train: HyperNetwork, held_out: HyperNetwork, *, seed: int) -> None:
        rng = np.random.default_rng([seed, 2])
        known = KnownEdges(train, held_out)
        self.against: list[tuple[EdgeType, NodeArray, npt.NDArray[np.bool_]]] = []
        self.rivals: list[tuple[EdgeType, NodeArray, npt.NDArray[np.bool_]]] = []
        total = max(held_out.num_edges(), 1)
        for edges in held_out.edge_sets:
            if not len(edges):
                continue
            drawn = evaluation_negatives(edges, known, seed=seed, allow_fewer=True)
            nodes = np.concatenate([edges.nodes, drawn.nodes[drawn.valid]])
            self.against.append((edges.types, nodes, np.arange(len(nodes)) < len(edges)))
            share = min(1.0, _HYPEREDGES / total)
            chosen = edges.nodes[rng.random(len(edges)) <= share]
            for p, n in enumerate(train.position_sizes(edges.types).tolist()):
                tuples = np.repeat(chosen[:, None], 1 + _RIVALS, axis=1)
                tuples[:, 1:, p] = rng.integers(n, size=(len(chosen), _RIVALS))
                flat = tuples.reshape(-1, edges.length)
                rival = ~known.contains(flat, edges.types).reshape(len(chosen), 1 + _RIVALS)
                rival[:, 0] = False
                self.rivals.append((edges.types, flat, rival))

    def choose(self, similarity: Logits, products: Logits) -> Blend:
        """Return the blend with the best validation measures."""
        pairs = [(r, n, is_edge) for r, n, is_edge in self.against]
        h = np.concatenate([similarity(n, r) for r, n, _ in pairs])
        rho = np.concatenate([products(n, r) for r, n, _ in pairs])
        is_edge = np.concatenate([is_edge for _, _, is_edge in pairs])
        mean, spread = float(rho.mean()), float(rho.std()) or 1.0
        ranked = [(similarity(n, r), products(n, r), rival) for r, n, rival in self.rivals]
        alone = _reciprocal_ranks(Blend(), ranked)
        if not len(alone):
            return Blend()
        measured = []
        for omega, gamma in CHOICES:
            blend = Blend(omega, gamma / spread, -gamma * mean / spread)
            cost = _auc(is_edge, h) - _auc(is_edge, blend(h, rho))
            gain = _reciprocal_ranks(blend, ranked) - alone - _COST_OF_AUC * max(0.0, cost)
            measured.append((blend, gain))
        best, gain = max(measured, key=lambda found: found[1].mean())
        if gain.mean() <= 2 * _standard_error(gain):
            return Blend()
        only, without = measured[-1]  # as good without the similarity: answers are then faster
        return only if (gain - without).mean() <= _standard_error(gain - without) else best


def _auc(is_edge: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Return the AUC; 1/2 where there is nothing to tell apart."""
    if is_edge.all() or not is_edge.any():
        return 0.5
    return float(roc_auc_score(is_edge, scores))


def _standard_error(values: Floats) -> float:
    return float(values.std() / np.sqrt(len(values)))


def _reciprocal_ranks(
    blend: Blend, ranked: list[tuple[Floats, Floats, npt.NDArray[np.bool_]]]
) -> Floats:
    found = []
    for h, rho, rival in ranked:
        scores = blend(h, rho).reshape(rival.shape)
        own = scores[:, :1]
        higher = ((scores > own) & rival).sum(1) + ((scores == own) & rival).sum(1) / 2
        found.append(1 / (1 + higher))
    return np.concatenate(found) if found else np.empty(0)
