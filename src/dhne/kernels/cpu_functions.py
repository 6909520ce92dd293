"""The compiled loops as differentiable torch functions.

Each function of a table is given the list of tables whose gradients are left pending, to be summed
by the optimizer's step; or None, and the gradient is returned as a sparse tensor.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .compiled import autoencoder, similarity
from .cpu_matrix import BatchMatrix, TableGradient
from .cpu_threads import num_pieces
from .interface import Table

Pending = list[Table] | None


def _hand_on(gradient: TableGradient, table: Tensor, pending: Pending) -> Tensor | None:
    if pending is not None and isinstance(table, Table):
        assert table.pending is None, "a table is used once per step"
        table.pending = gradient
        pending.append(table)
        return None
    return torch.sparse_coo_tensor(
        torch.from_numpy(gradient.matrix.touched)[None],
        torch.from_numpy(gradient.rows()),
        table.shape,
        is_coalesced=True,
        check_invariants=False,
    )


class Encode(Function):
    """M W."""

    @staticmethod
    def forward(ctx: Any, matrix: BatchMatrix, table: Tensor, pending: Pending) -> Tensor:
        """Sum the whole rows."""
        ctx.matrix, ctx.table, ctx.pending = matrix, table, pending
        where = (*matrix.csr, matrix.rows, matrix.starts, *matrix.extra)
        rows = autoencoder.encode(*where, table.detach().numpy(), num_pieces())
        if matrix.base is not None:
            autoencoder.add_bases(rows, matrix.base)
        return torch.from_numpy(rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Run over a sample of long rows."""
        m, rows = ctx.matrix.sampled, gradient.contiguous().numpy()
        if ctx.matrix.base is not None:
            rows = rows.copy()
            autoencoder.add_to_bases(rows, ctx.matrix.base)
        of_table = TableGradient(m, m.weighted, rows)
        return None, _hand_on(of_table, ctx.table, ctx.pending), None


