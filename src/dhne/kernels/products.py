"""Products of factors: for each of m tuples, drop(u ⊙ Π_k (1 + drop(x_k) Q_k)).

x_k is the vector of the node at one position, Q_k the matrix of its role, u a vector that scales
the product; `drop` sets a share of the numbers to 0 and scales up the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor


class Rows(NamedTuple):
    """Row ``ids[i]`` of a table for each tuple i."""

    table: Tensor
    ids: Tensor

    def take(self) -> Tensor:
        """Return ``float[m, d]``."""
        return self.table.index_select(0, self.ids)


class Factor(NamedTuple):
    """The vectors x of the nodes at one position, and the matrix Q of its role."""

    vectors: Rows
    matrix: Tensor


class Noise(Protocol):
    """A source of random numbers for dropout."""

    def drop(self, x: Tensor, rate: float) -> Tensor:
        """Set a share of the numbers to 0 and scale up the others."""

    def seed(self) -> int:
        """Return a seed for compiled code, another one at every call."""


@dataclass(frozen=True)
class Dropout:
    """Dropout at a rate, a multiple of 1/256."""

    rate: float
    noise: Noise

    @property
    def below(self) -> int:
        """The rate in 256ths: a number is dropped if a random byte is below it."""
        return round(256 * self.rate)

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x` with dropout."""
        return self.noise.drop(x, self.rate)


def product(factors: Sequence[Factor], scale: Rows, dropout: Dropout) -> Tensor:
    """Return the products ``float[m, d]``; `scale` has the rows of u."""
    parts = [1 + dropout(f.vectors.take()) @ f.matrix for f in factors]
    return dropout(math.prod(parts, start=scale.take()))
