"""The validation set: hyperedges carved from training, watched while it goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from dhne.answers.calibration import Calibration
from dhne.answers.known_completions import KnownCompletions
from dhne.answers.scorer import TupleScorer, encode_all
from dhne.kernels import Kernels, SparseMatrix
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
from dhne.model.products import Products
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives


class ValidationSet:
    """Held-out hyperedges and as many fixed negatives a piece as the evaluation draws.

    There is nothing to watch (``len`` is 0) where too few are held out, or no negative exists.
    """

    def __init__(self, train: HyperNetwork, held_out: HyperNetwork, *, seed: int) -> None:
        known = KnownEdges(train, held_out)
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
        """Return the AUC of the model as it is, over all edge types together."""
        x = {t: encode_all(model, kernels, t, sparse[t]) for t in sparse}
        scorer = TupleScorer(model, x, evidence)
        with torch.no_grad():
            scores = [scorer.score(nodes, r) for r, (nodes, _) in self.tuples.items()]
        targets = [target for _, target in self.tuples.values()]
        return float(roc_auc_score(np.concatenate(targets), np.concatenate(scores)))

    def calibration(self, scorer: TupleScorer) -> Calibration | None:
        """Return what makes probabilities of the scorer's logits; None if these are not finite."""
        logits = np.concatenate([scorer.logits(nodes, r) for r, (nodes, _) in self.tuples.items()])
        is_edge = np.concatenate([target for _, target in self.tuples.values()]) == 1
        if not np.isfinite(logits).all():
            return None
        return Calibration.fit(logits[is_edge], logits[~is_edge])


class RankedHeldOut:
    """Held-out hyperedges whose own nodes products should rank first, at every position.

    Ranks are filtered by all known hyperedges; a context is not ranked.
    """

    def __init__(
        self, train: HyperNetwork, held_out: HyperNetwork, products: Products, *, seed: int
    ) -> None:
        self.products = products
        rng = np.random.default_rng([seed, 3])
        share = min(1.0, _RANKED / max(held_out.num_edges(), 1))
        both = train.merge(held_out, fold=False)
        self._asked = []
        for edges in held_out.edge_sets:
            nodes = edges.nodes[rng.random(len(edges)) <= share]
            if not len(nodes) or not products.covers(edges.types):
                continue
            sizes = train.position_sizes(edges.types)
            for p in range(edges.length):
                if p != products.evidence.context_position(edges.types):
                    known = KnownCompletions.build(both.edge_set(edges.types), sizes, p)
                    self._asked.append((edges.types, p, nodes, *known.of(known.contexts(nodes))))

    def mean_reciprocal_rank(self) -> float:
        """Return the filtered MRR of the products as they are."""
        device = next(self.products.parameters()).device
        found = []
        for types, p, nodes, rows, answers in self._asked:
            n = self.products.sizes[types[p]]
            step = max(1, _CHUNK // max(n, 1))
            for start in range(0, len(nodes), step):
                ids = torch.from_numpy(nodes[start : start + step]).to(device)
                logits = self.products.open_logits(ids, types, p)
                own = logits.gather(1, ids[:, p : p + 1])
                here = (rows >= start) & (rows < start + step)
                at = torch.from_numpy(rows[here] - start), torch.from_numpy(answers[here])
                logits[at[0].to(device), at[1].to(device)] = -torch.inf
                rank = 1 + (logits > own).sum(1) + (logits == own).sum(1) / 2
                found.append((1 / rank.double()).cpu())
        return float(torch.cat(found).mean()) if found else 0.0


_RANKED = 1000  # held-out hyperedges that are ranked
_CHUNK = 1 << 24  # logits at once
