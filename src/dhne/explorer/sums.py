"""The inner loop of ranking, compiled by numba; import this only where it runs."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


# No argument is infinite or NaN (the caller sees to that), so the faster arithmetic is safe, and
# division by zero need not be looked for: every divisor is above 1.
@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def weighted_reciprocals(table: Any, queries: Any, weights: Any, out: Any) -> None:
    """Set ``out[q, i]`` to Σ_j weights[j] / (1 + table[i, j] · queries[q, j]).

    A row of the table is read once for all queries: it stays in the cache.
    """
    for i in range(table.shape[0]):
        for q in range(queries.shape[0]):
            total = np.float32(0)
            for j in range(table.shape[1]):
                total += weights[j] / (np.float32(1) + table[i, j] * queries[q, j])
            out[q, i] = total
