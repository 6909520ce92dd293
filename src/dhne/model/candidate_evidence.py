"""The place evidence of every candidate of an open position, differentiable in the weights W.

On a CPU, compiled code reads the entries one by one; elsewhere they are gathered and scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from .meetings import Meetings, ragged


@dataclass(frozen=True)
class Beside:
    """The nodes at one of the fixed positions.

    Attributes
    ----------
    met : Meetings
        Between their type and the open position's.
    nodes : int64[m]
    asked : int64[m]
        The index of the place pair being queried; -1 if it was never seen.
    lines : int64[m]
        The row of W that weights it.
    is_turned : bool
        Whether the pair is read from its second position to its first.
    """

    met: Meetings
    nodes: Tensor
    asked: Tensor
    lines: Tensor
    is_turned: bool

    def of(self, rows: Tensor) -> Self:
        """Return the same of some of the questions."""
        nodes, asked, lines = (x[rows] for x in (self.nodes, self.asked, self.lines))
        return replace(self, nodes=nodes, asked=asked, lines=lines)


@dataclass(frozen=True)
class Asked:
    """A question about an open position.

    Attributes
    ----------
    beside : sequence of Beside
    column : int64[n]
        The column of each node of the position's type, -1 if it is not a candidate.
    num_rows, num_columns : int
    turned : int64[places]
        The index of each place pair, read in the other direction.
    known : bool[m, columns], optional
        The known answers; each is scored without its own hyperedge.
    """

    beside: Sequence[Beside]
    column: Tensor
    num_rows: int
    num_columns: int
    turned: Tensor
    known: Tensor | None = None


class CandidateEvidence(torch.autograd.Function):
    """``float[m, columns]``: Σ_b W[a, b] g(n_b), of all candidates of a question."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, asked: Asked) -> Tensor:
        """Add up the evidence; `weights` has the rows of W that `asked` refers to."""
        ctx.asked, ctx.shape = asked, weights.shape
        out = weights.new_zeros(asked.num_rows, asked.num_columns)
        for b in asked.beside:
            if weights.device.type == "cpu":
                _compiled().add_evidence(weights.numpy(), *_arrays(b, asked), out.numpy())
            else:
                place, weight, value = _entries(b, asked)
                out.view(-1).index_add_(0, place, weights.reshape(-1)[weight] * value)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return the gradient with respect to these rows."""
        (out,) = gradients
        asked, gradient = ctx.asked, out.new_zeros(ctx.shape)
        for b in asked.beside:
            if out.device.type == "cpu":
                from dhne.kernels.cpu_threads import num_pieces

                arrays = (*_arrays(b, asked), out.contiguous().numpy())
                _compiled().add_gradient(gradient.numpy(), *arrays, num_pieces())
            else:
                place, weight, value = _entries(b, asked)
                gradient.view(-1).index_add_(0, weight, out.reshape(-1)[place] * value)
        return gradient, None


def _compiled() -> Any:
    from dhne.kernels.compiled import place_evidence

    return place_evidence


def _arrays(b: Beside, asked: Asked) -> tuple[Any, ...]:
    met = b.met
    known = np.empty((0, 0), bool) if asked.known is None else asked.known.numpy()
    turned = asked.turned if b.is_turned else asked.turned[:0]
    entries = (met.begins, met.targets, met.places, met.values, met.without)
    tensors = (b.asked, b.lines, b.nodes, *entries, asked.column)
    return (*(t.contiguous().numpy() for t in tensors), known, turned.numpy())


def _entries(b: Beside, asked: Asked) -> tuple[Tensor, Tensor, Tensor]:
    """Return the position in the result, the weight and the value of all entries."""
    first, last = b.met.begins[b.nodes], b.met.begins[b.nodes + 1]
    rows, entries = ragged(first, torch.where(b.asked >= 0, last, first))
    column = asked.column[b.met.targets[entries].long()]
    if asked.num_columns < len(asked.column):
        inside = (column >= 0) & (column < asked.num_columns)
        rows, entries, column = (x[inside] for x in (rows, entries, column))
    a, line, met = b.asked[rows], b.lines[rows], b.met.places[entries].long()
    value = b.met.values[entries]
    if asked.known is not None:
        own = (a == met) & asked.known[rows, column]
        value = torch.where(own, b.met.without[entries], value)
    if b.is_turned:
        met = asked.turned[met]
    return rows * asked.num_columns + column, line * len(asked.turned) + met, value
