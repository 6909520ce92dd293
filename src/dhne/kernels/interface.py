"""The few operations that training spends its time in, behind one small interface.

All of them work on the non-zeros of adjacency rows, so that their cost is that of the rows' degrees
and never of the number of nodes. A backend implements these:

===================  ===========================================================================
`encode`             M W                              rows of a sparse matrix times a table
`reconstruction`     Σ_i ω_i Σ_j (σ(x_i·V_j + c_j) − a_ij)²   over the non-zeros j of row i; of
                     an a_ij above 1, the most that σ can give, 1
`gather_sum`         Σ_p P_p[index[:, p]]             the hidden layer's pre-activation of tuples
`hidden_layer`       w · tanh(that + b + z Z)         the whole similarity, if it has one layer
`ragged_sum`         Σ_{j in tuple i} P[index[j]]     `gather_sum` of tuples of any length
`ragged_layer`       w · tanh(that + b + z Z)         `hidden_layer` of tuples of any length
`tuple_counts`       what the nodes of tuples share, for `dhne.model.evidence`
`features`           the features that the similarity makes of those counts
`distinct`           the distinct nodes of a batch, and where each tuple's nodes are among them
`product`            products of factors with dropout, for `dhne.model.products`
`ranking_loss`       the cross-entropy of answers against candidates
`update`             one optimizer step over the rows of a parameter that have a gradient
===================  ===========================================================================

The first six are differentiable. The gradient of a *table* (W, V, c: one row per column of the
adjacency matrix) has non-zero rows only at the columns that the batch touched; a backend may give
it as a sparse tensor of those rows or as a dense one. `update` treats both alike: rows without a
gradient are left alone, so a step never costs more than what it touched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from . import products, ranking_loss
from .counts import ZERO, Average, TupleTables, tuple_counts
from .open_counts import OpenCounts, open_counts
from .products import Dropout, Factor, Rows
from .ranking_loss import Targets


@dataclass(frozen=True)
class SparseMatrix:
    """A CSR matrix as tensors: row i has the columns ``indices[indptr[i]:indptr[i + 1]]``."""

    indptr: Tensor  # int64[n + 1]
    indices: Tensor  # int32[nnz] or int64[nnz]
    values: Tensor  # float[nnz]
    num_columns: int
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a backend has worked out about the matrix."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1


@dataclass(frozen=True)
class ExtraRows:
    """Rows given by entries, k each, that are added to other rows of the selection.

    Attributes
    ----------
    columns, values : int64[r, k], float[r, k]
    base : int64[r] or None
        The number, in the selection, of the row that each is added to; None for none.
    """

    columns: Tensor
    values: Tensor
    base: Tensor | None = None

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class RowSample:
    """How to take at most `most` of a row's non-zeros: an even sample from `turn` in [0, 1) on.

    With `turn` uniform each non-zero of a row of n is taken with probability most / n; weighted by
    n / most, sums over the sample are unbiased.
    """

    most: int
    turn: float


@dataclass(frozen=True)
class RowSelection:
    """Some rows of a sparse matrix, and possibly extra rows below them: the matrix M of a batch.

    `encode` always sums whole rows. With a `sample`, its gradient and the reconstruction run over a
    sample of the non-zeros of long rows, so that a hub does not cost its degree in every step.
    """

    matrix: SparseMatrix
    rows: Tensor  # int64[b], distinct
    extra: ExtraRows | None = None
    sample: RowSample | None = None

    @property
    def num_rows(self) -> int:
        """The number of rows of M, extra ones included."""
        return len(self.rows) + (len(self.extra) if self.extra is not None else 0)


@dataclass(frozen=True)
class Distinct:
    """The distinct nodes of one type in a batch, and how often each was visited.

    Their order is the backend's; if all nodes of the type are there, it is ascending.
    """

    nodes: Tensor  # int64[b]
    visits: Tensor  # int64[b]
    inverse: list[Tensor]  # for each input column, int64: where each node is in `nodes`


@dataclass(frozen=True)
class UpdateRule:
    """An optimizer's constants; see :mod:`dhne.training.optimizers` for the formulas.

    `gain` multiplies the learning rate.
    """

    name: str  # "adam", "rmsprop", "adagrad" or "sgd"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    gain: float = 1.0


@dataclass(frozen=True)
class StepSize:
    """How far an optimizer's step goes: the learning rate, and what corrects Adam's young moments.

    For Adam's step t, `rate` is η / (1 − β₁ᵗ) and `correction` is 1 / (1 − β₂ᵗ).
    """

    rate: float
    correction: float = 1.0

    @classmethod
    def of(cls, rule: UpdateRule, lr: float, step: int) -> StepSize:
        """Return the size of step number `step`, the first being 1."""
        if rule.name != "adam":
            return cls(lr)
        return cls(lr / (1 - rule.beta1**step), 1 / (1 - rule.beta2**step))


class Table(nn.Parameter):
    """A parameter with one row per column of an adjacency matrix, of which a step touches few.

    Attributes
    ----------
    gain : float
        What the learning rate is multiplied by for its rows.
    pending : object or None
        Its gradient of the step under way, where a backend leaves the summing to `update`.
    """

    gain: float = 1.0
    pending: Any = None


@dataclass(eq=False)
class Stepped:
    """A parameter with all that its optimizer keeps of it.

    Attributes
    ----------
    parameter : Tensor
    moments : list of Tensor
        Of the parameter's shape; as many as the rule needs.
    rule : UpdateRule
    view : object or None
        How a backend sees parameter and moments, kept between steps.
    """

    parameter: Tensor
    moments: list[Tensor]
    rule: UpdateRule
    view: Any = None


class StepInputs(Protocol):
    """What a step is given; a backend that records steps must see the tensors in it."""

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors, in a fixed order."""

    def with_tensors(self, tensors: list[Tensor]) -> Self:
        """Return the same inputs with other tensors."""


