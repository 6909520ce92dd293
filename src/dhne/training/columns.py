"""Partitioning of columns over workers, by the neighbour that each column belongs to.

Every node, with its columns in the rows of other nodes, belongs to one of 64 *virtual shards*: its
id modulo 64. A worker has all of them if it is alone, and every fourth if it is one of four.
Weights are drawn, saved and loaded shard by shard, so that they do not depend on the number of
workers. Hyperedges are divided in the same way (`dhne.training.divided_batches`).

Within a worker the columns of its shards are numbered in the order of the ids, starting at 1;
column 0, which has no entry, represents the columns of other workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from dhne.adjacency import (
    AdjacencyMatrix,
    Entries,
    HostEntries,
    entries_of,
    first_columns,
    neighbour_types,
    summed,
)
from dhne.errors import ParameterError
from dhne.model.device_entries import DeviceEntries, count_entries, has_unit_weights
from dhne.model.row_encoding import RowEncoding
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.workers import Group

NUM_SHARDS = 64
_CHUNK_EDGES = 1 << 22  # hyperedges whose entries are made at once


@dataclass(frozen=True)
class Shards:
    """The virtual shards of worker `rank` of `size`: every `size`-th.

    Nodes are often numbered by falling frequency, so neighbouring shards, and with them the most
    frequent nodes, are different workers'.

    Examples
    --------
    >>> second = Shards(1, 4)
    >>> second.numbers, second.count(100), second.local(np.array([1, 5, 65]))
    (range(1, 64, 4), 25, array([ 0,  1, 16]))
    """

    rank: int
    size: int

    def __post_init__(self) -> None:
        if self.size > NUM_SHARDS:
            raise ParameterError(
                f"at most {NUM_SHARDS} workers can train together, got {self.size}"
            )

    @property
    def numbers(self) -> range:
        """The numbers of the shards."""
        return range(self.rank, NUM_SHARDS, self.size)

    def count(self, num_nodes: int) -> int:
        """Return how many of `num_nodes` nodes are in these shards."""
        whole, rest = divmod(num_nodes, NUM_SHARDS)
        return whole * len(self.numbers) + len(range(self.rank, rest, self.size))

    def owns(self, ids: Any) -> Any:
        """Return which nodes are in these shards."""
        return ids % NUM_SHARDS % self.size == self.rank

    def local(self, ids: Any) -> Any:
        """Return the indices of nodes within these shards; arbitrary for other nodes."""
        return ids // NUM_SHARDS * len(self.numbers) + ids % NUM_SHARDS // self.size

    def select(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a copy of the rows of an array that belong to these shards, in order.

        It reads the array once from start to end: one shard after the other is several times as
        slow, as their rows are far apart.
        """
        whole = len(array) // NUM_SHARDS * NUM_SHARDS
        found = np.empty((self.count(len(array)), *array.shape[1:]), array.dtype)
        mine = array[:whole].reshape(-1, NUM_SHARDS, *array.shape[1:])[:, self.rank :: self.size]
        first = mine.shape[0] * mine.shape[1]
        found[:first].reshape(mine.shape)[:] = mine
        found[first:] = array[whole + self.rank :: self.size]
        return found

    def rows(self, shard: int, begin: int, num_nodes: int) -> slice:
        """Return the slice of a shard's nodes in a block that starts at column `begin`."""
        end = begin + self.count(num_nodes)
        return slice(begin + shard // self.size, end, len(self.numbers))


@dataclass(frozen=True, eq=False)
class AdjacencyPart(AdjacencyMatrix):
    """A subset of the columns of A_t, with its own `sizes` and `blocks`.

    Attributes
    ----------
    shards : Shards
    num_neighbours : mapping of neighbour type to its number of nodes
    """

    shards: Shards
    num_neighbours: dict[str, int]

    def place(self, ids: Any, first: Any) -> Any:
        """Return the columns of nodes of a block; 0 for nodes of other workers."""
        return self.shards.owns(ids) * (first + self.shards.local(ids))

    def shard_rows(self, shard: int) -> list[slice]:
        """Return the slices of a shard's columns, one per block."""
        blocks = self.blocks.items()
        return [self.shards.rows(shard, begin, self.num_neighbours[s]) for s, begin in blocks]


class RowPart(RowEncoding):
    """A subset of the columns of one node type's rows, scaled as the whole rows are."""

    def __init__(self, part: AdjacencyPart, kind: str, group: Group) -> None:
        self.part, self._group = part, group
        super().__init__(part, kind)

    def over_all_columns(self, number: float) -> float:
        """Return the sum over all workers."""
        return self._group.total(number)


def adjacency_part(
    network: HyperNetwork,
    shards: Shards,
    dtype: npt.DTypeLike = np.float32,
    *,
    device: torch.device | None = None,
) -> dict[str, AdjacencyPart]:
    """Return the columns of these shards for every node type's adjacency.

    The other columns are never built. The entries are on `device` if it is given, otherwise in main
    memory.
    """
    build = _on_host if device is None else partial(_on_device, device, has_unit_weights(network))
    found = {}
    for t, neighbours in neighbour_types(network).items():
        count = {s: network.num_nodes(s) for s in neighbours}
        sizes = {s: shards.count(n) for s, n in count.items()}
        blocks = first_columns(sizes, 1)
        entries = build(network, t, sizes, shards, np.dtype(dtype))
        found[t] = AdjacencyPart(t, entries, blocks, sizes, shards, count)
    return found


def _on_host(
    network: HyperNetwork,
    node_type: str,
    sizes: Mapping[str, int],
    shards: Shards,
    dtype: np.dtype[Any],
) -> HostEntries:
    rows = network.num_nodes(node_type)
    parts = [sp.csr_array((rows, 1))]
    for s, size in sizes.items():
        entries = [
            e for edges in network.edge_sets for e in _owned_entries(edges, node_type, s, shards)
        ]
        parts.append(summed(entries, (rows, size)))
    matrix = sp.hstack(parts, format="csr")
    largest = np.zeros(matrix.shape[1])
    np.maximum.at(largest, matrix.indices, matrix.data)
    data = (matrix.data / largest[matrix.indices]).astype(dtype)
    scaled = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    scaled.has_sorted_indices = True
    return HostEntries(scaled, largest)


def _on_device(
    device: torch.device,
    unit: bool,
    network: HyperNetwork,
    node_type: str,
    sizes: Mapping[str, int],
    shards: Shards,
    dtype: np.dtype[Any],
) -> DeviceEntries:
    blocks = first_columns(sizes, 1)
    return count_entries(
        network.edge_sets,
        node_type,
        lambda s, ids: torch.where(shards.owns(ids), blocks[s] + shards.local(ids), -1),
        (network.num_nodes(node_type), 1 + sum(sizes.values())),
        unit=unit,
        share=1 / shards.size,
        device=device,
        dtype=torch.from_numpy(np.empty(0, dtype)).dtype,
    )


def _owned_entries(edges: EdgeSet, node_type: str, neighbour: str, shards: Shards) -> list[Entries]:
    """Return the entries of hyperedges in the columns of these shards.

    They are made in chunks, in the order in which the whole would be.
    """
    chunks = []
    for low in range(0, max(len(edges), 1), _CHUNK_EDGES):
        some = slice(low, low + _CHUNK_EDGES)
        chunk = EdgeSet(edges.types, edges.nodes[some], edges.weights[some])
        chunks.append([_owned(e, shards) for e in entries_of(chunk, node_type, neighbour)])
    return [e for pair in zip(*chunks, strict=True) for e in pair]


def _owned(entries: Entries, shards: Shards) -> Entries:
    """Return the entries in the columns of these shards, renumbered within them."""
    mine = shards.owns(entries.ids)
    ids = shards.local(entries.ids[mine])
    return Entries(entries.rows[mine], entries.neighbour_type, ids, entries.weights[mine])
