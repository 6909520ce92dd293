"""The similarity of all candidates of an open position, taken apart into candidate and question.

The similarity's hidden layer is σ of a sum, and for tanh and the sigmoid that sum comes apart:

    tanh(a + b) = 1 − 2 / (1 + e^{2a} e^{2b}),    sigmoid(a + b) = 1 / (1 + e^{−a} e^{−b})

so with e^{2a} kept for every candidate, a question costs one product, one sum and one division for
each candidate and hidden unit, and no exponential.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from dhne.estimator import DHNE
from dhne.network.edges import EdgeType, NodeArray

Floats = npt.NDArray[np.float32]

_EXPONENT = 40.0  # e^40 · e^40 is still a float32
_TABLE_BYTES = 1 << 30  # a larger table is not made; the model ranks such types itself


@dataclass(frozen=True)
class Table:
    """What is kept for one open position of an edge type."""

    candidates: Floats  # [n, h]: e^{2a} or e^{-a}
    weights: Floats  # [h]
    offset: float
    bias: Floats  # [h]
    factor: float  # 2 for tanh, -1 for the sigmoid

    def values(self, questions: Floats, at: NodeArray | None = None) -> Floats:
        """Return ``[m, n]``, numbers that order candidates as their scores do.

        `questions` are e^{2b}, see `fixed`; `at` names the candidates, the same for all questions
        (``[n]``) or for each its own (``[m, n]``); without it they are all.
        """
        from .sums import weighted_reciprocals, weighted_reciprocals_at

        if at is None:
            out = np.empty((len(questions), len(self.candidates)), dtype=np.float32)
            weighted_reciprocals(self.candidates, questions, self.weights, out)
        else:
            rows = np.ascontiguousarray(np.broadcast_to(at, (len(questions), at.shape[-1])))
            out = np.empty(rows.shape, dtype=np.float32)
            weighted_reciprocals_at(self.candidates, rows, questions, self.weights, out)
        out += np.float32(self.offset)
        return out


def is_simple(model: DHNE, types: EdgeType) -> bool:
    """Whether the similarity of an edge type has the form that comes apart."""
    similarity = model.model_.similarity(types)
    one_layer = not len(similarity.hidden_layers) and similarity.evidence is None
    return one_layer and similarity.activation in ("tanh", "sigmoid")


def fixed(
    model: DHNE, nodes: NodeArray, types: EdgeType, position: int, table: Table
) -> Floats | None:
    """Return e^{2b} of each question; None where it would leave float32."""
    total = np.tile(table.bias.astype(np.float64), (len(nodes), 1))
    for p in range(len(types)):
        if p != position:
            total += model._scorer.projected(types, p)[nodes[:, p]].numpy()
    total *= table.factor
    return np.exp(total).astype(np.float32) if np.abs(total).max() <= _EXPONENT else None


def make_table(model: DHNE, types: EdgeType, position: int) -> Table | None:
    """Return the table of an open position; None if there is none or it would be too large."""
    similarity = model.model_.similarity(types)
    if not is_simple(model, types):
        return None
    with torch.no_grad():
        projected = model._scorer.projected(types, position)
        if projected.numel() * 4 > _TABLE_BYTES or not projected.numel():
            return None
        factor = 2.0 if similarity.activation == "tanh" else -1.0
        exponent = projected.float() * factor
        if float(exponent.abs().max()) > _EXPONENT:
            return None
        weights = similarity.output.float().numpy()
        scale = -2.0 if similarity.activation == "tanh" else 1.0
        offset = float(similarity.output_bias)
        if similarity.activation == "tanh":
            offset += float(weights.sum(dtype=np.float64))
        return Table(
            candidates=exponent.exp_().numpy(),
            weights=(weights * np.float32(scale)),
            offset=offset,
            bias=similarity.hidden_bias.float().numpy(),
            factor=factor,
        )
