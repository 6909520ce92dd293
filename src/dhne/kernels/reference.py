"""The reference backend: the operations in plain torch, on any device, to read and to check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .interface import Distinct, Kernels, RowSample, RowSelection, Stepped, StepSize, UpdateRule


class _Entries:
    """Non-zeros of a row selection, spelled out: row within M, column, value, its share."""

    def __init__(self, selection: RowSelection, sample: RowSample | None) -> None:
        matrix, rows = selection.matrix, selection.rows
        start = matrix.indptr[rows]
        degree = matrix.indptr[rows + 1] - start
        taken = degree if sample is None else degree.clamp(max=sample.most)
        self.num_rows = selection.num_rows
        self.row = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), taken)
        number = torch.arange(len(self.row), device=rows.device)
        number = number - (torch.cumsum(taken, 0) - taken)[self.row]
        if sample is not None:
            n, k = degree[self.row], taken[self.row]
            spread = ((number + sample.turn) * n.double() / k).long()
            number = torch.where(n == k, number, spread)
        position = start[self.row] + number
        self.column = matrix.indices[position].long()
        self.value = matrix.values[position]
        self.scale = (degree.to(self.value.dtype) / taken.clamp(min=1))[self.row]
        self.num_stored = len(self.row)  # those of the matrix itself, before the extra rows'
        self.base = None
        if selection.extra is not None:
            extra = selection.extra
            self.base = extra.base
            width = extra.columns.shape[1]
            row = len(rows) + torch.arange(len(extra), device=rows.device)
            self.row = torch.cat([self.row, row.repeat_interleave(width)])
            self.column = torch.cat([self.column, extra.columns.reshape(-1)])
            self.value = torch.cat([self.value, extra.values.reshape(-1)])
            self.scale = torch.cat([self.scale, self.scale.new_ones(extra.columns.numel())])

    def product(self, table: Tensor) -> Tensor:
        """Return M W, each entry weighted by the number of entries it represents."""
        rows = torch.nn.functional.embedding(self.column, table, sparse=True)
        out = table.new_zeros(self.num_rows, table.shape[1])
        out = out.index_add(0, self.row, (self.value * self.scale)[:, None] * rows)
        if self.base is None:
            return out
        stored, extra = torch.split(out, [len(out) - len(self.base), len(self.base)])
        return torch.cat([stored, stored[self.base] + extra])


class ReferenceKernels(Kernels):
    """Gather, multiply, sum: every non-zero spelled out, gradients by autograd."""

    name = "reference"

    def prepare(self, selection: RowSelection) -> tuple[_Entries, _Entries]:
        """Spell the non-zeros out: (all, those that gradients run over)."""
        every = _Entries(selection, None)
        sample = selection.sample
        return every, every if sample is None else _Entries(selection, sample)

    def encode(self, plan: Any, table: Tensor) -> Tensor:
        """Return M W; the value of all non-zeros, the gradient of the sample."""
        every, sampled = _both(plan)
        if sampled is every:
            return every.product(table)
        value = every.product(table.detach())
        part = sampled.product(table)
        return value + (part - part.detach())

    def reconstruction(
        self, plan: Any, x: Tensor, table: Tensor, bias: Tensor, visits: Tensor
    ) -> Tensor:
        """Return the weighted squared error over the stored non-zeros, or their sample."""
        entries = _both(plan)[1]
        n = entries.num_stored
        row, column, target = entries.row[:n], entries.column[:n], entries.value[:n].clamp(max=1)
        v = torch.nn.functional.embedding(column, table, sparse=True)
        c = torch.nn.functional.embedding(column, bias, sparse=True)[:, 0]
        fitted = torch.sigmoid((x[row] * v).sum(1) + c)
        return (visits[row] * entries.scale[:n] * (fitted - target) ** 2).sum()

    def gather_sum(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        """Return Σ_p parts[p][index[:, p]]."""
        total = parts[0][index[:, 0]]
        for position in range(1, len(parts)):
            total = total + parts[position][index[:, position]]
        return total

    def distinct(self, columns: Sequence[Tensor], num_nodes: int) -> Distinct:
        """Sort and compare neighbours."""
        nodes, inverse, visits = torch.unique(
            torch.cat(list(columns)), return_inverse=True, return_counts=True
        )
        return Distinct(nodes, visits, list(torch.split(inverse, [len(c) for c in columns])))

    def update(self, stepped: Stepped, size: StepSize) -> None:
        """Gather the rows that have a gradient, step, put them back."""
        parameter, state = stepped.parameter, stepped.moments
        gradient = parameter.grad
        if gradient is None:
            return
        rows, g = touched_rows(gradient)
        new = [t[rows] for t in (parameter.detach(), *state)]
        step_rows(new, g, stepped.rule, size)
        with torch.no_grad():
            for whole, part in zip((parameter, *state), new, strict=True):
                whole[rows] = part


def _both(plan: tuple[_Entries, _Entries]) -> tuple[_Entries, _Entries]:
    return plan


def touched_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Return (rows that have a gradient, their gradients)."""
    if gradient.is_sparse:
        gradient = gradient.coalesce()
        return gradient.indices()[0], gradient.values()
    flat = gradient.reshape(len(gradient), -1) if gradient.dim() else gradient.reshape(1, 1)
    rows = torch.nonzero((flat != 0).any(dim=1))[:, 0]
    return rows, gradient[rows] if gradient.dim() else gradient.reshape(1)


def step_rows(values: Sequence[Tensor], g: Tensor, rule: UpdateRule, size: StepSize) -> None:
    """One optimizer step in place on (parameter, *state), as `dhne.training.optimizers` has it."""
    p, rate = values[0], size.rate * rule.gain
    if rule.name == "sgd":
        p.sub_(rate * g)
    elif rule.name == "adagrad":
        s = values[1]
        s.add_(g * g)
        p.sub_(rate * g / (s.sqrt() + rule.epsilon))
    elif rule.name == "rmsprop":
        s = values[1]
        s.mul_(rule.beta2).add_((1 - rule.beta2) * g * g)
        p.sub_(rate * g / (s.sqrt() + rule.epsilon))
    else:
        m, s = values[1], values[2]
        m.mul_(rule.beta1).add_((1 - rule.beta1) * g)
        s.mul_(rule.beta2).add_((1 - rule.beta2) * g * g)
        p.sub_(rate * m / ((s * size.correction).sqrt() + rule.epsilon))
