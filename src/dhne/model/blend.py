"""The weighted sum of the logits of the similarity and of the products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Blend(NamedTuple):
    """logit = similarity · h + products · ρ."""

    similarity: float = 1.0
    products: float = 0.0

    def __call__(self, h: Floats, rho: Floats) -> Floats:
        """Return the logits of tuples."""
        return self.similarity * h + self.products * rho
