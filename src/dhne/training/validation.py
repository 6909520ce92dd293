"""The validation set: hyperedges held out of training and evaluated during it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from dhne.answers.calibration import Calibration
from dhne.answers.scorer import TupleScorer, encode_all
from dhne.kernels import Kernels, SparseMatrix
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
from dhne.model.products import Products
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

from .held_out_questions import held_out_questions


class ValidationSet:
    """Held-out hyperedges, each with as many fixed negatives as in the evaluation.

    `known` has the hyperedges of training and those held out. The set is empty (``len`` is 0) if
    too few are held out, or no negative exists.
    """

    def __init__(self, known: KnownEdges, held_out: HyperNetwork, *, seed: int) -> None:
        self.tuples = {}
        for edges in held_out.edge_sets:
            if len(edges):
                negatives = evaluation_negatives(edges, known, seed=seed, allow_fewer=True)
                nodes = np.concatenate([edges.nodes, negatives.nodes[negatives.valid]])
                target = np.zeros(len(nodes))
                target[: len(edges)] = 1
                if not target.all():
                    self.tuples[edges.types] = (nodes, target)

    def __len__(self) -> int:
        return sum(len(target) for _, target in self.tuples.values())

    def auc(
        self,
        model: DHNEModel,
        kernels: Kernels,
        sparse: Mapping[str, SparseMatrix],
        evidence: PairEvidence | None,
    ) -> float:
        """Return the model's current AUC over all edge types."""
        x = {t: encode_all(model, kernels, t, sparse[t]) for t in sparse}
        scorer = TupleScorer(model, x, evidence)
        with torch.no_grad():
            scores = [scorer.score(nodes, r) for r, (nodes, _) in self.tuples.items()]
        targets = [target for _, target in self.tuples.values()]
        return float(roc_auc_score(np.concatenate(targets), np.concatenate(scores)))

    def calibration(self, scorer: TupleScorer) -> Calibration | None:
        """Return the map from the scorer's logits to probabilities; None if they are not finite."""
        logits = np.concatenate([scorer.logits(nodes, r) for r, (nodes, _) in self.tuples.items()])
        is_edge = np.concatenate([target for _, target in self.tuples.values()]) == 1
        if not np.isfinite(logits).all():
            return None
        return Calibration.fit(logits[is_edge], logits[~is_edge])


class RankedHeldOut:
    """Held-out hyperedges to rank with products, at every position.

    Ranks are filtered by all known hyperedges; contexts are not ranked.
    """

    def __init__(
        self, train: HyperNetwork, held_out: HyperNetwork, products: Products, *, seed: int
    ) -> None:
        self.products = products
        context = products.evidence.context_position
        self._asked = [
            q
            for q in held_out_questions(train, held_out, limit=_RANKED_EDGES, seed=seed)
            if products.covers(q.types) and q.position != context(q.types)
        ]

    def mean_reciprocal_rank(self) -> float:
        """Return the current filtered MRR of the products."""
        device = next(self.products.parameters()).device
        found = []
        for q in self._asked:
            step = max(1, _LOGITS_AT_ONCE // max(q.num_candidates, 1))
            for start in range(0, len(q.nodes), step):
                ids = torch.from_numpy(q.nodes[start : start + step]).to(device)
                logits = self.products.open_logits(ids, q.types, q.position)
                own = logits.gather(1, ids[:, q.position : q.position + 1])
                here = (q.rows >= start) & (q.rows < start + step)
                at = torch.from_numpy(q.rows[here] - start), torch.from_numpy(q.answers[here])
                logits[at[0].to(device), at[1].to(device)] = -torch.inf
                rank = 1 + (logits > own).sum(1) + (logits == own).sum(1) / 2
                found.append((1 / rank.double()).cpu())
        return float(torch.cat(found).mean()) if found else 0.0


_RANKED_EDGES = 1000  # held-out hyperedges to rank
_LOGITS_AT_ONCE = 1 << 24
