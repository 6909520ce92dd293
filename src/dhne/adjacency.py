"""The scaled adjacency A_t of each node type, as compressed sparse rows.

With H the incidence matrix of nodes and hyperedges (1 if a node is in a hyperedge, even repeatedly)
and W the hyperedges' weights, the adjacency of all nodes is A = H W Hᵀ − D: entry (v, u) is the
total weight of the hyperedges that contain both v and u, without the diagonal. A_t consists of the
rows of node type t. Its columns form blocks, one for each node type that occurs together with t in
an edge type, in the network's order; t has a block of its own only if an edge type repeats t. Each
column is divided by its largest entry, so that its maximum is 1.

Building it takes time linear in the hyperedges: two counting sorts and one pass per block; the
block of (s, t) is the transpose of that of (t, s).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from operator import and_
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .errors import ParameterError, UnknownNameError
from .network.edge_keys import first_in_tuple
from .network.edges import EdgeSet, NodeArray, WeightArray
from .network.hypernetwork import HyperNetwork

_LARGEST_INT32 = 2**31 - 1


class Entries(NamedTuple):
    """Unsummed entries of A_t in one block: row v, column u of a neighbour type, weight."""

    rows: NodeArray
    neighbour_type: str
    ids: NodeArray
    weights: WeightArray


class NewRows(NamedTuple):
    """Rows of nodes not seen in training: ``matrix: csr[k, columns]``.

    `empty` lists the rows without an entry: none of their neighbours was seen in training.
    """

    matrix: sp.csr_array
    empty: NodeArray


class ScaledEntries(Protocol):
    """The entries of A_t and the divisors of its columns, wherever they are kept."""

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def num_entries(self) -> int:
        """The number of non-zeros."""

    @property
    def matrix(self) -> sp.csr_array:
        """The entries in main memory."""

    @property
    def column_max(self) -> npt.NDArray[np.float64]:
        """The divisors in main memory."""


class HostEntries(NamedTuple):
    """Entries in main memory; those on a device are `dhne.model.device_entries.DeviceEntries`."""

    matrix: sp.csr_array
    column_max: npt.NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def num_entries(self) -> int:
        """The number of non-zeros."""
        return int(self.matrix.nnz)


@dataclass(frozen=True, eq=False)
class AdjacencyMatrix:
    """A_t of one node type, columns scaled to a maximum of 1.

    Attributes
    ----------
    node_type : str
    entries : ScaledEntries
        The scaled entries, and what each column was divided by.
    blocks : mapping of neighbour type to its first column
    sizes : mapping of neighbour type to its number of columns
    """

    node_type: str
    entries: ScaledEntries
    blocks: dict[str, int]
    sizes: dict[str, int]

    @classmethod
    def empty(cls, node_type: str, dtype: npt.DTypeLike = np.float32) -> AdjacencyMatrix:
        """Return the matrix of a type without nodes or neighbours."""
        return cls(node_type, HostEntries(sp.csr_array((0, 0), dtype=dtype), np.empty(0)), {}, {})

    @property
    def matrix(self) -> sp.csr_array:
        """``csr_array[n, columns]``: the scaled entries, with sorted column indices."""
        return self.entries.matrix

    @property
    def column_max(self) -> npt.NDArray[np.float64]:
        """``float64[columns]``: the divisor of each column; 0 if a column has no entry."""
        return self.entries.column_max

    @property
    def shape(self) -> tuple[int, int]:
        """(nodes of the type, columns)."""
        return self.entries.shape

    def on_host(self) -> Self:
        """Return the same matrix with its entries in main memory."""
        return replace(self, entries=HostEntries(self.matrix, self.column_max))

    def column(self, neighbour_type: str, ids: Any) -> Any:
        """Return the columns of nodes of a neighbour type: the block's first column plus the id.

        `ids` is a number, a NumPy array or a torch tensor.
        """
        if neighbour_type not in self.blocks:
            raise UnknownNameError(f"neighbour of {self.node_type!r}", neighbour_type, self.blocks)
        return self.place(ids, self.blocks[neighbour_type])

    def place(self, ids: Any, first: Any) -> Any:
        """Return the columns of nodes of a block that starts at column `first`."""
        return first + ids

    def counts(self, matrix: sp.csr_array) -> npt.NDArray[np.float64]:
        """Undo the scaling: return the counts behind this matrix, or behind rows scaled like it."""
        counted: npt.NDArray[np.float64] = matrix.data * self.column_max[matrix.indices]
        return counted

    def scaled(self, columns: NodeArray, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Scale entries of these weights; 0 in columns without an entry.

        The result is also the contribution of a hyperedge of that weight, for leaving it out.
        """
        largest = self.column_max[columns]
        share = np.zeros(np.broadcast(largest, weights).shape)
        return np.divide(weights, largest, out=share, where=largest > 0)

    def rows_from(self, edge_sets: Iterable[EdgeSet], nodes: npt.ArrayLike) -> NewRows:
        """Return the rows of `nodes`, counted in given hyperedges and scaled as in training.

        Parameters
        ----------
        edge_sets : iterable of EdgeSet
            Hyperedges in which known nodes have their training ids and all others larger ids, as
            in ``network.merge(new)``.
        nodes : int64[k]
            Nodes of this matrix's type.

        Returns
        -------
        NewRows
            Columns of nodes not seen in training are left out.

        Examples
        --------
        >>> net = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Heat")], ("user", "movie"))
        >>> user = adjacency(net)["user"]
        >>> new = HyperNetwork.from_tuples([("eve", "Heat"), ("eve", "Alien")], ("user", "movie"))
        >>> both = net.merge(new)
        >>> user.rows_from(both.edge_sets, both.ids("user", ["eve"])).matrix.toarray()
        array([[1.]], dtype=float32)
        """
        wanted = np.atleast_1d(np.asarray(nodes, dtype=np.int64))
        distinct, place = np.unique(wanted, return_inverse=True)
        entries = []
        for edges in edge_sets:
            for e in entries_of(edges, self.node_type):
                row = np.searchsorted(distinct, e.rows)
                here = row < len(distinct)
                here[here] = distinct[row[here]] == e.rows[here]
                entries.append(Entries(row[here], e.neighbour_type, e.ids[here], e.weights[here]))
        rows = self.rows_of(entries, len(distinct)).matrix[place.reshape(-1)]
        return _new_rows(rows)

    def rows_of(self, entries: Iterable[Entries], num_rows: int) -> NewRows:
        """Return `num_rows` rows from their entries, summed and scaled as in training.

        Entries are left out if their column is not of a neighbour type, or its node has no entry in
        training (including ids of -1 or beyond the vocabulary).
        """
        rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for e in entries:
            if e.neighbour_type not in self.blocks:
                continue
            ids = np.asarray(e.ids, dtype=np.int64)
            inside = (ids >= 0) & (ids < self.sizes[e.neighbour_type])
            column = self.column(e.neighbour_type, ids[inside])
            seen = self.column_max[column] > 0
            rows.append(np.asarray(e.rows)[inside][seen])
            columns.append(column[seen])
            values.append(self.scaled(column[seen], np.asarray(e.weights)[inside][seen]))
        row, column, value = (np.concatenate(parts) for parts in (rows, columns, values))
        if len(row) and not (row.min() >= 0 and row.max() < num_rows):
            raise ParameterError(f"the rows must be between 0 and {num_rows - 1}")
        shape = (num_rows, self.shape[1])
        return _new_rows(sp.coo_array((value, (row, column)), shape=shape).tocsr(), self.matrix)

    def __repr__(self) -> str:
        rows, columns = self.shape
        blocks = ", ".join(self.blocks) or "none"
        return (
            f"AdjacencyMatrix({self.node_type}: {rows:,} × {columns:,}, "
            f"{self.entries.num_entries:,} entries; columns: {blocks})"
        )


