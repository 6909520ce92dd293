"""Corruption schemes: which positions of a hyperedge are replaced, and by which nodes.

`paper`
    Replaces one uniformly chosen position with probability 0.9, otherwise two distinct ones, by
    uniformly drawn nodes of the same type.
`one`
    Always one position.
`all`
    Every position: random tuples.
`degree`
    Positions as in `paper`; nodes with probability ∝ degree^0.75, so that the degrees in negatives
    resemble those in hyperedges.
`matched`
    Every position, with nodes drawn with probability ∝ degree: random tuples of the same size with
    the node degrees of hyperedges. Neither size nor popularity distinguishes them from hyperedges.

The drawn node may equal the old one; a draw that changes nothing is not a negative, and the sampler
redraws it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError, UnknownNameError
from dhne.network.edges import NodeArray

from .draws import Draws

SCHEMES = ("paper", "one", "all", "degree", "matched")
BY_DEGREE = {"degree": 0.75, "matched": 1.0}  # exponent of the degree in the probability of a node

_ONE_POSITION = 0.9
_BELOW_ONE = 1 - 2.0**-40  # keeps numbers below 1 from being rounded up to 1


@dataclass(frozen=True, eq=False)
class Scheme:
    """A corruption scheme for one edge type.

    Attributes
    ----------
    name : str
    sizes : float64[N]
        Number of possible nodes per position.
    cumulative : float64[Σ n_p], optional
        For weighted nodes: p plus the cumulative probability of the nodes at position p,
        concatenated over positions, so that one binary search serves all of them.
    starts : int64[N], optional
        Where each position begins in `cumulative`.
    """

    name: str
    sizes: Any
    cumulative: Any = None
    starts: Any = None

    @classmethod
    def make(
        cls, name: str, sizes: NodeArray, degrees: list[npt.NDArray[np.float64]] | None = None
    ) -> Scheme:
        """Create a scheme; those that draw by degree need the degrees of the nodes per position."""
        if name not in SCHEMES:
            raise UnknownNameError("scheme", name, SCHEMES)
        if name not in BY_DEGREE:
            return cls(name, sizes.astype(np.float64))
        if degrees is None:
            raise ParameterError(f"the scheme {name!r} needs the degrees of the nodes")
        parts = []
        for p, degree in enumerate(degrees):
            weight = degree.astype(np.float64) ** BY_DEGREE[name]
            total = np.cumsum(weight if weight.any() else np.ones_like(weight))
            parts.append(p + total / total[-1:])
        starts = np.cumsum([0, *(len(d) for d in degrees[:-1])])
        return cls(name, sizes.astype(np.float64), np.concatenate(parts), starts.astype(np.int64))

    def on(self, draws: Draws) -> Scheme:
        """Return the scheme with its tables on the device of `draws`."""
        move = draws.table
        if self.cumulative is None:
            return replace(self, sizes=move(self.sizes))
        return Scheme(self.name, *(move(x) for x in (self.sizes, self.cumulative, self.starts)))

    def draw(self, positives: Any, k: int, draws: Draws) -> Any:
        """Return k corruptions per positive, ``int64[m * k, N]``, unchecked."""
        columns = draws.repeat(positives.T, k)  # int64[N, m * k]: each position is contiguous
        length, count = columns.shape
        if self.name in ("all", "matched"):
            for p in range(length):
                columns[p] = self.nodes(p, draws.uniform(count), draws)
            return columns.T
        # One number gives a one-position draw: its integer part is the position, the rest the node.
        # A rest of 0.9 or more means two positions; their nodes are drawn separately.
        rest = draws.uniform(count)
        rest *= length
        first = draws.truncate(rest)
        rest -= first
        flat, place = columns.reshape(-1), draws.range(count)
        if self.name == "one":
            flat[first * count + place] = self.nodes(first, rest, draws)
            return columns.T
        two = rest >= _ONE_POSITION
        rest *= _BELOW_ONE / _ONE_POSITION
        new = self.nodes(first, rest, draws)
        rows = draws.rows_at_most(two)
        two, one = two[rows], first[rows]
        new[rows] = draws.where(two, self.nodes(one, draws.uniform(len(one)), draws), new[rows])
        flat[first * count + place] = new
        step = draws.truncate(draws.uniform(len(one)) * (length - 1))
        other = (one + 1 + step) % length
        at = other * count + place[rows]
        node = self.nodes(other, draws.uniform(len(one)), draws)
        flat[at] = draws.where(two, node, flat[at])
        return columns.T

    def nodes(self, positions: Any, uniform: Any, draws: Draws) -> Any:
        """Return nodes for `positions` (one for all, or one each); overwrites `uniform`."""
        if self.cumulative is None:
            uniform *= self.sizes[positions]
            return draws.truncate(uniform)
        found = draws.search(self.cumulative, positions + uniform * _BELOW_ONE)
        return found - self.starts[positions]

    def levels(self) -> range:
        """Return the numbers of positions to change when corruptions are listed, fewest first.

        The schemes that change one or two positions go on to more if those are exhausted.
        """
        length = len(self.sizes)
        first = {"all": length, "matched": length}.get(self.name, 1)
        last = {"one": 1}.get(self.name, length)
        return range(first, last + 1)

    def probabilities(self, position: int) -> npt.NDArray[np.float64]:
        """Return the probability of drawing each node at a position."""
        n = int(self.sizes[position])
        if self.cumulative is None:
            return np.full(n, 1 / max(n, 1))
        start = int(self.starts[position])
        return np.diff(self.cumulative[start : start + n], prepend=float(position))
