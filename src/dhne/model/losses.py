"""First-order losses, from the logits of hyperedges and of their negatives.

A loss receives the logits of a batch's hyperedges and negatives of one edge type, grouped by
hyperedge, and returns a sum over the tuples. To add one, derive from `Loss` and call
`register_loss`; models can then be trained with its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters.open_choices import LOSSES


@dataclass(frozen=True)
class TupleLogits:
    """The logits of B hyperedges and of the k negatives of each.

    Attributes
    ----------
    flat : float[B * (k + 1)]
        Hyperedges first, then the negatives, grouped by hyperedge.
    valid : bool[B * k]
        Which negatives were found; the others are ignored.
    num_edges : int
        B.
    """

    flat: Tensor
    valid: Tensor
    num_edges: int

    @property
    def edges(self) -> Tensor:
        """``float[B]``: the logits of the hyperedges."""
        return self.flat[: self.num_edges]

    @property
    def negatives(self) -> Tensor:
        """``float[B, k]``: the logits of each hyperedge's negatives."""
        return self.flat[self.num_edges :].reshape(self.num_edges, -1)

    @property
    def found(self) -> Tensor:
        """``bool[B, k]``: which negatives were found."""
        return self.valid.reshape(self.num_edges, -1)


class Loss(ABC):
    """A first-order loss."""

    @abstractmethod
    def __call__(self, logits: TupleLogits) -> Tensor:
        """Return the loss, summed over hyperedges and negatives."""


class CrossEntropy(Loss):
    """L1 = Σ −R log S − (1 − R) log(1 − S), with R = 1 for hyperedges and 0 for negatives."""

    def __call__(self, logits: TupleLogits) -> Tensor:
        """Return the cross-entropy of all tuples."""
        target = torch.zeros_like(logits.flat)
        target[: logits.num_edges] = 1
        weight = torch.cat([torch.ones_like(target[: logits.num_edges]), logits.valid.to(target)])
        return functional.binary_cross_entropy_with_logits(
            logits.flat, target, weight, reduction="sum"
        )


_LOSSES: dict[str, type[Loss]] = {}


def register_loss(name: str, loss: type[Loss]) -> None:
    """Register a loss under a name; a name in use must refer to the same class."""
    if _LOSSES.setdefault(name, loss) is not loss:
        raise ParameterError(f"there is already a loss called {name!r}")
    if name not in LOSSES:
        LOSSES.append(name)


def loss_names() -> tuple[str, ...]:
    """Return the names of all losses."""
    return tuple(_LOSSES)


def make_loss(name: str) -> Loss:
    """Return the loss with this name.

    Examples
    --------
    >>> type(make_loss("cross-entropy")).__name__
    'CrossEntropy'
    """
    if name not in _LOSSES:
        raise UnknownNameError("loss", name, _LOSSES)
    return _LOSSES[name]()


register_loss("cross-entropy", CrossEntropy)
