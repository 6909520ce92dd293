"""`RowEncoding`: the values in the adjacency rows of one node type.

==========  ==================================================================================
``counts``  number of shared hyperedges, each column divided by its maximum: the paper's A
``digits``  number of binary digits of that count, ⌈log₂(1 + count)⌉: 1 for 1, 2 for 2 or 3,
            3 for 4 to 7, …
==========  ==================================================================================

A column divided by its maximum tells little about all but its most frequent pair: if one pair
occurs 500 times, a pair that occurs once has 1/500. Digits distinguish both from pairs that never
occur. But if nearly every pair of a type occurs, only the frequency is informative, and the rows of
that type stay counts.
"""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from dhne.adjacency import AdjacencyMatrix
from dhne.kernels import SparseMatrix
from dhne.kernels.counts import ZERO

from .device_entries import DeviceEntries

Floats = npt.NDArray[np.float64]

KINDS = ("counts", "digits")
_MEAN_SQUARE = 8.0  # of a row of digits after scaling, at most
_ROUNDING = 1e-5  # sums of weights are not always exact
_FULL = 0.6  # share of non-zero entries of a type, above which rows stay counts


class RowEncoding:
    """The rows of one node type: their values, their scale, and a hyperedge's contribution.

    Parameters
    ----------
    adjacency : AdjacencyMatrix
    kind : {"counts", "digits"}
        Values of the rows; those of a dense type are always counts.
    """

    def __init__(self, adjacency: AdjacencyMatrix, kind: str = "counts") -> None:
        self.adjacency = adjacency
        entries = self.over_all_columns(self.num_entries)
        places = adjacency.shape[0] * self.over_all_columns(sum(adjacency.sizes.values()))
        self.is_digits = kind == "digits" and entries <= _FULL * places

    def over_all_columns(self, number: float) -> float:
        """Return the sum of a number over all columns, of which a worker may have only some."""
        return number

    @property
    def num_rows(self) -> int:
        """The number of nodes of the type."""
        return self.adjacency.shape[0]

    @property
    def num_columns(self) -> int:
        """The number of columns of the rows."""
        return self.adjacency.shape[1]

    @property
    def num_entries(self) -> int:
        """The number of non-zeros of all rows."""
        return self.adjacency.entries.num_entries

    def on_host(self) -> Self:
        """Return the same rows with their entries in main memory."""
        moved = copy(self)
        moved.adjacency = self.adjacency.on_host()
        return moved

    @cached_property
    def longest(self) -> int:
        """The number of non-zeros of the longest row."""
        return int(np.diff(self.adjacency.matrix.indptr).max(initial=0))

    @cached_property
    def scale(self) -> float:
        """Multiplier of the rows before encoding.

        Each entry of a row moves the encoder's input sum by as much as its table row moves in a
        step. So that a step moves all types equally, rows of digits are scaled to a mean squared
        length of at most 8; rows of counts are left as in the paper.
        """
        if not self.is_digits:
            return 1.0
        a = self.adjacency
        if isinstance(a.entries, DeviceEntries):
            own = float(digits_of(a.entries.counts()).square_().sum())
        else:
            own = float(np.square(digits(a.counts(a.matrix))).sum())
        mean = self.over_all_columns(own) / max(a.shape[0], 1)
        return min(1.0, math.sqrt(_MEAN_SQUARE / mean)) if mean else 1.0

    def matrix(
        self, *, device: torch.device, dtype: torch.dtype, of: sp.csr_array | None = None
    ) -> SparseMatrix:
        """Return the rows on a device; `of` replaces them by other rows with the same scaling."""
        entries = self.adjacency.entries
        if of is None and isinstance(entries, DeviceEntries):
            held = digits_of(entries.counts()) if self.is_digits else entries.values
            held = held.to(device=device, dtype=dtype)
            indptr, indices = entries.indptr.to(device), entries.indices.to(device)
            return SparseMatrix(indptr, indices, held, self.num_columns)
        csr = self.adjacency.matrix if of is None else of
        values = csr.data
        if self.is_digits:
            values = digits(self.adjacency.counts(csr)).astype(values.dtype)
        return SparseMatrix(
            torch.from_numpy(csr.indptr.astype(np.int64)).to(device),
            torch.from_numpy(csr.indices.astype(np.int32)).to(device),
            torch.from_numpy(values).to(device=device, dtype=dtype),
            int(csr.shape[1]),
        )

    def contribution(
        self, nodes: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], weights: Floats
    ) -> Floats:
        """Return what hyperedges of these weights contribute to rows of `nodes` at `columns`."""
        a = self.adjacency
        if not self.is_digits:
            return a.scaled(columns, weights)
        met = np.asarray(a.matrix[nodes, columns]) * a.column_max[columns]
        return digits(met) - digits(without(met, weights))

    def contribution_of(self, nodes: Tensor, columns: Tensor, weights: Tensor) -> Tensor:
        """Return `contribution` of tensors, from entries on their device."""
        entries = self.adjacency.entries
        assert isinstance(entries, DeviceEntries)
        largest = entries.divisors[columns]
        if not self.is_digits:
            return torch.where(largest > 0, weights / largest, 0)
        met = entries.at(nodes, columns) * largest
        rest = met - weights
        return digits_of(met) - digits_of(torch.where(rest > ZERO * met, rest, 0))


def digits(counts: npt.ArrayLike) -> Floats:
    """Return the number of binary digits of counts; fractions are rounded up, 0 has none.

    Examples
    --------
    >>> digits([0, 0.5, 1, 2, 3, 4, 7, 8])
    array([0., 1., 1., 2., 2., 3., 3., 4.])
    """
    counts = np.asarray(counts, dtype=np.float64)
    rounded = np.ceil(np.log2(1 + counts) - _ROUNDING)
    return np.where(counts > 0, np.maximum(rounded, 1), 0)


def digits_of(counts: Tensor) -> Tensor:
    """Return `digits` of a tensor."""
    rounded = torch.log2(counts + 1).sub_(_ROUNDING).ceil_().clamp_(min=1)
    return rounded.mul_(counts > 0)


def without(counts: Floats, weights: Floats) -> Floats:
    """Return counts minus the weights of hyperedges; 0 if only a rounding error remains."""
    rest = counts - weights
    return np.where(rest > ZERO * counts, rest, 0)
