"""The CPU backend: numba's compiled loops as differentiable torch operations."""

# What numba compiles, and torch's own Function, have no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import get_num_threads
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import compiled, compiled_counts, counts
from .counts import CountTable, TupleTables
from .interface import Distinct, Kernels, RowSelection, SparseMatrix, StepSize, UpdateRule

Ints = npt.NDArray[Any]
_ALL = 2**62  # more entries than any row has


@dataclass(frozen=True)
class Sampled:
    """What gradients run over: the entries of M, of long rows a sample, by rows and by columns."""

    starts: Ints  # int64[R + 1]
    columns: Ints  # int32[nnz]
    data: npt.NDArray[Any]  # float[nnz], as they are
    scale: npt.NDArray[Any]  # float[b], what a row's sampled entries stand for
    weighted: npt.NDArray[Any]  # float[nnz], data times scale
    touched: Tensor  # int64[1, k], the columns that have an entry
    begins: Ints  # int64[k + 1]
    row_of: Ints  # int32[nnz], by column
    entry_of: Ints  # int32[nnz], by column


class BatchMatrix:
    """The batch matrix M: rows of a matrix where they stand, and extra rows."""

    def __init__(self, selection: RowSelection, slots: npt.NDArray[np.int32]) -> None:
        m = selection.matrix
        self.csr = m.indptr.numpy(), m.indices.numpy(), m.values.numpy()
        self.rows = selection.rows.numpy()
        self.sample, self._slots = selection.sample, slots
        self.starts = compiled.row_starts(self.csr[0], self.rows, _ALL)
        if selection.extra is None:
            self.extra = np.empty((0, 0), np.int64), np.empty((0, 0), self.csr[2].dtype)
        else:
            self.extra = selection.extra.columns.numpy(), selection.extra.values.numpy()

    @cached_property
    def sampled(self) -> Sampled:
        """Made when the first gradient asks for it."""
        indptr, indices, values = self.csr
        most, turn = (self.sample.most, self.sample.turn) if self.sample else (_ALL, 0.0)
        b, (r, k) = len(self.rows), self.extra[0].shape
        starts = self.starts
        if self.sample is not None:
            starts = compiled.row_starts(indptr, self.rows, most)
        stored = starts[-1]
        starts = np.concatenate([starts, stored + k * np.arange(1, r + 1)])
        columns = np.empty(starts[-1], np.int32)
        data, weighted = np.empty((2, starts[-1]), values.dtype)
        scale = np.ones(b, values.dtype)
        args = (indptr, indices, values, self.rows, starts, turn, columns, data, weighted, scale)
        compiled.copy_entries(*args)
        columns[stored:], data[stored:] = self.extra[0].reshape(-1), self.extra[1].reshape(-1)
        weighted[stored:] = data[stored:]
        touched, *by_column = compiled.transpose(starts, columns, self._slots)
        return Sampled(
            starts, columns, data, scale, weighted, torch.from_numpy(touched)[None], *by_column
        )


