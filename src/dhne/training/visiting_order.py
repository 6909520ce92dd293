"""A random order of hyperedges that takes no memory: any part of it is computed when needed.

The order is a permutation of 0 … n − 1 from a Feistel network: a number's bits are cut into two
halves, and in each round a hash of one half is added to the other, which can be undone. That
permutes 0 … 2^b − 1; a result of n or more is permuted again until it is below n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.network.edge_keys import mix

_ROUNDS = 4

Indices = npt.NDArray[np.int64]


class VisitingOrder:
    """A random permutation of ``0 … size - 1``, which depends only on the generator.

    Examples
    --------
    >>> order = VisitingOrder(6, np.random.default_rng(0))
    >>> np.sort(order[:])
    array([0, 1, 2, 3, 4, 5])
    >>> np.array_equal(order[2:5], order[:][2:5])
    True
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size = size
        bits = max(2, (size - 1).bit_length())
        self._low_bits = bits // 2
        self._low, self._high = (1 << bits // 2) - 1, (1 << (bits - bits // 2)) - 1
        self._keys = rng.integers(2**62, size=_ROUNDS)

    def __getitem__(self, part: slice) -> Indices:
        found = self._permuted(np.arange(*part.indices(self.size), dtype=np.int64))
        outside = np.flatnonzero(found >= self.size)
        while len(outside):
            found[outside] = self._permuted(found[outside])
            outside = outside[found[outside] >= self.size]
        return found

    def _permuted(self, numbers: Indices) -> Indices:
        low, high = numbers & self._low, numbers >> self._low_bits
        with np.errstate(over="ignore"):
            for key in self._keys:
                low = (low + _hash(high, key)) & self._low
                high = (high + _hash(low, key)) & self._high
        return (high << self._low_bits) | low


def _hash(half: Indices, key: Any) -> Indices:
    hashed: Indices = mix(half + key)
    return hashed
