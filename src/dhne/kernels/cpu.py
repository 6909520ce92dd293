"""The CPU backend: numba's compiled loops, and what is kept between them."""

# What numba compiles, and torch's own Function, have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from . import counts
from .compiled import counts as compiled_counts
from .compiled import matrix as compiled_matrix
from .compiled import optimizers
from .counts import Average, TupleTables
from .cpu_counts import count_arrays, near_candidates
from .cpu_functions import (
    Encode,
    GatherSum,
    HiddenLayer,
    Pending,
    RaggedLayer,
    RaggedSum,
    Reconstruction,
)
from .cpu_matrix import BatchMatrix, Scratch, TableGradient
from .cpu_memory import give_back_memory, keep_freed_memory, use_large_pages
from .cpu_products import Product, RankingLoss
from .cpu_threads import few_threads_for, num_pieces, settle
from .interface import Distinct, Inputs, Kernels, RowSelection, Stepped, StepSize
from .open_counts import OpenCounts
from .products import Dropout, Factor, Rows
from .ranking_loss import Targets

Ints = npt.NDArray[Any]


class CompiledKernels(Kernels):
    """Compiled loops on two or more cores; see :mod:`dhne.kernels.compiled`."""

    name = "cpu"

    def __init__(self) -> None:
        # Sparse gradients are made by the kernels alone; checking them would cost every step.
        torch.sparse.check_sparse_tensor_invariants.disable()
        settle()
        self._scratch = Scratch()
        self._pending: Pending = None  # within a step, tables whose gradients are not summed yet
        self._ranges: dict[int, npt.NDArray[np.int64]] = {}

    def _all_rows(self, n: int) -> npt.NDArray[np.int64]:
        if n not in self._ranges:
            self._ranges[n] = np.arange(n)
        return self._ranges[n]

    def prepare(self, selection: RowSelection) -> BatchMatrix:
        """Count where the rows begin; if the batch visits every row, that and more is kept."""
        matrix = selection.matrix
        if len(selection.rows) < matrix.num_rows or selection.extra or selection.sample:
            return BatchMatrix(selection, self._scratch)
        whole: BatchMatrix | None = matrix.kept.get("whole")
        if whole is None or not np.array_equal(whole.rows, selection.rows.numpy()):
            whole = matrix.kept["whole"] = BatchMatrix(selection, self._scratch)
        return whole

    def encode(self, plan: Any, table: Tensor) -> Tensor:
        """Return M W."""
        result: Tensor = Encode.apply(plan, table, self._pending)
        return result

    def reconstruction(
        self, plan: Any, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        """Return the weighted squared error over the stored non-zeros."""
        result: Tensor = Reconstruction.apply(plan, x, table, bias, visits, self._pending)
        return result

    def gather_sum(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return Σ_p parts[p][index[:, p]]."""
        result: Tensor = GatherSum.apply(index, *parts)
        return result

    def hidden_layer(
        self,
        parts: Sequence[Tensor],
        index: Tensor,
        bias: Tensor,
        output: Tensor,
        features: Tensor | None = None,
        evidence: Tensor | None = None,
    ) -> Tensor:
        """Return w · tanh(Σ_p parts[p][index[:, p]] + b + z Z)."""
        result: Tensor = HiddenLayer.apply(index, bias, output, features, evidence, *parts)
        return result

    def ragged_sum(self, part: Tensor, index: Tensor, begins: Tensor) -> Tensor:
        """Return Σ_j part[index[j]] over the members of each tuple."""
        result: Tensor = RaggedSum.apply(index, begins, part)
        return result

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
        """Return w · tanh(Σ_j part[index[j]] + b + z Z)."""
        result: Tensor = RaggedLayer.apply(index, begins, bias, output, features, evidence, part)
        return result

    def tuple_counts(
        self,
        tables: TupleTables,
        nodes: Tensor,
        source: Tensor | None,
        left_out: Tensor | None,
        num_edges: int = 0,
        of_edges: Tensor | None = None,
    ) -> Tensor:
        """Count tuple by tuple; what a negative keeps of its hyperedge is counted once."""
        out = np.empty((len(nodes), tables.width), tables.tables[0].counts.numpy().dtype)
        of = nodes.contiguous().numpy()
        edges, weights = of, np.empty(0, out.dtype)
        if source is not None and left_out is not None:
            edges, weights = source.contiguous().numpy(), left_out.numpy()
        compiled_counts.tuple_counts(
            *count_arrays(tables),
            of,
            edges,
            weights,
            num_edges,
            out[:0] if of_edges is None else of_edges.contiguous().numpy(),
            counts.SHARED,
            counts.PATHS,
            counts.HUB,
            num_pieces(),
            out,
        )
        return torch.from_numpy(out)

    def candidate_counts(self, tables: TupleTables, nodes: Tensor, position: int) -> OpenCounts:
        """Visit only the candidates that share something, once per fixed node."""
        first, columns = nodes.clone(), tables.columns_of(position)
        first[:, position] = 0
        given = self.tuple_counts(tables, first, None, None)
        given[:, [*columns, tables.degree_column(position)]] = 0
        near = []
        for k, (p, q) in enumerate(tables.pairs):
            if position in (p, q):
                fixed = nodes[:, q if p == position else p]
                near.append(near_candidates(tables, k, position, fixed))
        return OpenCounts(given, tuple(near))

    def features(self, counts: Tensor, average: Average) -> Tensor:
        """Turn counts into features tuple by tuple."""
        out = np.empty((len(counts), average.width), counts.numpy().dtype)
        pairs = len(average) - counts.shape[1]
        feature, share = average.feature.numpy(), average.share.numpy()
        compiled_counts.features(counts.contiguous().numpy(), feature, share, pairs, out)
        return torch.from_numpy(out)

    def product(self, factors: Sequence[Factor], scale: Rows, dropout: Dropout) -> Tensor:
        """Draw dropout where it is applied, and again for the gradient."""
        indices = (scale.ids, *(f.vectors.ids for f in factors))
        tensors = [t for f in factors for t in (f.vectors.table, f.matrix)]
        result: Tensor = Product.apply(dropout, indices, scale.table, *tensors)
        return result

    def ranking_loss(
        self, logits: Tensor, targets: Targets, weights: Tensor, log_chance: Tensor | None
    ) -> Tensor:
        """Write the gradient over the logits."""
        result: Tensor = RankingLoss.apply(logits, targets, weights, log_chance)
        return result

    def distinct(self, columns: Sequence[Tensor], num_nodes: int) -> Distinct:
        """Mark nodes as they appear."""
        every = torch.cat(list(columns)) if len(columns) > 1 else columns[0].contiguous()
        nodes, visits, inverse = compiled_matrix.distinct(
            every.numpy(), self._scratch.slots(num_nodes)
        )
        parts = torch.split(torch.from_numpy(inverse), [len(c) for c in columns])
        return Distinct(torch.from_numpy(nodes), torch.from_numpy(visits), list(parts))

    @contextlib.contextmanager
    def training(self) -> Iterator[None]:
        """Keep the memory of one step for the next, until the last."""
        keep_freed_memory()
        try:
            yield
        finally:
            give_back_memory()

    def run_step(
        self,
        step: Callable[[Inputs, StepSize], Tensor],
        inputs: Inputs,
        size: StepSize,
    ) -> Tensor:
        """Return ``step(inputs, size)``; the gradients of tables are summed by `update`."""
        self._pending = []
        try:
            with few_threads_for(sum(t.numel() for t in inputs.tensors)):
                return step(inputs, size)
        finally:
            for table in self._pending:
                table.pending = None
            self._pending = None

    def update(self, stepped: Stepped, size: StepSize) -> None:
        """Step over the rows that have a gradient, in one fused pass."""
        parameter, rule = stepped.parameter, stepped.rule
        if not parameter.numel():
            return
        p, *moments = _arrays(stepped)
        number = p.dtype.type
        rate = number(size.rate * rule.gain)
        adam = rate, number(rule.beta1), number(rule.beta2), number(size.correction)
        later: TableGradient | None = getattr(parameter, "pending", None)
        if later is not None and later.x is not None and rule.name == "adam":
            m = later.matrix
            optimizers.adam_columns(
                m.touched, m.begins, m.row_of, m.entry_of, later.data, later.x, num_pieces(),
                p, *moments, *adam, number(rule.epsilon),
            )  # fmt: skip
            return
        if later is not None:
            rows, gradient = later.matrix.touched, later.rows()
        elif parameter.grad is None:
            return
        else:
            rows, gradient = self._rows_of(parameter.grad)
        if rule.name == "sgd":
            optimizers.plain_gradient(rows, gradient, p, rate)
        elif rule.name == "adam":
            optimizers.adam(rows, gradient, p, *moments, *adam, number(rule.epsilon))
        else:
            fades = rule.name == "rmsprop"
            decay, gain = (rule.beta2, 1 - rule.beta2) if fades else (1.0, 1.0)
            args = (rate, number(decay), number(gain), number(rule.epsilon))
            optimizers.scaled_gradient(rows, gradient, p, *moments, *args)

    def _rows_of(self, gradient: Tensor) -> tuple[Ints, npt.NDArray[Any]]:
        """Return the rows that a gradient has, and those of the parameter that they belong to."""
        if gradient.is_sparse:  # of a table: from one kernel alone, so that no row comes twice
            rows: Ints = gradient._indices()[0].numpy()
            return rows, _two_dimensional(gradient._values())
        return self._all_rows(len(gradient)), _two_dimensional(gradient)


def _arrays(stepped: Stepped) -> list[npt.NDArray[Any]]:
    """A parameter and its moments as arrays over the same memory, kept between steps."""
    tensors = [stepped.parameter.detach(), *stepped.moments]
    where = [t.data_ptr() for t in tensors]
    if stepped.view is None or stepped.view[0] != where:
        stepped.view = where, [_two_dimensional(t) for t in tensors]
        for array in stepped.view[1]:
            use_large_pages(array)
    arrays: list[npt.NDArray[Any]] = stepped.view[1]
    return arrays


def _two_dimensional(tensor: Tensor) -> npt.NDArray[Any]:
    array = tensor.contiguous().numpy()
    return array.reshape(len(array), -1)
