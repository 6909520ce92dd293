"""Drawing from a discrete distribution in constant time: the alias method of Walker and Vose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class AliasTable:
    """Draws indices in proportion to weights.

    Parameters
    ----------
    weights : float64[n], not negative, not all zero

    Examples
    --------
    >>> table = AliasTable(np.array([0.0, 1.0, 3.0]))
    >>> draws = table.draw(10_000, np.random.default_rng(0))
    >>> (np.bincount(draws, minlength=3) / 10_000).round(2)
    array([0.  , 0.25, 0.75])
    """

    def __init__(self, weights: npt.ArrayLike) -> None:
        from .compiled import build_alias

        scaled = np.array(weights, dtype=np.float64)
        scaled *= len(scaled) / scaled.sum()
        self.threshold, self.other = build_alias(scaled)

    def draw(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return indices drawn independently."""
        column = rng.integers(len(self.threshold), size=shape)
        keep = rng.random(shape) < self.threshold[column]
        return np.where(keep, column, self.other[column])