class Reconstruction(Function):
    """Σ_i visits_i Σ_j (σ(x_i·V_j + c_j) − a_ij)²."""

    @staticmethod
    def forward(
        ctx: Any,
        matrix: BatchMatrix,
        x: Tensor,
        table: Tensor,
        bias: Tensor,
        visits: Tensor,
        pending: Pending,
    ) -> Tensor:
        """Compute the gradient in x too, while the rows of V are at hand."""
        m, rows = matrix.sampled, x.detach().contiguous().numpy()
        loss, slope, dx = autoencoder.reconstruction(
            m.starts[: len(visits) + 1],
            m.columns,
            m.data,
            rows,
            table.detach().numpy(),
            bias.detach().numpy().reshape(-1),
            visits.detach().to(x.dtype).numpy() * m.scale,
            num_pieces(),
        )
        ctx.sampled, ctx.rows, ctx.slope, ctx.dx = m, rows, slope, dx
        ctx.table, ctx.bias, ctx.pending = table, bias, pending
        return torch.tensor(loss, dtype=x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Hand on the slopes; the extra rows are not reconstructed and have none."""
        slope, dx, scale = ctx.slope, ctx.dx, gradient.item()
        if scale != 1:
            slope, dx = slope * slope.dtype.type(scale), dx * dx.dtype.type(scale)
        of_table = _hand_on(TableGradient(ctx.sampled, slope, ctx.rows), ctx.table, ctx.pending)
        of_bias = _hand_on(TableGradient(ctx.sampled, slope, None), ctx.bias, ctx.pending)
        return None, torch.from_numpy(dx), of_table, of_bias, None, None


class GatherSum(Function):
    """Σ_p parts[p][index[:, p]]."""

    @staticmethod
    def forward(ctx: Any, index: Tensor, *parts: Tensor) -> Tensor:
        """Add rows up."""
        ctx.index, ctx.lengths = index, [len(p) for p in parts]
        return torch.from_numpy(similarity.gather_sum(_arrays(parts), index.numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Sum what tuples give, node by node."""
        return None, *_to_nodes(ctx.index, ctx.lengths, gradient.contiguous().numpy())


class HiddenLayer(Function):
    """w · tanh(Σ_p parts[p][index[:, p]] + b + z Z)."""

    @staticmethod
    def forward(
        ctx: Any,
        index: Tensor,
        bias: Tensor,
        output: Tensor,
        features: Tensor | None,
        evidence: Tensor | None,
        *parts: Tensor,
    ) -> Tensor:
        """Sum, activate and weigh tuple by tuple."""
        b, w = bias.detach().numpy(), output.detach().numpy()
        known = None
        if features is not None and evidence is not None:
            known = torch.addmm(bias.detach(), features, evidence.detach()).numpy()
        hidden, logits = similarity.hidden_layer(_arrays(parts), index.numpy(), b, known, w)
        ctx.index, ctx.lengths, ctx.hidden, ctx.output = index, [len(p) for p in parts], hidden, w
        ctx.features = features
        return torch.from_numpy(logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """From the logits to the sums, and from there to everything that is in them."""
        of_sum, of_bias, of_output = similarity.hidden_gradient(
            ctx.hidden, gradient.contiguous().numpy(), ctx.output, num_pieces()
        )
        of_evidence = None
        if ctx.features is not None:
            of_evidence = ctx.features.T @ torch.from_numpy(of_sum)
        of_parts = _to_nodes(ctx.index, ctx.lengths, of_sum)
        mine = torch.from_numpy(of_bias), torch.from_numpy(of_output)
        return None, *mine, None, of_evidence, *of_parts


class RaggedSum(Function):
    """Σ_j part[index[j]] over the members of each tuple."""

    @staticmethod
    def forward(ctx: Any, index: Tensor, begins: Tensor, part: Tensor) -> Tensor:
        """Add rows up."""
        ctx.where, ctx.num_nodes = (index.numpy(), begins.numpy()), len(part)
        return torch.from_numpy(similarity.ragged_sum(*_arrays((part,)), *ctx.where))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Sum what tuples give, node by node."""
        return None, None, _to_members(ctx, gradient.contiguous().numpy())


class RaggedLayer(Function):
    """w · tanh(Σ_j part[index[j]] + b + z Z)."""

    @staticmethod
    def forward(
        ctx: Any,
        index: Tensor,
        begins: Tensor,
        bias: Tensor,
        output: Tensor,
        features: Tensor | None,
        evidence: Tensor | None,
        part: Tensor,
    ) -> Tensor:
        """Sum, activate and weigh tuple by tuple."""
        b, w = bias.detach().numpy(), output.detach().numpy()
        known = None
        if features is not None and evidence is not None:
            known = torch.addmm(bias.detach(), features, evidence.detach()).numpy()
        (rows,) = _arrays((part,))
        where = (index.numpy(), begins.numpy())
        hidden, logits = similarity.ragged_layer(rows, where[0], where[1], b, known, w)
        ctx.where, ctx.num_nodes = where, len(part)
        ctx.hidden, ctx.output, ctx.features = hidden, w, features
        return torch.from_numpy(logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """From the logits to the sums, and from there to everything that is in them."""
        of_sum, of_bias, of_output = similarity.hidden_gradient(
            ctx.hidden, gradient.contiguous().numpy(), ctx.output, num_pieces()
        )
        of_evidence = None
        if ctx.features is not None:
            of_evidence = ctx.features.T @ torch.from_numpy(of_sum)
        mine = torch.from_numpy(of_bias), torch.from_numpy(of_output)
        return None, None, *mine, None, of_evidence, _to_members(ctx, of_sum)


def _to_members(ctx: Any, of_sum: npt.NDArray[Any]) -> Tensor:
    """Return for each node the sum over the tuples that it is a member of."""
    begins, tuples = similarity.sort_members(*ctx.where, ctx.num_nodes)
    return torch.from_numpy(similarity.scatter_sum(begins, tuples, of_sum, num_pieces()))


def _arrays(parts: tuple[Tensor, ...]) -> tuple[npt.NDArray[Any], ...]:
    return tuple(p.detach().contiguous().numpy() for p in parts)


def _to_nodes(index: Tensor, lengths: list[int], of_sum: npt.NDArray[Any]) -> list[Tensor]:
    """Return for each position and node the sum over the tuples that have it there."""
    parts = []
    for position, n in enumerate(lengths):
        begins, tuples = similarity.sort_by_node(
            np.ascontiguousarray(index.numpy()[:, position]), n
        )
        total = similarity.scatter_sum(begins, tuples, of_sum, num_pieces())
        parts.append(torch.from_numpy(total))
    return parts
