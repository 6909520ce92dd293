"""The compiled loops of products and their loss as differentiable torch functions."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .compiled import products
from .compiled.ranking_loss import softmax_loss
from .cpu_threads import num_pieces
from .products import Dropout
from .ranking_loss import Targets

Seeds = tuple[int, ...]


class Product(Function):
    """drop(u ⊙ Π_k (1 + drop(x_k) Q_k)); the tensors are u's table, then x's and Q of each k."""

    @staticmethod
    def forward(
        ctx: Any, dropout: Dropout, indices: tuple[Tensor, ...], *tensors: Tensor
    ) -> Tensor:
        """Keep the dropped vectors and the factors for the gradient."""
        scale, vectors, matrices = tensors[0], tensors[1::2], tensors[2::2]
        k, m, d = len(vectors), len(indices[0]), scale.shape[1]
        seeds = [dropout.noise.seed() for _ in range(k + 1)]
        own, factors = scale.new_empty(k, m, d), scale.new_empty(k, m, d)
        for i in range(k):
            products.gather(
                vectors[i].detach().numpy(), indices[i + 1].numpy(), seeds[i + 1], dropout.below,
                num_pieces(), own[i].numpy(),
            )  # fmt: skip
            torch.mm(own[i], matrices[i], out=factors[i])
        out = scale.new_empty(m, d)
        products.product(
            scale.detach().numpy(), indices[0].numpy(), factors.numpy(), seeds[0], dropout.below,
            num_pieces(), out.numpy(),
        )  # fmt: skip
        ctx.seeds, ctx.below, ctx.indices = seeds, dropout.below, indices
        ctx.save_for_backward(own, factors, *tensors)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Go back through the product, then through each factor."""
        own, factors, *tensors = ctx.saved_tensors
        scale, vectors, matrices = tensors[0], tensors[1::2], tensors[2::2]
        of_rows, of_factors = torch.empty_like(gradient), torch.empty_like(factors)
        products.product_gradient(
            scale.numpy(), ctx.indices[0].numpy(), factors.numpy(), ctx.seeds[0], ctx.below,
            num_pieces(), gradient.contiguous().numpy(), of_rows.numpy(), of_factors.numpy(),
        )  # fmt: skip
        of_scale = torch.zeros_like(scale)
        products.add_rows(of_rows.numpy(), ctx.indices[0].numpy(), of_scale.numpy())
        found: list[Any] = [None, None, of_scale]
        for i, (x, q) in enumerate(zip(vectors, matrices, strict=True)):
            of_own = (of_factors[i] @ q.T).numpy()
            of_x = torch.zeros_like(x)
            products.scatter(
                of_own, ctx.indices[i + 1].numpy(), ctx.seeds[i + 1], ctx.below, of_x.numpy()
            )
            found += [of_x, own[i].T @ of_factors[i]]
        return tuple(found)


class RankingLoss(Function):
    """Σ_q weights_q loss_q; the logits must not be used again, their memory takes the gradient."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, targets: Targets, weights: Tensor, log_chance: Tensor | None
    ) -> Tensor:
        """Compute the loss and its gradient in one pass."""
        ctx.gradient = gradient = logits.detach()
        arrays = (targets.begins, targets.columns, targets.values, targets.is_certain, weights)
        chance = gradient.new_empty(0) if log_chance is None else log_chance
        losses = np.empty(len(logits), gradient.numpy().dtype)
        softmax_loss(gradient.numpy(), chance.numpy(), *(t.numpy() for t in arrays), losses)
        return torch.from_numpy(losses).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None, None]:
        """Return what forward computed."""
        gradient: Tensor = ctx.gradient
        return gradient if scale == 1 else gradient * scale, None, None, None
