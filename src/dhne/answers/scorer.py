"""Logits and scores of a trained model: of tuples, and of every candidate for a position.

Each node is projected once for every slot it can fill, and the projections are kept; the similarity
combines them to a logit (:mod:`dhne.model.similarities`). The positions of a set are sorted by id,
so that their order in the query does not change a single bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.kernels import Kernels, RowSelection, SparseMatrix
from dhne.kernels.reference import ReferenceKernels
from dhne.model.blend import Blend
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel
from dhne.model.products import Products
from dhne.model.similarities import QuickForm
from dhne.network.edges import EdgeType, NodeArray

_NUMBERS = 1 << 22  # numbers in one buffer of combined projections
_NON_ZEROS = 1 << 22  # non-zeros encoded at once
_ROWS = 1 << 16  # rows that workers encode at once


def encode_all(model: DHNEModel, kernels: Kernels, node_type: str, matrix: SparseMatrix) -> Tensor:
    """Return the embeddings of all nodes of a type, chunk by chunk."""
    coder = model.autoencoder(node_type)
    parts = list(encode_chunks(model, kernels, node_type, matrix))
    return torch.cat(parts) if parts else coder.encoder_bias.new_empty(0, coder.dim)


def encode_chunks(
    model: DHNEModel, kernels: Kernels, node_type: str, matrix: SparseMatrix
) -> Iterator[Tensor]:
    """Yield the embeddings of all nodes of a type, some at a time.

    Workers, who have different columns of the rows, must take the same rows at a time.
    """
    coder = model.autoencoder(node_type)
    if coder.join is None:
        chunks: Iterable[Tensor] = _chunks(matrix.indptr.cpu().numpy())
    else:
        chunks = torch.arange(matrix.num_rows).split(_ROWS)  # type: ignore[no-untyped-call]
    for rows in chunks:
        selection = RowSelection(matrix, rows.to(matrix.indptr.device))
        with torch.no_grad():
            x = coder.encode(kernels, kernels.prepare(selection))
        yield x


def _chunks(indptr: npt.NDArray[np.int64]) -> list[Tensor]:
    """Split rows into runs with a bounded number of non-zeros and rows."""
    n = len(indptr) - 1
    cuts = [0]
    while cuts[-1] < n:
        reach = int(np.searchsorted(indptr, indptr[cuts[-1]] + _NON_ZEROS, side="right")) - 1
        cuts.append(min(max(reach, cuts[-1] + 1), cuts[-1] + _NON_ZEROS, n))
    return [torch.arange(a, b) for a, b in pairwise(cuts)]


class TupleScorer:
    """Scores tuples with a trained model's similarities, on the device of its embeddings.

    Parameters
    ----------
    model : DHNEModel
    embeddings : mapping of node type to float[n, d]
    evidence : PairEvidence, optional
    products : Products, optional
        On the same device; `blend` weighs them against the similarity's logits.
    """

    def __init__(
        self,
        model: DHNEModel,
        embeddings: Mapping[str, Tensor],
        evidence: PairEvidence | None,
        products: Products | None = None,
        blend: Blend | None = None,
    ) -> None:
        self.model, self.embeddings = model, embeddings
        self._evidence = evidence
        self.products, self.blend = products, blend or Blend()
        self._projected: dict[tuple[int, int, str], Tensor] = {}
        self._kernels = ReferenceKernels()
        self._device = next(model.parameters()).device

    def projected(self, edge_type: EdgeType, position: int) -> Tensor:
        """Return the projections of all nodes of a position's type; kept for the next question."""
        similarity = self.model.similarity(edge_type)
        slot, node_type = edge_type.slots[position], edge_type[position]
        key = (id(similarity), slot, node_type)
        if key not in self._projected:
            with torch.no_grad():
                self._projected[key] = similarity.project(self.embeddings[node_type], slot)
        return self._projected[key]

    # -- whole tuples ----------------------------------------------------------------------------

    def logits(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return the logits of tuples ``int64[m, N]``, products included."""
        if not self._uses_products(edge_type):
            return self.similarity_logits(nodes, edge_type)
        h = np.zeros(len(nodes))
        if self.blend.similarity:
            h = self.similarity_logits(nodes, edge_type)
        return self.blend(h, self.product_logits(nodes, edge_type))

    def _uses_products(self, edge_type: EdgeType) -> bool:
        covered = self.products is not None and self.products.covers(edge_type)
        return covered and bool(self.blend.products)

    def product_logits(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return ρ of tuples; 0 for edge types without a product."""
        out = np.zeros(len(nodes))
        if self.products is None or not self.products.covers(edge_type):
            return out
        step = max(1, _NUMBERS // self.products.dim)
        for start in range(0, len(nodes), step):
            ids = torch.from_numpy(np.array(nodes[start : start + step])).to(self._device)
            out[start : start + step] = self.products.logits(ids, edge_type).double().cpu().numpy()
        return out

    def similarity_logits(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return the logits of the similarity alone."""
        similarity = self.model.similarity(edge_type)
        parts = [self.projected(edge_type, p) for p in range(len(edge_type))]
        step = max(1, _NUMBERS // max(similarity.width, 1))
        out = np.empty(len(nodes), dtype=np.float64)
        nodes = edge_type.canonical(nodes)
        with torch.no_grad():
            for start in range(0, len(nodes), step):
                ids = torch.from_numpy(nodes[start : start + step]).to(parts[0].device)
                known = None
                if self._evidence is not None and similarity.uses_evidence:
                    known = self._evidence.features(ids, edge_type)
                found = similarity.combine(self._kernels, parts, ids, known)
                out[start : start + step] = found.double().cpu().numpy()
        return out

    def score(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return S of tuples ``int64[m, N]``."""
        return _sigmoid(self.logits(nodes, edge_type))

    # -- what each part of a tuple adds ----------------------------------------------------------

    def node_effects(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return ``[N]``: the logit minus the logit with the average node at each position."""
        similarity = self.model.similarity(edge_type)
        ids = torch.from_numpy(nodes[None]).to(self._device)
        with torch.no_grad():
            every = [self.projected(edge_type, p) for p in range(len(edge_type))]
            parts = [
                torch.stack([part[v], part.mean(0)]) for part, v in zip(every, nodes, strict=True)
            ]
            rows = len(edge_type) + 1  # row p has the average node at p, the last row none
            known = None
            if self._evidence is not None and similarity.uses_evidence:
                known = self._evidence.features(ids, edge_type).repeat(rows, 1)
            index = torch.eye(rows, len(edge_type), dtype=torch.int64, device=self._device)
            logits = similarity.combine(self._kernels, parts, index, known).double().cpu().numpy()
        effects: npt.NDArray[np.float64] = logits[-1] - logits[:-1]
        if not self._uses_products(edge_type):
            return effects
        rho = self.product_logits(nodes[None], edge_type)[0]
        average = [
            self.product_candidates(nodes[None], edge_type, p).mean() for p in range(len(edge_type))
        ]
        both: npt.NDArray[np.float64] = self.blend.similarity * effects
        both += self.blend.products * (rho - np.array(average))
        return both

    def product_effect(self, nodes: NodeArray, edge_type: EdgeType) -> float | None:
        """Return what the products add to the logit; None if they are not used."""
        if not self._uses_products(edge_type):
            return None
        rho = self.product_logits(nodes[None], edge_type)[0]
        return float(self.blend.products * rho)

    def pair_effects(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64] | None:
        """Return ``[pairs]``: the logit minus the logit if the pair had nothing in common.

        None if the similarity does not use evidence.
        """
        similarity = self.model.similarity(edge_type)
        if self._evidence is None or not similarity.uses_evidence:
            return None
        ids = torch.from_numpy(nodes[None]).to(self._device)
        with torch.no_grad():
            parts = [self.projected(edge_type, p) for p in range(len(edge_type))]
            known = self._evidence.features(ids, edge_type)
            known = torch.cat([self._evidence.without_pair(ids, edge_type), known])
            index = ids.repeat(len(known), 1)
            logits = similarity.combine(self._kernels, parts, index, known).double().cpu().numpy()
        effects: npt.NDArray[np.float64] = logits[-1] - logits[:-1]
        return self.blend.similarity * effects if self._uses_products(edge_type) else effects

    # -- an open position ------------------------------------------------------------------------

    def fixed(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Tensor:
        """Return ``float[m, width]``: the nodes at all positions but the open one, combined."""
        others = [p for p in range(len(edge_type)) if p != position]
        ids = edge_type.without(position).canonical(nodes[:, others])
        parts = [self.projected(edge_type, p) for p in others]
        with torch.no_grad():
            index = torch.from_numpy(ids).to(parts[0].device)
            return self.model.similarity(edge_type).fixed(parts, index)

    def has_quick_form(self, edge_type: EdgeType) -> bool:
        """Whether the similarity of an edge type has a quick form."""
        return self.model.similarity(edge_type).has_quick_form and not self._uses_products(
            edge_type
        )

    def quick_form(self, edge_type: EdgeType, position: int) -> QuickForm | None:
        """Return the quick form of a position, if the similarity has one."""
        if self._uses_products(edge_type):
            return None
        candidates = self.projected(edge_type, position)
        return self.model.similarity(edge_type).quick_form(candidates)

    def candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return S ``[m, n]`` of each tuple with every node of the type at `position`."""
        if not self._uses_products(edge_type):
            return _sigmoid(self.similarity_candidates(nodes, edge_type, position))
        n = len(self.embeddings[edge_type[position]])
        h = np.zeros((len(nodes), n))
        if self.blend.similarity:
            h = self.similarity_candidates(nodes, edge_type, position)
        return _sigmoid(self.blend(h, self.product_candidates(nodes, edge_type, position)))

    def product_candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return ρ of each tuple with every node, the same for all nodes added after training."""
        out = np.zeros((len(nodes), len(self.embeddings[edge_type[position]])))
        if self.products is None or not self.products.covers(edge_type):
            return out
        own = self.products.sizes[edge_type[position]]
        step = max(1, _NUMBERS // max(own, 1))
        for start in range(0, len(nodes), step):
            ids = torch.from_numpy(np.array(nodes[start : start + step])).to(self._device)
            found = self.products.open_logits(ids, edge_type, position)
            out[start : start + step, :own] = found.double().cpu().numpy()
            if own < out.shape[1]:
                ids[:, position] = own
                found = self.products.logits(ids, edge_type)[:, None]
                out[start : start + step, own:] = found.double().cpu().numpy()
        return out

    def similarity_candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return the similarity's logit of each tuple with every node."""
        similarity = self.model.similarity(edge_type)
        candidates, fixed = (
            self.projected(edge_type, position),
            self.fixed(nodes, edge_type, position),
        )
        out = np.empty((len(nodes), len(candidates)), dtype=np.float64)
        counts = self._evidence if similarity.uses_evidence else None
        step = max(1, _NUMBERS // max(len(candidates), 1))
        with torch.no_grad():
            for start in range(0, len(nodes), step):
                questions = fixed[start : start + step]
                if counts is None:
                    found = similarity.open_logits(questions, candidates, None)
                else:
                    ids = torch.from_numpy(nodes[start : start + step].copy()).to(self._device)
                    known = counts.open_evidence(ids, edge_type, position)
                    found = similarity.logits_with_evidence(questions, candidates, known)
                out[start : start + step] = found.double().cpu().numpy()
        return out


def _sigmoid(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    scores: npt.NDArray[np.float64] = torch.sigmoid(torch.from_numpy(logits)).numpy()
    return scores
