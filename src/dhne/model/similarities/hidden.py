"""The paper's similarity: a hidden layer over the sum of all positions.

    logit = w · σ(Σ_p U_p x_p + b + z Z) + c

with z the tuple's evidence, if any. The sum over positions makes it cheap: each distinct node is
projected once, a tuple costs only additions, and each candidate for an open position one more.

For a single layer with tanh or the sigmoid, the sum factorises further,

    tanh(a + b) = 1 − 2 / (1 + e^{2a} e^{2b}),    sigmoid(a + b) = 1 / (1 + e^{−a} e^{−b}),

so with e^{2a} stored for every candidate (`Reciprocals`), a query costs one product, one sum and
one division per candidate and hidden unit, and no exponential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dhne.kernels import Kernels
from dhne.model.activations import ACTIVATIONS
from dhne.model.open_evidence import OpenEvidence
from dhne.network.edges import NodeArray

from .base import Floats, Members, QuickForm, Similarity, SimilarityShape, glorot_uniform

_CACHED = 1 << 20  # numbers processed at once, so that they fit in a core's cache
_MANY = 2048  # candidates, from which on compiled code scores them
_LONG = 16  # positions; longer tuples are summed by the kernels of families
_EXPONENT = 40.0  # e^40 · e^40 is still a float32
_TABLE_BYTES = 1 << 30  # a larger table of exponentials is not built


class HiddenSimilarity(Similarity):
    """w · σ(Σ_p U_p x_p + b + z Z) + c, with further dense layers if `hidden` has several sizes."""

    def __init__(self, shape: SimilarityShape) -> None:
        super().__init__(shape)
        hidden = list(shape.hidden) or [_default_size(shape)]
        self.projections = nn.ParameterList(  # U, one per slot
            nn.Parameter(torch.empty(shape.sizes[t], hidden[0])) for t in shape.edge_type.slot_types
        )
        self.hidden_bias = nn.Parameter(torch.zeros(hidden[0]))  # b
        self.hidden_layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(hidden))
        self.output = nn.Parameter(torch.empty(hidden[-1]))  # w
        self.output_bias = nn.Parameter(torch.zeros(1))  # c
        self.evidence = (  # Z
            nn.Parameter(torch.empty(shape.num_features, hidden[0])) if shape.num_features else None
        )

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Use a saved layer's size, and ignore evidence features of sets that it lacks.

        Earlier versions sized a set's layer as for one node and had fewer features of sets.
        """
        saved = state.get(prefix + "hidden_bias")
        if saved is not None and not self.shape.hidden and len(saved) != self.width:
            self.__init__(replace(self.shape, hidden=(len(saved),)))  # type: ignore[misc]
        known = state.get(prefix + "evidence")
        if known is not None and self.evidence is not None and len(known) < len(self.evidence):
            more = known.new_zeros(len(self.evidence) - len(known), known.shape[1])
            state[prefix + "evidence"] = torch.cat([known, more])
        super()._load_from_state_dict(state, prefix, *rest)

    @property
    def width(self) -> int:
        """The size of the first hidden layer."""
        return len(self.hidden_bias)

    @property
    def has_quick_form(self) -> bool:
        """Whether the layer factorises: a single tanh or sigmoid layer, without evidence."""
        comes_apart = self.shape.activation in ("tanh", "sigmoid")
        return comes_apart and not len(self.hidden_layers) and not self.uses_evidence

    def reset(self, generator: torch.Generator) -> None:
        """Redraw the weights (Glorot uniform)."""
        fan_in = sum(len(u) for u in self.projections)
        for u in self.projections:
            glorot_uniform(u, fan_in + u.shape[1], generator)
        if self.evidence is not None:
            glorot_uniform(self.evidence, sum(self.evidence.shape), generator)
        for layer in self.hidden_layers:
            assert isinstance(layer, nn.Linear)
            glorot_uniform(layer.weight, sum(layer.weight.shape), generator)
            with torch.no_grad():
                layer.bias.zero_()
        glorot_uniform(self.output, len(self.output) + 1, generator)

    def project(self, x: Tensor, slot: int) -> Tensor:
        """Return U x for every row of `x`."""
        projection: Tensor = self.projections[slot]
        return x @ projection

    def combine(
        self, kernels: Kernels, parts: Sequence[Tensor], index: Tensor, evidence: Tensor | None
    ) -> Tensor:
        """Sum the projections of each tuple's nodes and apply the layers."""
        if len(parts) > _LONG and index.device.type == "cpu":
            return self._combine_long(kernels, parts, index, evidence)
        # On a CPU, _finish gives a set the same bits at any index among the tuples.
        same_bits = self.shape.edge_type.has_sets and index.device.type == "cpu"
        if self.shape.activation == "tanh" and not self.hidden_layers and not same_bits:
            known = (evidence, self.evidence) if evidence is not None else (None, None)
            layer = (self.hidden_bias, self.output)
            return kernels.hidden_layer(parts, index, *layer, *known) + self.output_bias
        return self._finish(kernels.gather_sum(parts, index) + self.hidden_bias, evidence)

    def _combine_long(
        self, kernels: Kernels, parts: Sequence[Tensor], index: Tensor, evidence: Tensor | None
    ) -> Tensor:
        """Combine long tuples like families, to avoid compiling a kernel for every length."""
        m, n = index.shape
        first = torch.tensor([0, *(len(p) for p in parts[:-1])], device=index.device).cumsum(0)
        begins = torch.arange(0, m * n + 1, n, device=index.device)
        total = kernels.ragged_sum(torch.cat(list(parts)), (index + first).reshape(-1), begins)
        return self._finish(total + self.hidden_bias, evidence)

    def family_logits(
        self, kernels: Kernels, x: Sequence[Tensor], members: Members, evidence: Tensor | None
    ) -> Tensor:
        """Sum the projections of each tuple's members, for all sizes at once."""
        parts = [self.project(e, slot) for slot, e in enumerate(x)]
        index, part = members.index, parts[0]
        if len(parts) > 1:
            first = torch.tensor([0, *(len(p) for p in parts[:-1])], device=index.device)
            index, part = index + first.cumsum(0)[members.slots], torch.cat(parts)
        if self.shape.activation == "tanh" and not self.hidden_layers:
            known = (evidence, self.evidence) if evidence is not None else (None, None)
            layer = (self.hidden_bias, self.output)
            return kernels.ragged_layer(part, index, members.begins, *layer, *known) + (
                self.output_bias
            )
        total = kernels.ragged_sum(part, index, members.begins) + self.hidden_bias
        return self._finish(total, evidence)

    def fixed(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return the sum over the given positions, and b."""
        total = parts[0][index[:, 0]]
        for p in range(1, len(parts)):
            total = total + parts[p][index[:, p]]
        return total + self.hidden_bias

    def open_logits(self, fixed: Tensor, candidates: Tensor, evidence: Tensor | None) -> Tensor:
        """Add every candidate to each query, in blocks that fit in the cache."""
        n, width = candidates.shape
        if evidence is None and n >= _MANY and self._can_be_compiled(candidates):
            return self._open_layer(candidates, fixed, None)
        out = candidates.new_empty(len(fixed), n)
        step = max(1, _CACHED // width) if candidates.device.type == "cpu" else n
        buffer = candidates.new_empty(min(step, n), width)
        for row, question in enumerate(fixed):
            for start in range(0, n, step):
                part = candidates[start : start + step]
                total = torch.add(part, question, out=buffer[: len(part)])
                known = None if evidence is None else evidence[row, start : start + step]
                out[row, start : start + step] = self._finish(total, known)
        return out

    def logits_with_evidence(
        self, fixed: Tensor, candidates: Tensor, evidence: OpenEvidence
    ) -> Tensor:
        """Add what is common to all candidates of a query to the query, degrees to the candidates.

        Only what near candidates have beyond that is added one by one.
        """
        assert self.evidence is not None
        z = self.evidence.detach()
        question = fixed + evidence.far @ z
        if self._can_be_compiled(candidates):
            return self._open_layer(candidates, question, evidence)
        part = torch.addr(candidates, evidence.degrees, z[evidence.degree_feature])
        out = self.open_logits(question, part, None)
        queries, ids, near = evidence.joined()
        step = max(1, _CACHED // self.width)
        for start in range(0, len(ids), step):
            at = slice(start, start + step)
            total = part[ids[at]] + question[queries[at]]
            out[queries[at], ids[at]] = self._finish(total, near[at])
        return out

    def _can_be_compiled(self, candidates: Tensor) -> bool:
        is_plain = self.shape.activation == "tanh" and not self.hidden_layers
        return is_plain and candidates.device.type == "cpu"

    def _open_layer(
        self, candidates: Tensor, questions: Tensor, evidence: OpenEvidence | None
    ) -> Tensor:
        """Return the logits of a single tanh layer, by compiled code."""
        from dhne.kernels.compiled.open_layer import open_layer
        from dhne.kernels.cpu_threads import num_pieces

        z = candidates.new_zeros(1, self.width)
        if evidence is None:
            evidence = OpenEvidence.none(candidates, len(questions), len(candidates))
        elif self.evidence is not None:
            z = self.evidence.detach()
        *lines, columns = evidence.grouped()
        slope, output = z[evidence.degree_feature], self.output.detach()
        out = candidates.new_empty(len(questions), len(candidates))
        first = (candidates, evidence.degrees, slope, questions)
        arrays = [t.contiguous().numpy() for t in (*first, *lines, z[columns.reshape(-1)], output)]
        bias = arrays[0].dtype.type(self.output_bias.item())
        open_layer(*arrays, bias, num_pieces(), out.numpy())
        return out

    def _finish(self, total: Tensor, evidence: Tensor | None) -> Tensor:
        """Return w · σ(total + z Z) + c; `total` includes b, and is overwritten at inference."""
        in_place = not torch.is_grad_enabled()
        if self.evidence is not None and evidence is not None:
            total = torch.addmm(total, evidence, self.evidence, out=total if in_place else None)
        activate = ACTIVATIONS[self.shape.activation]
        hidden = torch.tanh_(total) if in_place and activate is torch.tanh else activate(total)
        for layer in self.hidden_layers:
            hidden = activate(layer(hidden))
        if self.shape.edge_type.has_sets:  # rounding in a matrix product depends on the row's index
            return (hidden * self.output).sum(dim=1) + self.output_bias
        return hidden @ self.output + self.output_bias

    def quick_form(self, candidates: Tensor) -> QuickForm | None:
        """Return the table of exponentials; None for other layers, or if they would overflow."""
        if not self.has_quick_form or not 0 < candidates.numel() * 4 <= _TABLE_BYTES:
            return None
        is_tanh = self.shape.activation == "tanh"
        with torch.no_grad():
            exponent = candidates.float() * (2.0 if is_tanh else -1.0)
            if not float(exponent.abs().max()) <= _EXPONENT:
                return None
            weights = self.output.detach().float().cpu().numpy()
            table = exponent.exp_().cpu().numpy()
        return Reciprocals(table, weights, float(self.output_bias.detach()), is_tanh=is_tanh)


def _default_size(shape: SimilarityShape) -> int:
    """Return the sum of the embedding sizes; sets count twice, with at least 3 × the largest.

    In a tuple of more than 16 positions, only the 16 largest count: U has as many columns for every
    position, and would grow with the square of the length.
    """
    family = shape.edge_type.family
    if not family.has_sets:
        return sum(sorted(shape.sizes[t] for t in family)[-_LONG:])
    sizes = [shape.sizes[t] * (2 if m else 1) for t, m in zip(family, family.many, strict=True)]
    return max(sum(sizes), 3 * max(shape.sizes[t] for t in family))


class Reciprocals:
    """Σ_j v_j / (1 + t_ij q_j) + offset: the logits of all candidates i for a query q.

    Parameters
    ----------
    table : float32[n, h]
        t: e^{2a} for tanh, e^{−a} for the sigmoid.
    weights : float32[h]
        w; v is −2 w for tanh, w for the sigmoid.
    bias : float
        c.
    """

    def __init__(self, table: Floats, weights: Floats, bias: float, *, is_tanh: bool) -> None:
        self._table = table
        self._weights: Floats = weights * np.float32(-2.0 if is_tanh else 1.0)
        self._factor = 2.0 if is_tanh else -1.0
        self._offset = bias + (float(weights.sum(dtype=np.float64)) if is_tanh else 0.0)
        # An exponent of 40 is rounded by 2e-6, of which 1 / (1 + e^z) keeps at most a quarter; each
        # term has two of them. The sum is rounded once per term.
        rounding = 2e-6 + len(weights) * float(np.finfo(np.float32).eps) / 2
        self.error = float(np.abs(self._weights).sum(dtype=np.float64)) * rounding

    def questions(self, fixed: Tensor) -> Floats | None:
        """Return q; None if it would overflow float32."""
        total = fixed.detach().double().cpu().numpy() * self._factor
        return np.exp(total).astype(np.float32) if np.abs(total).max() <= _EXPONENT else None

    def values(self, questions: Floats, at: NodeArray | None = None) -> Floats:
        """Return ``[m, n]``, the logits of all candidates or of those selected by `at`."""
        from dhne.kernels.compiled import ranking

        if at is None:
            out = np.empty((len(questions), len(self._table)), dtype=np.float32)
            ranking.weighted_reciprocals(self._table, questions, self._weights, out)
        else:
            rows = np.ascontiguousarray(np.broadcast_to(at, (len(questions), at.shape[-1])))
            out = np.empty(rows.shape, dtype=np.float32)
            ranking.weighted_reciprocals_at(self._table, rows, questions, self._weights, out)
        out += np.float32(self._offset)
        return out