def adjacency(
    network: HyperNetwork, *, dtype: npt.DTypeLike = np.float32
) -> dict[str, AdjacencyMatrix]:
    """Return A_t for every node type of a network.

    Parameters
    ----------
    network : HyperNetwork
    dtype : float32 or float64
        Type of the scaled entries; sums are computed in float64.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "Heat", "noir"), ("bob", "Heat", "noir"), ("bob", "Alien", "space")],
    ...     types=("user", "movie", "tag"),
    ... )
    >>> a = adjacency(net)["movie"]
    >>> a.blocks
    {'user': 0, 'tag': 2}
    >>> a.matrix.toarray()
    array([[1., 1., 1., 0.],
           [0., 1., 0., 1.]], dtype=float32)
    """
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ParameterError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
    scaled: dict[tuple[str, str], tuple[sp.csr_array, npt.NDArray[np.float64]]] = {}
    for t, s in meeting_types(network):
        block = _block(network, t, s)
        other = _transposed(block)
        # the columns of one are the rows of the other, whose maximum is easy to find
        largest, other_largest = _row_max(other), _row_max(block)
        scaled[t, s] = _scale(block, largest, dtype), largest
        if t != s:
            scaled[s, t] = _scale(other, other_largest, dtype), other_largest
    result = {}
    for t, neighbours in neighbour_types(network).items():
        parts = [scaled.pop((t, s)) for s in neighbours]
        result[t] = _join(network, t, neighbours, parts, dtype)
    return result


