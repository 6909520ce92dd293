"""The sums over workers in each step: A W in the forward pass, all gradients in the backward pass.

The forward and backward passes are split at A W. After the split each worker computes its own loss,
and these add up to the batch's loss; so the gradients at the split, and of the dense weights, add
up to those of the batch. They are summed in a single call, so that the order of collectives cannot
differ between workers, whatever their shares of the batch. Before the split, each worker
backpropagates to its own columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dhne.kernels import Table
from dhne.model.joint import DHNEModel
from dhne.network.edges import EdgeType
from dhne.workers import Group


class Exchange:
    """The sums over workers in each step."""

    def __init__(self, group: Group, model: DHNEModel) -> None:
        self.group, self._model = group, model
        self._joined: list[tuple[Tensor, Tensor]] = []  # in the current step: A_k W_k, A W
        for t in model.num_columns:
            model.autoencoder(t).join = self.join

    def join(self, rows: Tensor) -> Tensor:
        """Return A W from this worker's A_k W_k."""
        whole = self.group.sum_(rows.detach())
        if rows.requires_grad:
            self._joined.append((rows, whole.requires_grad_()))
        return whole

    def backward(self, first: Tensor, second: Tensor, dense: Sequence[nn.Parameter]) -> Tensor:
        """Set the gradients of the whole loss on all weights, and return its parts (L1, α L2).

        `dense` lists the weights for which some worker has a gradient.
        """
        loss = first + second
        if loss.requires_grad:  # false if this worker has no tuple of the batch and α is 0
            loss.backward()  # type: ignore[no-untyped-call]
        tensors = [*(whole for _, whole in self._joined), *dense]
        pieces = [torch.zeros_like(t) if t.grad is None else t.grad for t in tensors]
        pieces.append(torch.stack([first.detach(), second.detach()]))
        flat = self.group.sum_(torch.cat([p.reshape(-1) for p in pieces]))
        cut = torch.split(flat, [p.numel() for p in pieces])
        *summed, losses = (x.view_as(p) for x, p in zip(cut, pieces, strict=True))
        rows = [rows for rows, _ in self._joined]
        torch.autograd.backward(rows, summed[: len(rows)])
        for parameter, gradient in zip(dense, summed[len(rows) :], strict=True):
            parameter.grad = gradient
        self._joined.clear()
        return losses.clone()

    def dense(
        self, node_types: Sequence[str], edge_types: Sequence[EdgeType]
    ) -> list[nn.Parameter]:
        """Return the dense weights for which a batch of these types has gradients."""
        modules: list[nn.Module] = [self._model.autoencoder(t) for t in node_types]
        modules += dict.fromkeys(self._model.similarity(r) for r in edge_types)
        return [p for m in modules for p in m.parameters() if not isinstance(p, Table)]
