"""Columns divided over workers, by the neighbours that they belong to.

Every node is in one of 64 *virtual shards*, its id modulo 64, and with it the columns that it has
in the rows of other nodes. A worker has a run of shards: all of them if it is alone, 16 if it is
one of four. What is drawn, saved or loaded is drawn, saved or loaded shard by shard, so that it
does not depend on how many workers there are.

Within a worker the columns of its shards are numbered in the order of the ids, from 1 on; column 0,
which has no entry, stands for those of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from dhne.adjacency import AdjacencyMatrix, Entries, entries_of, meeting_types, summed
from dhne.errors import ParameterError
from dhne.model.row_encoding import RowEncoding
from dhne.network.hypernetwork import HyperNetwork
from dhne.workers import Group

NUM_SHARDS = 64


@dataclass(frozen=True)
class Shards:
    """A worker's virtual shards, those from `low` up to `high`.

    Examples
    --------
    >>> second = Shards.of(1, 4)
    >>> second, second.count(100), second.local(np.array([16, 31, 80]))
    (Shards(low=16, high=32), 32, array([ 0, 15, 16]))
    """

    low: int
    high: int

    @classmethod
    def of(cls, rank: int, size: int) -> Shards:
        """Return the shards of worker `rank` of `size`."""
        if size > NUM_SHARDS:
            raise ParameterError(f"at most {NUM_SHARDS} workers can train together, got {size}")
        return cls(rank * NUM_SHARDS // size, (rank + 1) * NUM_SHARDS // size)

    def __len__(self) -> int:
        return self.high - self.low

    def count(self, num_nodes: int) -> int:
        """Return how many of so many nodes are in these shards."""
        whole, rest = divmod(num_nodes, NUM_SHARDS)
        return whole * len(self) + min(max(rest - self.low, 0), len(self))

    def owns(self, ids: Any) -> Any:
        """Return which nodes are in these shards."""
        shard = ids % NUM_SHARDS
        return (shard >= self.low) & (shard < self.high)

    def local(self, ids: Any) -> Any:
        """Return the numbers of nodes among those of these shards; any number for others."""
        return ids // NUM_SHARDS * len(self) + ids % NUM_SHARDS - self.low

    def rows(self, shard: int, begin: int, num_nodes: int) -> slice:
        """Return where a shard's nodes are among the columns of a block that begins there."""
        return slice(begin + shard - self.low, begin + self.count(num_nodes), len(self))


@dataclass(frozen=True, eq=False)
class AdjacencyPart(AdjacencyMatrix):
    """Some columns of A_t; `sizes` and `blocks` are those of the part.

    Attributes
    ----------
    shards : Shards
    num_neighbours : mapping of neighbour type to its number of nodes
    """

    shards: Shards
    num_neighbours: dict[str, int]

    def place(self, ids: Any, first: Any) -> Any:
        """Return the columns of nodes of a block; 0 for those of other workers."""
        return self.shards.owns(ids) * (first + self.shards.local(ids))

    def shard_rows(self, shard: int) -> list[slice]:
        """Return where a shard's columns are, block by block."""
        blocks = self.blocks.items()
        return [self.shards.rows(shard, begin, self.num_neighbours[s]) for s, begin in blocks]


class RowPart(RowEncoding):
    """Some columns of the rows of one node type, with the scale that all of them have together."""

    def __init__(self, part: AdjacencyPart, kind: str, group: Group) -> None:
        self.part, self._group = part, group
        super().__init__(part, kind)

    def over_all_columns(self, number: float) -> float:
        """Return the sum over all workers."""
        return self._group.total(number)


def adjacency_part(
    network: HyperNetwork, shards: Shards, dtype: npt.DTypeLike = np.float32
) -> dict[str, AdjacencyPart]:
    """Return the columns of these shards of every node type's adjacency.

    Nothing of the other columns is built.
    """
    pairs = {pair for t, s in meeting_types(network) for pair in ((t, s), (s, t))}
    return {
        t: _part(network, t, [s for s in network.node_types if (t, s) in pairs], shards, dtype)
        for t in network.node_types
    }


def _part(
    network: HyperNetwork,
    node_type: str,
    neighbours: list[str],
    shards: Shards,
    dtype: npt.DTypeLike,
) -> AdjacencyPart:
    rows = network.num_nodes(node_type)
    blocks, sizes, parts, begin = {}, {}, [sp.csr_array((rows, 1))], 1
    for s in neighbours:
        blocks[s], sizes[s] = begin, shards.count(network.num_nodes(s))
        begin += sizes[s]
        entries = [
            _owned(e, shards)
            for edges in network.edge_sets
            for e in entries_of(edges, node_type)
            if e.neighbour_type == s
        ]
        parts.append(summed(entries, (rows, sizes[s])))
    matrix = sp.hstack(parts, format="csr")
    largest = np.zeros(matrix.shape[1])
    np.maximum.at(largest, matrix.indices, matrix.data)
    data = (matrix.data / largest[matrix.indices]).astype(dtype)
    scaled = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    scaled.has_sorted_indices = True
    count = {s: network.num_nodes(s) for s in neighbours}
    return AdjacencyPart(node_type, scaled, largest, blocks, sizes, shards, count)


def _owned(entries: Entries, shards: Shards) -> Entries:
    """Return the entries in the columns of these shards, numbered among them."""
    mine = shards.owns(entries.ids)
    ids = shards.local(entries.ids[mine])
    return Entries(entries.rows[mine], entries.neighbour_type, ids, entries.weights[mine])