Inputs = TypeVar("Inputs", bound=StepInputs)


class Kernels(ABC):
    """One backend's implementation of the operations above."""

    name: str
    may_record: bool = True  # whether steps may be recorded and played back

    def prepare(self, selection: RowSelection) -> Any:
        """Return what `encode` and `reconstruction` can share for one batch and matrix."""
        return selection

    @abstractmethod
    def encode(self, plan: Any, table: Tensor) -> Tensor:
        """Return M W, ``float[rows of M, d]``, for the table W ``float[columns, d]``."""

    @abstractmethod
    def reconstruction(
        self, plan: Any, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        """Return the scalar Σ_i visits_i Σ_j (σ(x_i·V_j + c_j) − min(a_ij, 1))² over the non-zeros.

        `x` has a row for each row of M, of which the extra ones have no part in this;
        `table` is V ``float[columns, d]``, `bias` is c ``float[columns, 1]``.
        """

    @abstractmethod
    def gather_sum(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return Σ_p parts[p][index[:, p]] for ``index: int64[m, N]``."""

    def hidden_layer(
        self,
        parts: Sequence[Tensor],
        index: Tensor,
        bias: Tensor,
        output: Tensor,
        features: Tensor | None = None,
        evidence: Tensor | None = None,
    ) -> Tensor:
        """Return w · tanh(Σ_p parts[p][index[:, p]] + b + z Z).

        `bias` is b, `output` w; `features` z ``float[m, k]`` and `evidence` Z ``float[k, h]`` come
        together or not at all.
        """
        total = self.gather_sum(parts, index) + bias
        if features is not None and evidence is not None:
            total = torch.addmm(total, features, evidence)
        return torch.tanh(total) @ output

    def ragged_sum(self, part: Tensor, index: Tensor, begins: Tensor) -> Tensor:
        """Return Σ_j part[index[j]] over the members begins[i] … begins[i + 1] − 1 of each tuple i.

        `index` is ``int64[members]``, `begins` ``int64[m + 1]``.
        """
        m = len(begins) - 1
        number = torch.arange(m, device=index.device)
        tuple_of = number.repeat_interleave(begins.diff(), output_size=len(index))
        return part.new_zeros(m, part.shape[1]).index_add(0, tuple_of, part[index])

    def ragged_layer(
        self,
        part: Tensor,
        index: Tensor,
        begins: Tensor,
        bias: Tensor,
        output: Tensor,
        features: Tensor | None = None,
        evidence: Tensor | None = None,
    ) -> Tensor:
        """Return w · tanh(Σ_j part[index[j]] + b + z Z): `hidden_layer` of `ragged_sum`."""
        total = self.ragged_sum(part, index, begins) + bias
        if features is not None and evidence is not None:
            total = torch.addmm(total, features, evidence)
        return torch.tanh(total) @ output

    @abstractmethod
    def distinct(self, columns: Sequence[Tensor], num_nodes: int) -> Distinct:
        """Return the distinct ids among int64 `columns`, each below `num_nodes`."""

    def tuple_counts(
        self,
        tables: TupleTables,
        nodes: Tensor,
        source: Tensor | None,
        left_out: Tensor | None,
        num_edges: int = 0,
        of_edges: Tensor | None = None,
    ) -> Tensor:
        """Return what tuples' nodes share; see :mod:`dhne.kernels.counts`.

        If `num_edges` is not 0, the first so many tuples are the hyperedges that are left out, and
        as many negatives of each follow: a backend may count what they keep of them once, and not
        even that if it is given the hyperedges' counts, `of_edges`.
        """
        return tuple_counts(tables, nodes, source, left_out, of_edges)

    def candidate_counts(self, tables: TupleTables, nodes: Tensor, position: int) -> OpenCounts:
        """Return what the fixed nodes of queries ``int64[m, N]`` share with every candidate.

        A backend may visit only the candidates that share something.
        """
        return open_counts(self.tuple_counts, tables, nodes, position)

    def features(self, counts: Tensor, average: Average) -> Tensor:
        """Return (ℓ(pair counts), which of these are zero, ℓ(degrees)), averaged."""
        pairs = len(average) - counts.shape[1]
        logs = torch.log1p(counts)
        zero = (counts[:, :pairs] < ZERO).to(counts.dtype)
        every = torch.cat([logs[:, :pairs], zero, logs[:, pairs:]], dim=1) * average.share
        out = counts.new_zeros(len(counts), average.width)
        return out.index_add_(1, average.feature, every)

    def product(self, factors: Sequence[Factor], scale: Rows, dropout: Dropout) -> Tensor:
        """Return products of factors; see :mod:`dhne.kernels.products`."""
        return products.product(factors, scale, dropout)

    def ranking_loss(
        self, logits: Tensor, targets: Targets, weights: Tensor, log_chance: Tensor | None
    ) -> Tensor:
        """Return the loss of completion queries; see :mod:`dhne.kernels.ranking_loss`.

        The logits must not be used again: a backend may overwrite them.
        """
        return ranking_loss.ranking_loss(logits, targets, weights, log_chance)

    @abstractmethod
    def update(self, stepped: Stepped, size: StepSize) -> None:
        """Take one optimizer step in place, over the rows of a parameter that have a gradient."""

    def training(self) -> AbstractContextManager[None]:
        """Return what steps are run within; a backend may keep things from one to the next."""
        return nullcontext()

    def run_step(
        self,
        step: Callable[[Inputs, StepSize], Tensor],
        inputs: Inputs,
        size: StepSize,
    ) -> Tensor:
        """Return ``step(inputs, size)``; a backend may record it once and play it back."""
        return step(inputs, size)
