"""The validation set: hyperedges carved from training, watched while it goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from dhne.answers.scorer import TupleScorer, encode_all
from dhne.kernels import Kernels, SparseMatrix
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
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
