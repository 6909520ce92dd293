"""Answers of a trained model: scores of tuples, and of every candidate for an open position.

Each node is projected once, U_p x_v for every position; a tuple's pre-activation is then a sum of
rows, and all candidates of a position are one addition away from theirs. Where positions are a set,
they are summed in the order of their ids, so that the order they are asked in changes no bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.kernels import Kernels, RowSelection, SparseMatrix
from dhne.kernels.reference import ReferenceKernels
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
from dhne.network.edges import EdgeType, NodeArray

_CHUNK = 1 << 23  # numbers in one hidden layer's buffer
_CACHED = 1 << 20  # the same where it is passed over several times: what a core's cache holds
_NON_ZEROS = 1 << 22  # non-zeros encoded at once


def encode_all(model: DHNEModel, kernels: Kernels, node_type: str, matrix: SparseMatrix) -> Tensor:
    """Return the embeddings of all nodes of a type, chunk by chunk."""
    coder = model.autoencoder(node_type)
    parts = []
    with torch.no_grad():
        for rows in _chunks(matrix.indptr.cpu().numpy()):
            selection = RowSelection(matrix, rows.to(matrix.indptr.device))
            parts.append(coder.encode(kernels, kernels.prepare(selection)))
    return torch.cat(parts) if parts else coder.encoder_bias.new_empty(0, coder.dim)


def _chunks(indptr: npt.NDArray[np.int64]) -> list[Tensor]:
    """Cut rows into runs of a bounded number of non-zeros and rows."""
    n = len(indptr) - 1
    cuts = [0]
    while cuts[-1] < n:
        reach = int(np.searchsorted(indptr, indptr[cuts[-1]] + _NON_ZEROS, side="right")) - 1
        cuts.append(min(max(reach, cuts[-1] + 1), cuts[-1] + _NON_ZEROS, n))
    return [torch.arange(a, b) for a, b in pairwise(cuts)]


class TupleScorer:
    """Scores tuples with a trained model's similarities, where its embeddings are.

    Parameters
    ----------
    model : DHNEModel
    embeddings : mapping of node type to float[n, d]
    evidence : PairEvidence, optional
    """

    def __init__(
        self,
        model: DHNEModel,
        embeddings: Mapping[str, Tensor],
        evidence: PairEvidence | None,
    ) -> None:
        self.model, self.embeddings, self.evidence = model, embeddings, evidence
        self._projected: dict[tuple[int, int, str], Tensor] = {}
        self._kernels = ReferenceKernels()

    def projected(self, edge_type: EdgeType, position: int) -> Tensor:
        """Return U_p x_v of all nodes of a position's type, kept for the next question."""
        similarity = self.model.similarity(edge_type)
        node_type = edge_type[position]
        key = (id(similarity), edge_type.slots[position], node_type)
        if key not in self._projected:
            with torch.no_grad():
                x = self.embeddings[node_type]
                self._projected[key] = similarity.project(x, position, edge_type)
        return self._projected[key]

    def score(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return S of tuples ``int64[m, N]``."""
        similarity = self.model.similarity(edge_type)
        parts = [self.projected(edge_type, p) for p in range(len(edge_type))]
        step = max(1, _CHUNK // max(similarity.hidden_bias.shape[0], 1))
        out = np.empty(len(nodes), dtype=np.float64)
        nodes = edge_type.canonical(nodes)
        with torch.no_grad():
            for start in range(0, len(nodes), step):
                ids = torch.from_numpy(nodes[start : start + step]).to(parts[0].device)
                total = self._kernels.gather_sum(parts, ids).add_(similarity.hidden_bias)
                out[start : start + step] = self._finish(total, ids, edge_type)
        return out

    def candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return S ``[m, n]`` of each tuple with every node of the type at `position`."""
        similarity = self.model.similarity(edge_type)
        open_part = self.projected(edge_type, position)
        n, h = open_part.shape
        others = [p for p in range(len(edge_type)) if p != position]
        out = np.empty((len(nodes), n), dtype=np.float64)
        step = max(1, (_CACHED if similarity.evidence is None else _CHUNK) // h)
        buffer = open_part.new_empty(min(step, n), h)
        with torch.no_grad():
            for row, tuple_ids in enumerate(nodes):
                if edge_type.has_sets:
                    others.sort(key=lambda p: (edge_type[p], tuple_ids[p]))
                fixed = sum(self.projected(edge_type, p)[int(tuple_ids[p])] for p in others)
                fixed = fixed + similarity.hidden_bias  # once for all candidates
                for start in range(0, n, step):
                    part = open_part[start : start + step]
                    total = torch.add(part, fixed, out=buffer[: len(part)])
                    ids = None
                    if similarity.evidence is not None:
                        every = np.repeat(tuple_ids[None], len(part), axis=0)
                        every[:, position] = np.arange(start, start + len(part))
                        every = edge_type.canonical(every)
                        ids = torch.from_numpy(every).to(part.device)
                    out[row, start : start + step] = self._finish(total, ids, edge_type)
        return out

    def _finish(
        self, total: Tensor, ids: Tensor | None, edge_type: EdgeType
    ) -> npt.NDArray[np.float64]:
        """Return S from the sum over positions and b, which is overwritten."""
        evidence = None
        if self.evidence is not None and ids is not None:
            evidence = self.evidence.features(ids, edge_type)
        logits = self.model.similarity(edge_type).finish(total, evidence)
        scores: npt.NDArray[np.float64] = torch.sigmoid(logits.double()).cpu().numpy()
        return scores
