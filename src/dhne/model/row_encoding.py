"""What a node's row says of the nodes that it met.

==========  ==================================================================================
``counts``  how often they met, each column divided by its maximum: the paper's A
``digits``  how many binary digits that number has, ⌈log₂(1 + count)⌉: once 1, two or three
            times 2, four to seven times 3, …
==========  ==================================================================================

A column that is divided by its maximum says little of all but its busiest pair: where two nodes
once met 500 times, having met a third counts for 1/500. Digits tell both from never having met.
Where nearly every node of a type has met nearly every other, though, how often is all that there is
to say, and its rows stay those of counts.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from dhne.adjacency import AdjacencyMatrix
from dhne.kernels import SparseMatrix
from dhne.kernels.counts import ZERO

Floats = npt.NDArray[np.float64]

_LENGTH = 8.0  # of an average row of digits, squared
_FULL = 0.6  # share of a type's places that are not zero, beyond which rows are of counts


def digits(counts: npt.ArrayLike) -> Floats:
    """Return how many binary digits counts have; fractions are rounded up, 0 has none.

    Examples
    --------
    >>> digits([0, 0.5, 1, 2, 3, 4, 7, 8])
    array([0., 1., 1., 2., 2., 3., 3., 4.])
    """
    counts = np.asarray(counts, dtype=np.float64)
    rounded = np.ceil(np.log2(1 + counts) - 1e-5)  # sums of weights are not always exact
    return np.where(counts > 0, np.maximum(rounded, 1), 0)


def without(counts: Floats, weights: Floats) -> Floats:
    """Return counts less the weights of hyperedges; 0 where only rounding would be left."""
    rest = counts - weights
    return np.where(rest > ZERO * counts, rest, 0)


def is_of_digits(adjacency: AdjacencyMatrix, kind: str) -> bool:
    """Whether the rows of a type are of digits: if they are to be, and have room for it."""
    rows, columns = adjacency.shape
    return kind == "digits" and adjacency.matrix.nnz <= _FULL * rows * columns


def row_scale(adjacency: AdjacencyMatrix, kind: str) -> float:
    """Return what the rows of a type are multiplied by before they are encoded.

    Each of a row's entries moves the sum that is encoded by as much as its table's row moves in a
    step. So that a step moves all types alike, rows of digits get a mean square length of at most
    `_LENGTH`; those of counts are left as the paper has them.
    """
    if not is_of_digits(adjacency, kind):
        return 1.0
    squares = float(np.square(digits(adjacency.counts(adjacency.matrix))).sum())
    mean = squares / max(adjacency.shape[0], 1)
    return min(1.0, math.sqrt(_LENGTH / mean)) if mean else 1.0


def sparse_rows(
    adjacency: AdjacencyMatrix,
    kind: str,
    *,
    device: torch.device,
    dtype: torch.dtype,
    of: sp.csr_array | None = None,
) -> SparseMatrix:
    """Return the rows of a type's nodes on a device.

    Parameters
    ----------
    adjacency : AdjacencyMatrix
    kind : {"counts", "digits"}
    of : csr_array, optional
        Other rows, scaled as those of `adjacency`, in their place.
    """
    csr = adjacency.matrix if of is None else of
    values = csr.data
    if is_of_digits(adjacency, kind):
        values = digits(adjacency.counts(csr)).astype(values.dtype)
    return SparseMatrix(
        torch.from_numpy(csr.indptr.astype(np.int64)).to(device),
        torch.from_numpy(csr.indices.astype(np.int32)).to(device),
        torch.from_numpy(values).to(device=device, dtype=dtype),
        int(csr.shape[1]),
    )
