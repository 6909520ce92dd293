"""Corruption schemes: which positions of a hyperedge get another node, and which node.

`paper`
    With probability 0.9 one uniformly chosen position, otherwise two distinct ones, get a uniformly
    drawn node of their type.
`one`
    Always one position.
`all`
    Every position: random tuples.
`degree`
    Positions as in `paper`, nodes with probability ∝ degree^0.75, so that negatives have degrees
    like those of hyperedges.
`matched`
    Every position, nodes with probability ∝ degree: random tuples of the same size, whose nodes
    have the degrees of hyperedges' nodes. Neither size nor popularity tells them from hyperedges.

The drawn node may equal the old one; a draw that changes nothing is not a negative, and the sampler
draws again.
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
BY_DEGREE = {"degree": 0.75, "matched": 1.0}  # the power of the degree that nodes are drawn by

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
        For weighted nodes: p plus the cumulative probability of the nodes at position p, one
        position after the other, so that one binary search serves all positions.
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
        """Return a node per position (all the same or one each); overwrites `uniform`."""
        if self.cumulative is None:
            uniform *= self.sizes[positions]
            return draws.truncate(uniform)
        found = draws.search(self.cumulative, positions + uniform * _BELOW_ONE)
        return found - self.starts[positions]

    def levels(self) -> range:
        """Return how many positions may change when corruptions are listed, fewest first.

        The schemes that change one or two positions continue with more if those are used up.
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