class CompiledKernels(Kernels):
    """Compiled loops on two or more cores; see :mod:`dhne.kernels.compiled`."""

    name = "cpu"

    def __init__(self) -> None:
        # Sparse gradients are made by the kernels alone; checking them would cost every step.
        torch.sparse.check_sparse_tensor_invariants.disable()
        _keep_freed_memory()
        self._scratch: dict[int, npt.NDArray[np.int32]] = {}
        self._ranges: dict[int, npt.NDArray[np.int64]] = {}
        self._tables: dict[int, tuple[TupleTables, tuple[Any, ...]]] = {}
        self._whole: dict[int, tuple[SparseMatrix, BatchMatrix]] = {}
        self._stepped: dict[int, tuple[list[int], list[npt.NDArray[Any]]]] = {}

    def _slots(self, n: int) -> npt.NDArray[np.int32]:
        """An array of -1, kept between calls so that a step does not pay for its size."""
        if n not in self._scratch:
            self._scratch[n] = np.full(n, -1, np.int32)
        return self._scratch[n]

    def _all_rows(self, n: int) -> npt.NDArray[np.int64]:
        if n not in self._ranges:
            self._ranges[n] = np.arange(n)
        return self._ranges[n]

    def prepare(self, selection: RowSelection) -> BatchMatrix:
        """Count where the rows begin; if the batch visits every row, that and more is kept."""
        matrix, slots = selection.matrix, self._slots(selection.matrix.num_columns)
        if len(selection.rows) < matrix.num_rows or selection.extra or selection.sample:
            return BatchMatrix(selection, slots)
        rows = selection.rows.numpy()
        kept = self._whole.get(id(matrix))
        if kept is None or kept[0] is not matrix or not np.array_equal(kept[1].rows, rows):
            kept = self._whole[id(matrix)] = (matrix, BatchMatrix(selection, slots))
        return kept[1]

    def encode(self, plan: Any, table: Tensor) -> Tensor:
        """Return M W."""
        result: Tensor = _Encode.apply(plan, table)
        return result

    def reconstruction(
        self, plan: Any, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        """Return the weighted squared error over the stored non-zeros."""
        result: Tensor = _Reconstruction.apply(plan, x, table, bias, visits)
        return result

    def gather_sum(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return Σ_p parts[p][index[:, p]]."""
        result: Tensor = _GatherSum.apply(index, *parts)
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
            *self._count_arrays(tables),
            of,
            edges,
            weights,
            num_edges,
            out[:0] if of_edges is None else of_edges.contiguous().numpy(),
            counts.SHARED,
            counts.PATHS,
            out,
        )
        return torch.from_numpy(out)

    def _count_arrays(self, tables: TupleTables) -> tuple[Any, ...]:
        """What the compiled counts take, kept between calls."""
        kept = self._tables.get(id(tables))
        if kept is not None and kept[0] is tables:
            return kept[1]
        firsts = [np.unique(np.array(x.firsts)) for x in tables.tables]
        blocks = np.array(
            [np.searchsorted(f, row) for f, row in zip(firsts, tables.first, strict=True)]
        )
        most = max((len(c) for c in tables.common), default=0)
        common = np.full((len(tables.common), most, 3), -1, np.int64)
        for k, ((p, q), types) in enumerate(zip(tables.pairs, tables.common, strict=True)):
            for i, c in enumerate(types):
                in_p = np.searchsorted(firsts[p], c.first_in_p)
                common[k, i] = c.type, in_p, np.searchsorted(firsts[q], c.first_in_q)
        arrays = _flat(tables.tables, firsts), np.array(tables.types), blocks, common
        self._tables[id(tables)] = (tables, arrays)
        return arrays

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
        gradient = _two_dimensional(g)
        p, *moments = self._arrays(parameter, state)
        number = p.dtype.type
        rate = number(size.rate * rule.gain)
        if rule.name == "sgd":
            compiled.plain_gradient(rows, gradient, p, rate)
        elif rule.name == "adam":
            correction = number(size.correction)
            betas = number(rule.beta1), number(rule.beta2)
            compiled.adam(
                rows, gradient, p, *moments, rate, *betas, correction, number(rule.epsilon)
            )
        else:
            fades = rule.name == "rmsprop"
            decay, gain = (rule.beta2, 1 - rule.beta2) if fades else (1.0, 1.0)
            args = (rate, number(decay), number(gain), number(rule.epsilon))
            compiled.scaled_gradient(rows, gradient, p, *moments, *args)

    def _arrays(self, parameter: Tensor, state: Sequence[Tensor]) -> list[npt.NDArray[Any]]:
        """A parameter and its moments as arrays over the same memory, kept between steps."""
        tensors = [parameter.detach(), *state]
        where = [t.data_ptr() for t in tensors]
        kept = self._stepped.get(id(parameter))
        if kept is None or kept[0] != where:
            kept = self._stepped[id(parameter)] = where, [_two_dimensional(t) for t in tensors]
        return kept[1]


def _flat(tables: Sequence[CountTable], firsts: Sequence[Ints]) -> tuple[Ints, ...]:
    """Return the tables one after the other; see :mod:`dhne.kernels.compiled_counts`."""
    parts: list[list[Ints]] = [[] for _ in range(8)]
    begins: dict[int, list[int]] = {}
    for table, first in zip(tables, firsts, strict=True):
        if id(table) in begins:  # positions of one type share it
            continue
        entries, *others = (sum(len(x) for x in part) for part in (parts[0], *parts[3:]))
        indptr, columns = table.indptr.numpy(), table.columns.numpy()
        bounds = compiled_counts.block_bounds(indptr, columns, first, entries)
        slots, bits = compiled_counts.hash_entries(indptr, columns, entries)
        begins[id(table)] = [*others, len(first) + 1, len(slots) - 1]
        logs = torch.log1p(table.counts).numpy()
        new = (columns, table.counts.numpy(), logs, bounds.reshape(-1), first, slots, bits)
        for part, array in zip(parts, (*new, table.degrees.numpy()), strict=True):
            part.append(array)
    where = np.array([begins[id(table)] for table in tables])
    return (*(np.concatenate(part) for part in parts), where)


def _keep_freed_memory() -> None:
    """Ask the C library not to give the memory of one step back before the next one needs it.

    A step's gradients come and go. By default glibc returns them to the system as soon as they are
    freed, and every step then pays for its pages anew.
    """
    trim_threshold, mmap_threshold = -1, -3  # names of glibc's malloc.h
    with contextlib.suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(mmap_threshold, 32 << 20)
        mallopt(trim_threshold, 512 << 20)


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
        where = (*matrix.csr, matrix.rows, matrix.starts, *matrix.extra)
        return torch.from_numpy(compiled.encode(*where, table.detach().numpy(), get_num_threads()))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        m = ctx.matrix.sampled
        g = gradient.contiguous().numpy()
        values = compiled.table_gradient(
            m.begins, m.row_of, m.entry_of, m.weighted, g, get_num_threads()
        )
        return None, _sparse(m.touched, values, ctx.table)


class _Reconstruction(Function):
    @staticmethod
    def forward(
        ctx: Any, matrix: BatchMatrix, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        m, rows = matrix.sampled, x.detach().contiguous().numpy()
        loss, slope, dx = compiled.reconstruction(
            m.starts[: len(rows) + 1],
            m.columns,
            m.data,
            rows,
            table.detach().numpy(),
            bias.detach().numpy().reshape(-1),
            visits.detach().to(x.dtype).numpy() * m.scale,
            get_num_threads(),
        )
        ctx.sampled, ctx.rows, ctx.slope, ctx.dx = m, rows, slope, dx
        ctx.table, ctx.bias = table, bias
        return torch.tensor(loss, dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        m: Sampled = ctx.sampled
        slope, dx, rows = ctx.slope, ctx.dx, ctx.rows
        scale = gradient.item()
        if scale != 1:
            slope, dx = slope * slope.dtype.type(scale), dx * dx.dtype.type(scale)
        extra = len(m.starts) - 1 - len(rows)
        if extra:  # the extra rows are not reconstructed: no slope, whatever they are
            slope = np.concatenate([slope, np.zeros(len(m.columns) - len(slope), slope.dtype)])
            rows = np.concatenate([rows, np.zeros((extra, rows.shape[1]), rows.dtype)])
        table = compiled.table_gradient(
            m.begins, m.row_of, m.entry_of, slope, rows, get_num_threads()
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
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        g = gradient.contiguous().numpy()
        index = ctx.index.numpy()
        parts = []
        for position, n in enumerate(ctx.lengths):
            begins, tuples = compiled.sort_by_node(np.ascontiguousarray(index[:, position]), n)
            total = compiled.scatter_sum(begins, tuples, g, get_num_threads())
            parts.append(torch.from_numpy(total))
        return None, *parts
