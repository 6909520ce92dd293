"""Leading eigenvectors of a symmetric operator, the same bits for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator, eigsh

_DENSE = 600  # up to this many rows a dense solver is exact and faster


def leading_eigenvectors(
    operator: Any, k: int, *, rng: np.random.Generator, tolerance: float = 1e-6
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the `k` largest eigenvalues and their eigenvectors, largest first.

    Parameters
    ----------
    operator : symmetric sparse matrix or LinearOperator ``[n, n]``
    k : int
        Fewer are returned if n is smaller.
    rng : numpy.random.Generator
        Draws the start vector.
    tolerance : float
        Relative accuracy of the eigenvalues.

    Returns
    -------
    values : float64[k]
    vectors : float64[n, k]
        Columns of norm 1; the largest entry of each is positive.

    Examples
    --------
    >>> values, vectors = leading_eigenvectors(np.diag([1.0, 3.0]), 1, rng=np.random.default_rng(0))
    >>> values, vectors[:, 0]
    (array([3.]), array([0., 1.]))
    """
    n = operator.shape[0]
    k = min(k, n)
    if n <= _DENSE or k >= n - 1:
        dense = operator @ np.eye(n)
        values, vectors = np.linalg.eigh((dense + dense.T) / 2)
        values, vectors = values[n - k :], vectors[:, n - k :]
    else:
        start = rng.standard_normal(n)
        basis = min(n, max(2 * k + 1, 20))
        if not isinstance(operator, LinearOperator):
            operator = operator.astype(np.float64)
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, ncv=basis, tol=tolerance)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    # an eigenvector's sign is arbitrary: fix it, so that it does not depend on the solver
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))]
    return values, vectors * np.where(largest < 0, -1.0, 1.0)


def padded(vectors: npt.NDArray[np.floating], dim: int) -> npt.NDArray[np.floating]:
    """Return the first `dim` columns, padded with zeros if there are fewer.

    Examples
    --------
    >>> padded(np.ones((1, 2)), 3)
    array([[1., 1., 0.]])
    """
    missing = dim - vectors.shape[1]
    return vectors[:, :dim] if missing <= 0 else np.pad(vectors, ((0, 0), (0, missing)))
