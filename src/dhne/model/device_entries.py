"""The entries of A_t, counted and kept on a device: for training on a GPU.

Each entry of a hyperedge (`dhne.adjacency.entries_of`) has the key row · columns + column. Sorting
the keys puts equal ones beside each other; the distinct keys, in order, are the compressed sparse
rows, and the number of equal ones (or the sum of their weights) is the count. This is the matrix of
`dhne.adjacency.adjacency`, built without main memory; a copy is made there only when it is needed.

Rows are counted in pieces with a bounded number of entries, so that the memory for sorting is
bounded too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from dhne.adjacency import AdjacencyMatrix, entries_of, first_columns, neighbour_types
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling.device_chunks import device_chunks

Place = Callable[[str, Tensor], Tensor]
"""Returns the columns of nodes of a neighbour type; negative for nodes without a column."""

_MOST_SORTED = 1 << 28  # entries sorted at once; each takes about 40 bytes
_LARGEST_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class DeviceEntries:
    """Scaled entries as compressed sparse rows on a device.

    Attributes
    ----------
    indptr : int64[n + 1]
    indices : int32[nnz]
        Ascending within a row.
    values : float[nnz]
    divisors : float64[columns]
        The largest count of each column; 0 if it has no entry.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    divisors: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.indptr) - 1, len(self.divisors)

    @property
    def num_entries(self) -> int:
        """The number of non-zeros."""
        return len(self.indices)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return sum(x.nbytes for x in (self.indptr, self.indices, self.values, self.divisors))

    def counts(self) -> Tensor:
        """Undo the scaling: return the counts, ``float64[nnz]``."""
        return self.divisors.index_select(0, self.indices).mul_(self.values)

    def at(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the scaled entries at these places, 0 where there is none."""
        if not self.num_entries:
            return self.values.new_zeros(len(rows))
        place, end = self.indptr[rows], self.indptr[rows + 1]
        low, high = place, end
        for _ in range(self._longest.bit_length()):  # a binary search within each row
            middle = (low + high) // 2
            before = (self.indices[middle.clamp(max=self.num_entries - 1)] < columns) & (low < high)
            low, high = torch.where(before, middle + 1, low), torch.where(before, high, middle)
        place = low.clamp(max=self.num_entries - 1)
        return self.values[place] * ((low < end) & (self.indices[place] == columns))

    @cached_property
    def _longest(self) -> int:
        return int(self.indptr.diff().max())

    @cached_property
    def matrix(self) -> sp.csr_array:
        """A copy of the entries in main memory."""
        kind = np.int32 if max(self.num_entries, *self.shape) <= _LARGEST_INT32 else np.int64
        indices, indptr = (x.cpu().numpy().astype(kind) for x in (self.indices, self.indptr))
        matrix = sp.csr_array((self.values.cpu().numpy(), indices, indptr), shape=self.shape)
        matrix.has_sorted_indices = True
        return matrix

    @cached_property
    def column_max(self) -> npt.NDArray[np.float64]:
        """A copy of the divisors in main memory."""
        largest: npt.NDArray[np.float64] = self.divisors.cpu().numpy()
        return largest


def device_adjacency(
    network: HyperNetwork, *, device: torch.device, dtype: torch.dtype
) -> dict[str, AdjacencyMatrix]:
    """Return A_t for every node type of a network, with the entries on a device."""
    unit = has_unit_weights(network)
    found = {}
    for t, neighbours in neighbour_types(network).items():
        sizes = {s: network.num_nodes(s) for s in neighbours}
        blocks = first_columns(sizes)
        entries = count_entries(
            network.edge_sets,
            t,
            lambda s, ids, blocks=blocks: ids + blocks[s],  # type: ignore[misc]
            (network.num_nodes(t), sum(sizes.values())),
            unit=unit,
            device=device,
            dtype=dtype,
        )
        found[t] = AdjacencyMatrix(t, entries, blocks, sizes)
    return found


def has_unit_weights(network: HyperNetwork) -> bool:
    """Whether every weight is 1, so that entries need only be counted."""
    return all(e.weights.min(initial=1) == e.weights.max(initial=1) == 1 for e in network.edge_sets)


def count_entries(
    edge_sets: Sequence[EdgeSet],
    node_type: str,
    place: Place,
    shape: tuple[int, int],
    *,
    unit: bool,
    device: torch.device,
    dtype: torch.dtype,
    share: float = 1.0,
    most: int = _MOST_SORTED,
) -> DeviceEntries:
    """Return the summed entries of hyperedges in the rows of a type, each column scaled.

    Parameters
    ----------
    edge_sets : sequence of EdgeSet
    node_type : str
    place : Place
    shape : (rows, columns)
    unit : bool
        Whether all weights are 1.
    share : float
        Approximate share of the entries that have a column.
    most : int
        Entries sorted at once; one row may have more.
    """
    edge_sets = [e for e in edge_sets if node_type in e.types]
    entries = _Entries(edge_sets, node_type, place, shape, device)
    total = sum(len(e) * len(e.types.positions_of(node_type)) * (e.length - 1) for e in edge_sets)
    cuts = [0, shape[0]] if share * total <= most else entries.cuts(most)
    divisors = torch.zeros(shape[1], dtype=torch.float64, device=device)
    starts, indices, values = [torch.zeros(1, dtype=torch.int64, device=device)], [], []
    for low, high in pairwise(cuts):
        keys, counts = entries.summed(low, high, unit=unit)
        bounds = torch.arange(1, high - low + 1, device=device) * shape[1]
        starts.append(torch.searchsorted(keys, bounds) + starts[-1][-1])
        columns = keys.remainder_(max(shape[1], 1))
        divisors.scatter_reduce_(0, columns, counts, "amax")
        indices.append(columns.int())
        values.append(counts)
        del keys, columns, counts
    index, value = torch.cat(indices), torch.cat(values)
    del indices, values
    value /= divisors.index_select(0, index)
    return DeviceEntries(torch.cat(starts), index, value.to(dtype), divisors)


@dataclass(frozen=True)
class _Entries:
    """The entries of hyperedges in the rows of a type; each pass computes them again."""

    edge_sets: Sequence[EdgeSet]
    node_type: str
    place: Place
    shape: tuple[int, int]
    device: torch.device

    def _each(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield the rows, columns and weights of all entries, chunk by chunk."""
        for edges in self.edge_sets:
            for chunk in device_chunks(edges, self.device):
                for e in entries_of(chunk, self.node_type):
                    rows, ids, weights = (torch.as_tensor(x) for x in (e.rows, e.ids, e.weights))
                    yield rows, self.place(e.neighbour_type, ids), weights

    def cuts(self, most: int) -> list[int]:
        """Return where to cut the rows into pieces of at most `most` entries."""
        count = torch.zeros(self.shape[0], dtype=torch.int64, device=self.device)
        for rows, columns, _ in self._each():
            count.index_add_(0, rows, (columns >= 0).long())
        ends, cuts, done = count.cumsum(0), [0], 0
        while cuts[-1] < self.shape[0]:
            reach = int(torch.searchsorted(ends, done + most, right=True))
            cuts.append(max(reach, cuts[-1] + 1))
            done = int(ends[cuts[-1] - 1])
        return cuts

    def summed(self, low: int, high: int, *, unit: bool) -> tuple[Tensor, Tensor]:
        """Return the distinct keys of the rows from `low` to `high`, ascending, and their counts.

        Keys begin at 0 for the first of these rows.
        """
        every = [torch.empty(0, dtype=torch.int64, device=self.device)]
        weighted = [torch.empty(0, dtype=torch.float64, device=self.device)]
        for rows, columns, weights in self._each():
            mine = (rows >= low) & (rows < high) & (columns >= 0)
            every.append(((rows - low) * self.shape[1] + columns)[mine])
            if not unit:
                weighted.append(weights[mine])
        keys = torch.cat(every)
        del every
        if unit:
            found, number = torch.unique(keys, return_counts=True)
            return found, number.double()
        found, place = torch.unique(keys, return_inverse=True)
        del keys
        sums = torch.zeros(len(found), dtype=torch.float64, device=self.device)
        return found, sums.index_add_(0, place, torch.cat(weighted))
