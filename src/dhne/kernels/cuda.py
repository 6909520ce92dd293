"""The CUDA backend: Triton kernels, nothing that makes the host wait for the device.

Rows are cut into pieces of at most `PIECE` non-zeros, so that a hub is shared out among many
programs; pieces of one row add up atomically. The number of pieces of a batch is known to the
device alone, but not more than so many of the matrix's longest rows have, which the host asks
once: that many programs start, and those without a piece end at once. Likewise the distinct nodes
of a batch are padded (with -1, an empty row) to a size the host knows. Gradients of tables are
dense here: clearing and scanning them costs less than finding out which rows a batch touched.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import triton
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from . import cuda_programs as programs
from .counts import TupleTables
from .cuda_counts import CudaCounts
from .interface import Distinct, Inputs, Kernels, RowSelection, SparseMatrix, Stepped, StepSize

PIECE = 64  # non-zeros of a row that one program takes
_BLOCK = 16  # non-zeros it takes at once
_LANES = 256  # numbers a program takes where each needs little
_WARM_UP = 2  # steps of a shape that run as they are before it is recorded


@dataclass(frozen=True)
class Pieces:
    """A batch matrix cut into pieces: program i takes entries first[i] … last[i]-1 of row[i]."""

    row: Tensor  # int32[programs]
    first: Tensor  # int64[programs]
    last: Tensor  # int64[programs], equal to first where there is nothing to do
    columns: Tensor  # of the matrix
    values: Tensor
    num_rows: int
    extra: Any  # ExtraRows or None

    @property
    def entries(self) -> tuple[Tensor, ...]:
        """What every kernel over the pieces takes first."""
        return self.row, self.first, self.last, self.columns, self.values


class _Recording:
    """A step recorded as a CUDA graph, with the tensors it reads its inputs from."""

    def __init__(
        self,
        step: Callable[[Inputs, StepSize], Tensor],
        inputs: Inputs,
        size: StepSize,
    ) -> None:
        self.tensors = [t.clone() for t in inputs.tensors]
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):  # records, does not run
            self.output = step(inputs.with_tensors(self.tensors), size)

    def play(self, tensors: list[Tensor]) -> Tensor:
        for own, given in zip(self.tensors, tensors, strict=True):
            own.copy_(given)
        self.graph.replay()
        return self.output


class CudaKernels(Kernels):
    """Triton kernels on one GPU."""

    name = "cuda"

    def __init__(self, device: torch.device) -> None:
        # A step's size is read from the device, so that a recorded step can be played with another.
        self._sizes = torch.zeros(2, dtype=torch.float64, device=device)
        self._recorded: dict[tuple[torch.Size, ...], _Recording] = {}
        self._seen: dict[tuple[torch.Size, ...], int] = {}
        self._counts = CudaCounts()

    @contextmanager
    def training(self) -> Iterator[None]:
        """Forget the steps that were recorded, with another training's model."""
        self._recorded, self._seen = {}, {}
        try:
            yield
        finally:
            self._recorded, self._seen = {}, {}

    def run_step(
        self,
        step: Callable[[Inputs, StepSize], Tensor],
        inputs: Inputs,
        size: StepSize,
    ) -> Tensor:
        """Record the step as a CUDA graph once its shape has come up a few times, and play that."""
        self._set(size)
        tensors = inputs.tensors
        shape = tuple(t.shape for t in tensors)
        if shape in self._recorded:
            return self._recorded[shape].play(tensors)
        if not self.may_record:
            return step(inputs, size)
        self._seen[shape] = self._seen.get(shape, 0) + 1
        if self._seen[shape] <= _WARM_UP:
            return step(inputs, size)
        self._recorded[shape] = _Recording(step, inputs, size)
        return self._recorded[shape].play(tensors)

    def _set(self, size: StepSize) -> None:
        self._sizes[0].fill_(size.rate)
        self._sizes[1].fill_(size.correction)

    def prepare(self, selection: RowSelection) -> Pieces:
        """Cut the selected rows into pieces."""
        matrix, rows = selection.matrix, selection.rows.contiguous()
        n = len(rows)
        bound = self._most_pieces(matrix, n)
        row = torch.empty(bound, dtype=torch.int32, device=rows.device)
        first, last = rows.new_empty(bound), rows.new_empty(bound)
        if n:
            pieces = torch.empty_like(rows)
            programs.pieces_kernel[(triton.cdiv(n, _LANES),)](
                rows, matrix.indptr, pieces, n, PIECE=PIECE, LANES=_LANES
            )
            args = (rows, matrix.indptr, torch.cumsum(pieces, 0), row, first, last, n, bound)
            programs.cut_kernel[(triton.cdiv(bound, _LANES),)](*args, PIECE=PIECE, LANES=_LANES)
        return Pieces(row, first, last, matrix.indices, matrix.values, n, selection.extra)

    def _most_pieces(self, matrix: SparseMatrix, n: int) -> int:
        """Return the largest number of pieces that n rows can have: that of the longest; cached."""
        key = ("pieces", n)
        if key not in matrix.kept:
            pieces = (matrix.indptr.diff() + PIECE - 1) // PIECE
            most = torch.topk(pieces, min(n, len(pieces)), sorted=False).values.sum()
            matrix.kept[key] = int(most)
        found: int = matrix.kept[key]
        return found

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
        """Count pair by pair; what a negative keeps of its hyperedge is counted once."""
        return self._counts.count(tables, nodes, source, left_out, num_edges, of_edges)

    def distinct(self, columns: Sequence[Tensor], num_nodes: int) -> Distinct:
        """Return all nodes of a small type; else sort, and pad to as many as there could be."""
        every = torch.cat(list(columns)) if len(columns) > 1 else columns[0].contiguous()
        sizes = [len(c) for c in columns]
        m = len(every)
        if num_nodes <= m:
            visits = torch.zeros(num_nodes, dtype=torch.int64, device=every.device)
            visits.index_add_(0, every, torch.ones_like(every))
            nodes = torch.arange(num_nodes, device=every.device)
            return Distinct(nodes, visits, list(torch.split(every, sizes)))
        ordered, place = torch.sort(every.int())  # half the digits to sort by
        nodes, visits = torch.full_like(every, -1), torch.zeros_like(every)
        inverse, new = torch.empty_like(every), torch.empty_like(ordered)
        if m:
            grid = (triton.cdiv(m, _LANES),)
            programs.new_kernel[grid](ordered, new, m, LANES=_LANES)
            args = (ordered, place, torch.cumsum(new, 0), nodes, visits, inverse, m)
            programs.number_kernel[grid](*args, LANES=_LANES)
        return Distinct(nodes, visits, list(torch.split(inverse, sizes)))

    def update(self, stepped: Stepped, size: StepSize) -> None:
        """Step over the rows that have a gradient, in one fused pass."""
        parameter, rule = stepped.parameter, stepped.rule
        gradient = parameter.grad
        if gradient is None:
            return
        if not torch.cuda.is_current_stream_capturing():  # or `run_step` sets it
            self._set(size)
        gradient = gradient.to_dense() if gradient.is_sparse else gradient
        gradient = gradient.contiguous()
        width = gradient.numel() // max(len(gradient), 1) if gradient.dim() > 1 else 1
        rows = gradient.numel() // max(width, 1)
        if not rows:
            return
        moments = [*stepped.moments, parameter, parameter][:2]
        block = triton.next_power_of_2(width)
        per_program = max(1, 1024 // block)
        kinds = {"sgd": 0, "adagrad": 1, "rmsprop": 2, "adam": 3}
        programs.update_kernel[(triton.cdiv(rows, per_program),)](
            parameter,
            gradient,
            *moments,
            self._sizes,
            rows,
            rule.gain,
            rule.beta1,
            rule.beta2,
            rule.epsilon,
            KIND=kinds[rule.name],
            WIDTH=width,
            BLOCK=block,
            ROWS=per_program,
        )


def _extra(plan: Pieces) -> tuple[Tensor, ...]:
    """What the programs of extra rows take first."""
    extra = plan.extra
    base = extra.columns if extra.base is None else extra.base  # not read if there is none
    return extra.columns.contiguous(), extra.values.contiguous(), base


def _extra_shape(plan: Pieces, table: Tensor) -> dict[str, Any]:
    width = table.shape[1]
    return {
        "num_rows": plan.num_rows,
        "WIDTH": width,
        "BLOCK": triton.next_power_of_2(width),
        "ENTRIES": plan.extra.columns.shape[1],
        "BASE": plan.extra.base is not None,
    }


def _shape(table: Tensor) -> dict[str, int]:
    return {
        "WIDTH": table.shape[1],
        "BLOCK": triton.next_power_of_2(table.shape[1]),
        "STEP": _BLOCK,
    }


class _Encode(Function):
    @staticmethod
    def forward(ctx: Any, plan: Pieces, table: Tensor) -> Tensor:
        ctx.plan, ctx.shape = plan, table.shape
        extra = len(plan.extra) if plan.extra is not None else 0
        out = table.new_zeros(plan.num_rows + extra, table.shape[1])
        if len(plan.row):
            programs.encode_kernel[(len(plan.row),)](*plan.entries, table, out, **_shape(table))
        if extra:
            programs.extra_kernel[(extra,)](*_extra(plan), table, out, **_extra_shape(plan, table))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        plan: Pieces = ctx.plan
        gradient = gradient.contiguous()
        out = gradient.new_zeros(ctx.shape)
        if plan.extra is not None and len(plan.extra):
            gradient = gradient.clone()  # what its rows give to those they are added to goes there
            programs.extra_gradient_kernel[(len(plan.extra),)](
                *_extra(plan), gradient, out, **_extra_shape(plan, out)
            )
        if len(plan.row):
            programs.table_gradient_kernel[(len(plan.row),)](
                *plan.entries, gradient, out, **_shape(out)
            )
        return None, out


class _Reconstruction(Function):
    @staticmethod
    def forward(
        ctx: Any, plan: Pieces, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        x = x.contiguous()
        loss = x.new_zeros(())
        dx, d_table, d_bias = torch.zeros_like(x), torch.zeros_like(table), torch.zeros_like(bias)
        if len(plan.row):
            programs.reconstruction_kernel[(len(plan.row),)](
                *plan.entries,
                x,
                table,
                bias,
                visits.to(x.dtype),
                loss,
                dx,
                d_table,
                d_bias,
                **_shape(table),
            )
        ctx.gradients = dx, d_table, d_bias
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        for g in ctx.gradients:
            if g.numel():
                n, lanes = g.numel(), 8 * _LANES
                programs.scale_kernel[(triton.cdiv(n, lanes),)](g, gradient, n, LANES=lanes)
        return None, *ctx.gradients, None


class _GatherSum(Function):
    @staticmethod
    def forward(ctx: Any, index: Tensor, *parts: Tensor) -> Tensor:
        ctx.index, ctx.lengths = index, [len(p) for p in parts]
        total = parts[0][index[:, 0]]
        for position in range(1, len(parts)):
            total += parts[position][index[:, position]]
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        gradient, index = gradient.contiguous(), ctx.index
        width = gradient.shape[1]
        parts = []
        for position, n in enumerate(ctx.lengths):
            out = gradient.new_zeros(n, width)
            if len(index):
                programs.scatter_kernel[(len(index),)](
                    index[:, position],
                    gradient,
                    out,
                    index.stride(0),
                    WIDTH=width,
                    BLOCK=triton.next_power_of_2(width),
                )
            parts.append(out)
        return None, *parts
