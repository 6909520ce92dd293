"""The CPU backend: numba's compiled loops as differentiable torch operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import get_num_threads
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import compiled, compiled_counts, counts
from .counts import TupleTables
from .interface import Distinct, Kernels, RowSelection, SparseMatrix, StepSize, UpdateRule

Ints = npt.NDArray[Any]


@dataclass(frozen=True)
class BatchMatrix:
    """The batch matrix M by rows and by columns, as arrays."""

    starts: Ints  # int64[R + 1]
    columns: Ints  # int32[nnz]
    data: npt.NDArray[Any]  # float[nnz]
    touched: Tensor  # int64[1, k], the columns that have an entry
    begins: Ints  # int64[k + 1]
    row_of: Ints  # int32[nnz], by column
    entry_of: Ints  # int32[nnz], by column


class CompiledKernels(Kernels):
    """Compiled loops on two or more cores; see :mod:`dhne.kernels.compiled`."""

    name = "cpu"

    def __init__(self) -> None:
        self._scratch: dict[int, npt.NDArray[np.int32]] = {}
        self._ranges: dict[int, npt.NDArray[np.int64]] = {}
        self._tables: dict[int, tuple[TupleTables, tuple[Any, ...]]] = {}
        self._whole: dict[int, tuple[SparseMatrix, Ints, BatchMatrix]] = {}

    def _slots(self, n: int) -> npt.NDArray[np.int32]:
        """An array of -1, kept between calls so that a step does not pay for its size."""
        if n not in self._scratch:
            self._scratch[n] = np.full(n, -1, np.int32)
        return self._scratch[n]

    def _all_rows(self, n: int) -> npt.NDArray[np.int64]:
        if n not in self._ranges:
            self._ranges[n] = np.arange(n)
        return self._ranges[n]

    def prepare(self, selection: RowSelection) -> tuple[BatchMatrix, BatchMatrix]:
        """Copy the batch's entries and transpose them: (M with, M without the extra rows)."""
        matrix = selection.matrix
        if len(selection.rows) == matrix.num_rows:
            plain = self._prepare_whole(matrix, selection.rows.numpy())
        else:
            plain = self._build(selection.matrix, selection.rows.numpy(), None)
        if selection.extra is None:
            return plain, plain
        extra = selection.extra
        both = (extra.columns.numpy(), extra.values.numpy())
        return self._build(selection.matrix, selection.rows.numpy(), both), plain

    def _prepare_whole(self, matrix: SparseMatrix, rows: Ints) -> BatchMatrix:
        """When the batch visits every row, as it does with a few hubs, the transpose is kept."""
        kept = self._whole.get(id(matrix))
        if kept is not None and kept[0] is matrix and np.array_equal(kept[1], rows):
            return kept[2]
        built = self._build(matrix, rows, None)
        self._whole[id(matrix)] = (matrix, rows.copy(), built)
        return built

    def _build(
        self, matrix: SparseMatrix, rows: Ints, extra: tuple[Ints, Ints] | None
    ) -> BatchMatrix:
        indptr, indices = matrix.indptr.numpy(), matrix.indices.numpy()
        values = matrix.values.numpy()
        r, k = extra[0].shape if extra is not None else (0, 0)
        starts = compiled.row_starts(indptr, rows, r, k)
        columns = np.empty(starts[-1], np.int32)
        data = np.empty(starts[-1], values.dtype)
        compiled.copy_entries(indptr, indices, values, rows, starts, columns, data)
        if extra is not None:
            columns[starts[len(rows)] :] = extra[0].reshape(-1)
            data[starts[len(rows)] :] = extra[1].reshape(-1)
        touched, *by_column = compiled.transpose(starts, columns, self._slots(matrix.num_columns))
        return BatchMatrix(starts, columns, data, torch.from_numpy(touched)[None], *by_column)

    def encode(self, plan: Any, table: Tensor) -> Tensor:
        """Return M W."""
        result: Tensor = _Encode.apply(plan[0], table)  # type: ignore[no-untyped-call]
        return result

    def reconstruction(
        self, plan: Any, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        """Return the weighted squared error over the stored non-zeros."""
        result: Tensor = _Reconstruction.apply(plan[1], x, table, bias, visits)  # type: ignore[no-untyped-call]
        return result

    def gather_sum(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return Σ_p parts[p][index[:, p]]."""
        result: Tensor = _GatherSum.apply(index, *parts)  # type: ignore[no-untyped-call]
        return result

    def tuple_counts(
        self, tables: TupleTables, nodes: Tensor, source: Tensor | None, left_out: Tensor | None
    ) -> Tensor:
        """Count tuple by tuple."""
        out = np.empty((len(nodes), tables.width), tables.tables[0].counts.numpy().dtype)
        nothing = np.empty(0, out.dtype)
        of = nodes.numpy()
        compiled_counts.tuple_counts(
            *self._count_arrays(tables),
            of,
            of if source is None else source.numpy(),
            nothing if left_out is None else left_out.numpy(),
            counts.SHARED,
            counts.PATHS,
            out,
        )
        return torch.from_numpy(out)

    def _count_arrays(self, tables: TupleTables) -> tuple[Any, ...]:
        """What the compiled counts take, kept between calls."""
        kept = self._tables.get(id(tables))
        if kept is None or kept[0] is not tables:
            most = max((len(c) for c in tables.common), default=0)
            common = np.full((len(tables.common), most, 4), -1, np.int64)
            for k, types in enumerate(tables.common):
                for i, c in enumerate(types):
                    common[k, i] = c.type, c.first_in_p, c.first_in_q, c.size
            arrays = (
                tuple(t.indptr.numpy() for t in tables.tables),
                tuple(t.columns.numpy() for t in tables.tables),
                tuple(t.counts.numpy() for t in tables.tables),
                tuple(t.degrees.numpy() for t in tables.tables),
                np.array(tables.types),
                np.array(tables.first),
                np.array(tables.sizes),
                common,
            )
            kept = self._tables[id(tables)] = (tables, arrays)
        return kept[1]

    def distinct(self, columns: Sequence[Tensor], num_nodes: int) -> Distinct:
        """Mark nodes as they appear."""
        every = torch.cat(list(columns)) if len(columns) > 1 else columns[0].contiguous()
        nodes, visits, inverse = compiled.distinct(every.numpy(), self._slots(num_nodes))
        parts = torch.split(torch.from_numpy(inverse), [len(c) for c in columns])
        return Distinct(torch.from_numpy(nodes), torch.from_numpy(visits), list(parts))

    def update(
        self, parameter: Tensor, state: Sequence[Tensor], rule: UpdateRule, size: StepSize
    ) -> None:
        """Step over the rows that have a gradient, in one fused pass."""
        g = parameter.grad
        if g is None or not parameter.numel():
            return
        if g.is_sparse:  # of a table: from one kernel alone, so that no row comes twice
            rows, g = g._indices()[0].numpy(), g._values()
        else:
            rows = self._all_rows(len(g))
        gradient, p, *moments = (_two_dimensional(t) for t in (g, parameter.detach(), *state))
        number = p.dtype.type
        if rule.name == "sgd":
            compiled.plain_gradient(rows, gradient, p, number(size.rate))
        elif rule.name == "adam":
            rate, correction = number(size.rate), number(size.correction)
            betas = number(rule.beta1), number(rule.beta2)
            args = (rate, *betas, correction, number(rule.epsilon))
            compiled.adam(rows, gradient, p, *moments, *args)
        else:
            fades = rule.name == "rmsprop"
            decay, gain = (rule.beta2, 1 - rule.beta2) if fades else (1.0, 1.0)
            args = (number(size.rate), number(decay), number(gain), number(rule.epsilon))
            compiled.scaled_gradient(rows, gradient, p, *moments, *args)


def _two_dimensional(tensor: Tensor) -> npt.NDArray[Any]:
    array = tensor.contiguous().numpy()
    return array.reshape(len(array), -1)


def _sparse(touched: Tensor, values: npt.NDArray[Any], like: Tensor) -> Tensor:
    return torch.sparse_coo_tensor(
        touched, torch.from_numpy(values), like.shape, is_coalesced=True, check_invariants=False
    )


class _Encode(Function):
    @staticmethod
    def forward(ctx: Any, matrix: BatchMatrix, table: Tensor) -> Tensor:
        ctx.matrix, ctx.table = matrix, table
        out = compiled.encode(
            matrix.starts, matrix.columns, matrix.data, table.detach().numpy(), get_num_threads()
        )
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        m: BatchMatrix = ctx.matrix
        values = compiled.table_gradient(
            m.begins, m.row_of, m.entry_of, m.data, gradient.contiguous().numpy(), get_num_threads()
        )
        return None, _sparse(m.touched, values, ctx.table)


class _Reconstruction(Function):
    @staticmethod
    def forward(
        ctx: Any, matrix: BatchMatrix, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        rows = x.detach().contiguous().numpy()
        loss, slope, dx = compiled.reconstruction(
            matrix.starts,
            matrix.columns,
            matrix.data,
            rows,
            table.detach().numpy(),
            bias.detach().numpy().reshape(-1),
            visits.detach().to(x.dtype).numpy(),
            get_num_threads(),
        )
        ctx.matrix, ctx.rows, ctx.slope, ctx.dx = matrix, rows, slope, dx
        ctx.table, ctx.bias = table, bias
        return torch.tensor(loss, dtype=x.dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        m: BatchMatrix = ctx.matrix
        scale = gradient.item()
        slope, dx = ctx.slope, ctx.dx
        if scale != 1:
            slope, dx = slope * slope.dtype.type(scale), dx * dx.dtype.type(scale)
        table = compiled.table_gradient(
            m.begins, m.row_of, m.entry_of, slope, ctx.rows, get_num_threads()
        )
        bias = compiled.column_sums(m.begins, m.entry_of, slope)
        return (
            None,
            torch.from_numpy(dx),
            _sparse(m.touched, table, ctx.table),
            _sparse(m.touched, bias[:, None], ctx.bias),
            None,
        )


class _GatherSum(Function):
    @staticmethod
    def forward(ctx: Any, index: Tensor, *parts: Tensor) -> Tensor:
        ctx.index, ctx.lengths = index, [len(p) for p in parts]
        arrays = tuple(p.detach().contiguous().numpy() for p in parts)
        return torch.from_numpy(compiled.gather_sum(arrays, index.numpy()))

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        g = gradient.contiguous().numpy()
        index = ctx.index.numpy()
        parts = []
        for position, n in enumerate(ctx.lengths):
            by_node = compiled.sort_by_node(np.ascontiguousarray(index[:, position]), n)
            parts.append(torch.from_numpy(compiled.scatter_sum(*by_node, g, get_num_threads())))
        return None, *parts