def _join(
    network: HyperNetwork,
    node_type: str,
    neighbours: list[str],
    parts: list[tuple[sp.csr_array, npt.NDArray[np.float64]]],
    dtype: npt.DTypeLike,
) -> AdjacencyMatrix:
    """Concatenate the blocks of one node type."""
    sizes = {s: network.num_nodes(s) for s in neighbours}
    blocks = first_columns(sizes)
    if not parts:
        matrix = sp.csr_array((network.num_nodes(node_type), 0), dtype=dtype)
    else:
        matrix = parts[0][0] if len(parts) == 1 else sp.hstack([m for m, _ in parts], format="csr")
    matrix.has_sorted_indices = True
    largest = np.concatenate([np.empty(0), *(c for _, c in parts)])
    return AdjacencyMatrix(node_type, HostEntries(matrix, largest), blocks, sizes)


def meeting_types(network: HyperNetwork) -> list[tuple[str, str]]:
    """Return the pairs of node types that occur together in an edge type, each pair once."""
    found: dict[tuple[str, str], None] = {}
    for types in network.edge_types:
        for p, t in enumerate(types):
            for s in types[p + 1 :]:
                if (s, t) not in found:
                    found[t, s] = None
    return list(found)


def neighbour_types(network: HyperNetwork) -> dict[str, list[str]]:
    """Return the types that occur together with each node type, in the network's order."""
    pairs = {pair for t, s in meeting_types(network) for pair in ((t, s), (s, t))}
    types = network.node_types
    return {t: [s for s in types if (t, s) in pairs] for t in types}


def first_columns(sizes: Mapping[str, int], first: int = 0) -> dict[str, int]:
    """Return where the block of each neighbour type begins."""
    return dict(zip(sizes, accumulate(sizes.values(), initial=first), strict=False))


def entries_of(edges: EdgeSet, row_type: str, column_type: str | None = None) -> Iterator[Entries]:
    """Yield the entries of hyperedges in the rows of a type, for each pair of positions.

    A node that is in a hyperedge twice counts once, at the first of its positions. The columns of
    the hyperedges, and with them those of the entries, may also be tensors.
    """
    rows = edges.types.positions_of(row_type)
    columns = range(edges.length) if column_type is None else edges.types.positions_of(column_type)
    if not rows or not columns:
        return
    first = {p: first_in_tuple(edges.nodes, edges.types, p) for p in {*rows, *columns}}
    for p in rows:
        for q in columns:
            if p == q:
                continue
            s = edges.types[q]
            masks = [mask for mask in (first[p], first[q]) if mask is not None]
            keep = reduce(and_, masks) if masks else slice(None)
            weights = edges.weights[keep]
            yield Entries(edges.nodes[keep, p], s, edges.nodes[keep, q], weights)


def _block(network: HyperNetwork, t: str, s: str) -> sp.csr_array:
    """Return the summed entries of rows of type t in columns of type s, in float64."""
    entries = [e for r in network.edge_sets for e in entries_of(r, t, s)]
    return summed(entries, (network.num_nodes(t), network.num_nodes(s)))


def summed(entries: list[Entries], shape: tuple[int, int]) -> sp.csr_array:
    """Return a block of this shape from its entries, in float64, with sorted columns."""
    total = sum(len(e.rows) for e in entries)
    index = np.int32 if max(total, *shape) <= _LARGEST_INT32 else np.int64
    rows = np.concatenate([e.rows.astype(index) for e in entries])
    columns = np.concatenate([e.ids.astype(index) for e in entries])
    weights = (
        entries[0].weights if len(entries) == 1 else np.concatenate([e.weights for e in entries])
    )
    # Sort the entries by column: transpose a matrix with one entry per row. Then sort by row, which
    # leaves the columns of each row sorted, with equal ones adjacent.
    one_each = np.arange(total + 1, dtype=index)
    by_column = sp.csr_array((weights, columns, one_each), shape=(total, shape[1])).tocsc()
    by_column = sp.csc_array(
        (by_column.data, rows[by_column.indices], by_column.indptr), shape=shape, copy=False
    )
    block = by_column.tocsr()
    block.has_sorted_indices = True
    block.sum_duplicates()
    return block


def _transposed(block: sp.csr_array) -> sp.csr_array:
    turned = block.T.tocsr()
    turned.has_sorted_indices = True
    return turned


def _row_max(block: sp.csr_array) -> npt.NDArray[np.float64]:
    """Return the largest entry of each row, or 0 if it is empty."""
    largest = np.zeros(block.shape[0])
    filled = np.flatnonzero(np.diff(block.indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(block.data, block.indptr[filled])
    return largest


def _scale(
    block: sp.csr_array, largest: npt.NDArray[np.float64], dtype: npt.DTypeLike
) -> sp.csr_array:
    data = (block.data / largest[block.indices]).astype(dtype, copy=False)
    return sp.csr_array((data, block.indices, block.indptr), shape=block.shape, copy=False)


def _new_rows(matrix: sp.csr_array, like: sp.csr_array | None = None) -> NewRows:
    matrix = matrix if like is None else matrix.astype(like.dtype)
    matrix.sort_indices()
    return NewRows(matrix, np.flatnonzero(np.diff(matrix.indptr) == 0).astype(np.int64))
