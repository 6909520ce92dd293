"""Vectors that reflect more than a node's neighbours: repeated propagation over two hops.

An embedding is computed from a node's own row, so it reflects the node's neighbours only. Classes
and similarity often depend on the neighbours' neighbours. For node type t let C hold, for node v
and neighbour u of type s,

    C_vu = w_s · log(1 + count_vu) / √((d_v + τ d̄) (d_u + τ d̄')),    w_s = √(n_s / max n),

where d_v and d_u are the sums of log(1 + count) in v's part of its row and in u's column, d̄ and d̄'
their means over all nodes, and n_s the number of neighbours of type s. Degrees damp hubs, τ = 0.2
damps nodes with very few neighbours, and types with few nodes carry little information. C Cᵀ
averages over the two-hop neighbours of the same type. From the trained embeddings X,

    X ← orthonormal(C Cᵀ X)

is repeated. X starts from the values before the activation, where large numbers are not yet
saturated; without the orthonormal basis all columns would converge to the same one. These are a few
steps of subspace iteration towards the leading left singular vectors of C. With B the last basis,
rotated to its principal axes and divided by the singular values, and with the table Y = Cᵀ B,

    x_v = C_v Y,    z_v = x_v / ‖x_v‖^¾

is the vector of node v. It depends on v through its own row C_v only, so a new node's vector comes
from the same formula. At most `most` neighbours of a type, evenly spaced in the row and weighted
up, represent all of a hub's. A round costs the non-zeros of C times d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from dhne.adjacency import AdjacencyMatrix

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

_TAU = 0.2
_LENGTH_POWER = 0.75
_MOST = 1024  # neighbours of one type
_ENTRIES = 1 << 22  # entries of rows handled at once
_SATURATED = 1e-6  # distance from 1 below which the argument of tanh is lost
_RANK = 1e-6  # directions below this share of the largest squared length are noise


class Propagated(NamedTuple):
    """The vectors of a node type, ``vectors: float32[n, d]``, and the basis they come from.

    `Propagation.table` computes the table from `basis`, which has the same shape.
    """

    vectors: Floats
    basis: Floats


class Propagation:
    """Propagates the vectors of one node type over its adjacency.

    Parameters
    ----------
    adjacency : AdjacencyMatrix
        The adjacency of the training network.
    most : int
        The maximum number of neighbours of one type that are summed per node.

    Examples
    --------
    >>> from dhne.adjacency import adjacency
    >>> from dhne.network.hypernetwork import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 0], [2, 1], [3, 1]]})
    >>> start = np.array([[1, 0.1], [0.9, 0], [0, 1], [0.1, 0.9]], np.float32)
    >>> x = Propagation(adjacency(net)["a"]).propagate(start, rounds=2).vectors
    >>> bool(np.allclose(x[0], x[1], atol=1e-6) and np.allclose(x[2], x[3], atol=1e-6))
    True
    """

    def __init__(self, adjacency: AdjacencyMatrix, *, most: int = _MOST) -> None:
        self._adjacency, self._most = adjacency, most
        starts = sorted(adjacency.blocks.values())
        self._starts = np.array(starts, dtype=np.int64)
        rows, columns = self._degrees()
        damping = _TAU * _means(rows)
        self._row_damping = np.where(damping > 0, damping, 1.0)
        self._column_scale = self._scale_columns(columns)
        self.matrix = self.rows(adjacency.matrix)

    def _degrees(self) -> tuple[Doubles, Doubles]:
        """Return the degrees ``[n, blocks]`` of the rows and ``[columns]`` of the columns."""
        matrix, blocks = self._adjacency.matrix, len(self._starts)
        rows = np.zeros((matrix.shape[0], blocks))
        columns = np.zeros(matrix.shape[1])
        for part in self._parts(matrix):
            rows[part.first : part.last] = part.degrees
            columns += np.bincount(part.columns, part.values, minlength=len(columns))
        return rows, columns

    def _scale_columns(self, degrees: Doubles) -> Doubles:
        """Return w_s / √(d_u + τ d̄') of each column; 0 for a node without an entry."""
        spans = [slice(a, b) for a, b in pairwise([*self._starts, len(degrees)])]
        sizes = [int(np.count_nonzero(degrees[span])) for span in spans]
        largest = max([1, *sizes])
        scale = np.zeros(len(degrees))
        for span, size in zip(spans, sizes, strict=True):
            here = degrees[span]
            mean = here.sum() / max(size, 1)
            weight = np.sqrt(size / largest)
            damped = np.sqrt(here + _TAU * mean)
            scale[span] = np.divide(weight, damped, out=np.zeros(len(here)), where=here > 0)
        return scale

    def _parts(self, matrix: sp.csr_array) -> Iterator[_Part]:
        """Yield chunks of rows of a matrix that is scaled like the adjacency."""
        for first, last in pairwise(_cuts(matrix.indptr)):
            yield _part(self._adjacency, self._starts, matrix, first, last)

    def rows(self, scaled: sp.csr_array) -> sp.csr_array:
        """Return the rows of C for nodes of training or new ones.

        Parameters
        ----------
        scaled : csr_array[k, columns]
            Their adjacency rows, scaled as in training, column numbers ascending.
        """
        data, indices, counts = [], [], []
        for part in self._parts(scaled):
            left = 1 / np.sqrt(part.degrees + self._row_damping)
            values = part.values * left.ravel()[part.segment] * self._column_scale[part.columns]
            kept, factor = _even_sample(part.segment, part.degrees.size, self._most)
            data.append((values * factor)[kept].astype(np.float32))
            indices.append(part.columns[kept])
            row = part.segment[kept] // max(len(self._starts), 1)
            counts.append(np.bincount(row, minlength=part.last - part.first))
        indptr = np.concatenate([[0], *counts]).cumsum()
        values = np.concatenate([np.empty(0, np.float32), *data])
        columns = np.concatenate(indices) if indices else np.empty(0, np.int32)
        return sp.csr_array((values, columns, indptr), shape=scaled.shape)

    def propagate(self, start: Floats, rounds: int) -> Propagated:
        """Return the vectors after `rounds` rounds from ``start: float32[n, d]``.

        Nodes without hyperedges get the zero vector. Dimensions beyond the rank of the network,
        which is at most n, are zero too.
        """
        x, q = _standardised(start), start
        for _ in range(rounds):
            axes, values = _principal_axes(x)
            q = x @ (axes * _power(values, -0.5)).astype(np.float32)
            x = self.matrix @ self.table(q)
        axes, values = _principal_axes(x)
        basis = q @ (axes * _power(values, -0.25)).astype(np.float32)
        return Propagated(self.vectors(self.matrix, self.table(basis)), basis)

    def table(self, basis: Floats) -> Floats:
        """Return ``Y = Cᵀ B: float32[columns, d]``."""
        table: Floats = self.matrix.T @ basis
        return table

    def vectors(self, rows: sp.csr_array, table: Floats) -> Floats:
        """Return the vectors of nodes from their rows of C."""
        x = rows @ table
        lengths = np.linalg.norm(x, axis=1, keepdims=True)
        vectors: Floats = x / np.where(lengths > 0, lengths, 1) ** np.float32(_LENGTH_POWER)
        return vectors


def propagate_all(
    matrices: Mapping[str, AdjacencyMatrix], embeddings: Mapping[str, Floats], rounds: int
) -> dict[str, Propagated]:
    """Return the propagated vectors of every node type; an empty dict without rounds."""
    if not rounds:
        return {}
    return {t: Propagation(a).propagate(embeddings[t], rounds) for t, a in matrices.items()}


class NewNodeVectors:
    """Computes vectors of new nodes from their adjacency rows; tables are built on first use."""

    def __init__(
        self, matrices: Mapping[str, AdjacencyMatrix], propagated: Mapping[str, Propagated]
    ) -> None:
        self._matrices, self._propagated = matrices, propagated
        self._made: dict[str, tuple[Propagation, Floats]] = {}

    def of(self, node_type: str, scaled: sp.csr_array) -> Floats:
        """Return the vectors of nodes of a type from their rows, scaled as in training."""
        if not scaled.shape[1]:  # a type that training did not have
            width = self._propagated[node_type].vectors.shape[1]
            return np.zeros((scaled.shape[0], width), np.float32)
        if node_type not in self._made:
            propagation = Propagation(self._matrices[node_type])
            table = propagation.table(self._propagated[node_type].basis)
            self._made[node_type] = propagation, table
        propagation, table = self._made[node_type]
        return propagation.vectors(propagation.rows(scaled), table)


_TENSORS = "propagation."


def as_tensors(propagated: Mapping[str, Propagated]) -> dict[str, torch.Tensor]:
    """Return propagated vectors as tensors for a run, beside the model's weights."""
    return {
        f"{_TENSORS}{part}.{t}": torch.from_numpy(np.ascontiguousarray(array))
        for t, p in propagated.items()
        for part, array in p._asdict().items()
    }


def take_from_tensors(
    tensors: Mapping[str, torch.Tensor],
) -> tuple[dict[str, Propagated], dict[str, torch.Tensor]]:
    """Return the propagated vectors of a run and the rest of its tensors.

    Runs of version 0.1 have none.
    """
    start = f"{_TENSORS}basis."
    types = [name.removeprefix(start) for name in tensors if name.startswith(start)]
    found = {
        t: Propagated(*(tensors[f"{_TENSORS}{part}.{t}"].numpy() for part in Propagated._fields))
        for t in types
    }
    return found, {k: v for k, v in tensors.items() if not k.startswith(_TENSORS)}


def before_activation(x: Floats, activation: str) -> Floats:
    """Return the argument of the encoder's activation for `x`; a large number if saturated.

    Examples
    --------
    >>> before_activation(np.tanh(np.array([0.5, 20], np.float32)), "tanh").round(1)
    array([0.5, 7.2], dtype=float32)
    """
    if activation == "linear":
        return x
    both_sides = x if activation == "tanh" else 2 * x - 1
    largest = np.float32(1 - _SATURATED)
    before: Floats = np.arctanh(np.clip(both_sides, -largest, largest))
    return before


class _Part(NamedTuple):
    """The entries of the rows `first` to `last`; a segment is one type's part of a row."""

    first: int
    last: int
    columns: npt.NDArray[np.int32]
    values: Doubles  # log(1 + count)
    segment: npt.NDArray[np.int64]  # of each entry; ascending
    degrees: Doubles  # [rows, types], the sums of the values


def _part(
    adjacency: AdjacencyMatrix,
    starts: npt.NDArray[np.int64],
    matrix: sp.csr_array,
    first: int,
    last: int,
) -> _Part:
    a, b = int(matrix.indptr[first]), int(matrix.indptr[last])
    columns = matrix.indices[a:b]
    values = np.log1p(matrix.data[a:b] * adjacency.column_max[columns])
    row = np.repeat(np.arange(last - first), np.diff(matrix.indptr[first : last + 1]))
    segment = row * len(starts) + np.searchsorted(starts, columns, side="right") - 1
    shape = (last - first, len(starts))
    degrees = np.bincount(segment, values, minlength=shape[0] * shape[1])
    return _Part(first, last, columns, values, segment, degrees.reshape(shape).astype(np.float64))


def _cuts(indptr: npt.NDArray[np.integer]) -> list[int]:
    """Return where to split rows so that each part has a bounded number of entries and rows."""
    n = len(indptr) - 1
    cuts = [0]
    while cuts[-1] < n:
        reach = int(np.searchsorted(indptr, indptr[cuts[-1]] + _ENTRIES, side="right")) - 1
        cuts.append(min(max(reach, cuts[-1] + 1), cuts[-1] + _ENTRIES, n))
    return cuts


def _even_sample(
    segment: npt.NDArray[np.int64], segments: int, most: int
) -> tuple[npt.NDArray[np.bool_], Doubles]:
    """Return which entries are kept, at most `most` of a segment, and the factor on each.

    Examples
    --------
    >>> kept, factor = _even_sample(np.array([0, 1, 1, 1, 1]), 2, 2)
    >>> kept.tolist(), factor.tolist()
    ([True, False, True, False, True], [1.0, 2.0, 2.0, 2.0, 2.0])
    """
    length = np.bincount(segment, minlength=segments)
    place = np.arange(len(segment)) - (np.cumsum(length) - length)[segment]
    n = length[segment]
    kept = (place + 1) * most // np.maximum(n, 1) > place * most // np.maximum(n, 1)
    return (n <= most) | kept, np.maximum(n / most, 1.0)


def _means(degrees: Doubles) -> Doubles:
    """Return the mean of each column over its non-zero entries; 0 if there are none."""
    means: Doubles = degrees.sum(axis=0) / np.maximum(np.count_nonzero(degrees, axis=0), 1)
    return means


def _standardised(x: Floats) -> Floats:
    centred = x - x.mean(axis=0)
    deviation = centred.std(axis=0)
    scaled: Floats = centred / np.where(deviation > 0, deviation, 1)
    return scaled


def _principal_axes(x: Floats) -> tuple[Doubles, Doubles]:
    """Return the eigenvectors of XᵀX as columns and its eigenvalues, largest first."""
    values, axes = np.linalg.eigh((x.T @ x).astype(np.float64))
    return axes[:, ::-1], values[::-1]


def _power(values: Doubles, exponent: float) -> Doubles:
    """Return powers of eigenvalues; 0 for directions that are only noise."""
    real = values > _RANK * max(values[0], 0.0)
    return np.power(values, exponent, out=np.zeros(len(values)), where=real)
