"""Evidence: what a tuple's nodes have in common in the network, not counting the tuple itself.

Each pair of positions has three counts, each given as log(1 + count) and a flag for zero: the
pair's co-occurrences, the neighbours that both share, and the paths of length three between them.
Each position adds the log of the node's degree. `dhne.kernels.counts` has the formulas. The
hyperedge being scored is left out of all counts: a new tuple has no entry of its own either.

Positions that share their U (unordered ones of one type) share these features too: they are
averaged, so that order does not matter and one set of features serves every size. An average hides
a single member that does not belong, so sets also have the minimum and the maximum as features: of
c for each kind of pair, and of the degrees for each set, again as a logarithm and a flag for zero.
In a long hyperedge not all pairs are counted but about as many as it has members, at least 32 of
each kind, with every member in the same number of pairs (`counted_pairs`): the cost is linear in
its size. The same holds for a tuple of more than 33 positions, each paired only with nearby ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, islice

import numpy as np
import torch
from torch import Tensor

from dhne.adjacency import AdjacencyMatrix
from dhne.kernels import Kernels, get_kernels
from dhne.kernels.counts import ZERO, Average, Common, CountTable, TupleTables
from dhne.kernels.open_counts import Near
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .device_entries import DeviceEntries
from .open_evidence import OpenEvidence, placements

_PER_PAIR = 6  # c, s, t: a logarithm and a flag each
_PAIRS = 32  # of one kind, above which not all are counted
_SLOTS = 33  # maximum number of positions of which every pair is a kind of its own
_COMMON = 8  # node types in which two nodes' common neighbours are counted
_CHUNK_EDGES = 1 << 17  # hyperedges counted at once


def _counted(a: AdjacencyMatrix) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows' bounds, the columns and the counts behind the entries of a matrix."""
    if isinstance(a.entries, DeviceEntries):
        return a.entries.indptr, a.entries.indices, a.entries.counts()
    m = a.matrix
    arrays = m.indptr.astype(np.int64), m.indices.astype(np.int32), a.counts(m)
    return tuple(map(torch.from_numpy, arrays))  # type: ignore[return-value]


def _pair_slots(edge_type: EdgeType) -> list[tuple[int, int]]:
    """Return the pairs of slots with features: two different slots, or a set with itself.

    With more than 33 slots, each is paired only with its neighbours on a circle.
    """
    sets = [s for s, many in enumerate(edge_type.family.many) if many]
    n = len(edge_type.slot_types)
    pairs = list(combinations(range(n), 2))
    if n > _SLOTS:
        apart = max(1, _SLOTS * _SLOTS // (2 * n))
        pairs = sorted({_ascending(i, (i + d) % n) for i in range(n) for d in _to(apart, n)})
    return pairs + [(s, s) for s in sets]


@lru_cache(maxsize=4096)
def counted_pairs(edge_type: EdgeType) -> tuple[tuple[int, int], ...]:
    """Return the pairs of positions that are counted, in ascending order; all if there are few.

    In a large set, these are pairs of members at most d apart on a circle; between two sets, the
    same with the two circles aligned.

    Examples
    --------
    >>> counted_pairs(EdgeType(("user", "movie", "tag")))
    ((0, 1), (0, 2), (1, 2))
    >>> len(counted_pairs(EdgeType.of(("author",) * 100, ordered=False)))
    100
    """
    found: set[tuple[int, int]] = set()
    groups = edge_type.groups
    for group in groups:
        n = len(group)
        apart = n // 2 if n * (n - 1) // 2 <= _PAIRS else max(1, _PAIRS // n)
        found |= {_ascending(group[i], group[(i + d) % n]) for i in range(n) for d in _to(apart, n)}
    of_slot = {edge_type.slots[group[0]]: group for group in groups}
    for one, other in _pair_slots(edge_type):
        if one == other or one not in of_slot or other not in of_slot:
            continue
        a, b = sorted((of_slot[one], of_slot[other]))
        longer = max(len(a), len(b))
        apart = longer if len(a) * len(b) <= _PAIRS else max(1, _PAIRS // longer)
        found |= {
            _ascending(a[i % len(a)], b[(i + d) % len(b)])
            for i in range(longer)
            for d in range(apart)
        }
    return tuple(sorted(found))


def _common_types(a: AdjacencyMatrix, b: AdjacencyMatrix) -> list[str]:
    """Return the neighbour types of both, at most eight to bound the cost."""
    return list(islice((t for t in a.blocks if t in b.blocks), _COMMON))


def _to(apart: int, size: int) -> range:
    return range(1, min(apart, size - 1) + 1)


def _ascending(p: int, q: int) -> tuple[int, int]:
    return (p, q) if p < q else (q, p)


def num_features(edge_type: EdgeType) -> int:
    """Return the number of features of a tuple of this type.

    Examples
    --------
    >>> num_features(EdgeType(("user", "movie", "tag")))
    21
    """
    return _num_averages(edge_type) + 4 * len(_extremes(edge_type))


def _num_averages(edge_type: EdgeType) -> int:
    return _PER_PAIR * len(_pair_slots(edge_type)) + len(edge_type.slot_types)


def _extremes(edge_type: EdgeType) -> tuple[tuple[int, ...], ...]:
    """Return, kind by kind, the counts whose minimum and maximum are features.

    With sets, these are c of each kind of pair, and the degrees of each set. A kind that does not
    exist at some size, such as pairs of a single member, has no counts.
    """
    if not edge_type.has_sets:
        return ()
    pairs, slots = counted_pairs(edge_type), edge_type.slots
    of_kind: dict[tuple[int, int], list[int]] = {kind: [] for kind in _pair_slots(edge_type)}
    for k, (p, q) in enumerate(pairs):
        of_kind[_ascending(slots[p], slots[q])].append(3 * k)
    of_set: dict[int, list[int]] = {s: [] for s, many in enumerate(edge_type.family.many) if many}
    for p, slot in enumerate(slots):
        if slot in of_set:
            of_set[slot].append(3 * len(pairs) + p)
    return tuple(tuple(found) for found in (*of_kind.values(), *of_set.values()))


def _described_near(near: Near, average: Average, num_counts: int) -> Near:
    """Return what counts of pairs add to the features of a candidate that has none of them."""
    flags = near.columns + num_counts
    logs = torch.log1p(near.values) * average.share[near.columns]
    not_zero = (near.values >= ZERO).to(logs.dtype) * -average.share[flags]
    columns = average.feature[torch.cat([near.columns, flags])]
    return replace(near, columns=columns, values=torch.cat([logs, not_zero], dim=1))


class PairEvidence:
    """The counts of one network, with lookup for many tuples at once.

    Parameters
    ----------
    network : HyperNetwork
    matrices : mapping of node type to AdjacencyMatrix
    kernels : Kernels, optional
        Backend; defaults to the device's.
    """

    def __init__(
        self,
        network: HyperNetwork,
        matrices: Mapping[str, AdjacencyMatrix],
        *,
        device: torch.device,
        dtype: torch.dtype,
        kernels: Kernels | None = None,
    ) -> None:
        self._kernels = kernels or get_kernels("auto", device)
        self._dtype, self._device = dtype, device
        self._matrices = matrices
        self._numbers = {t: i for i, t in enumerate(matrices)}
        self._tables: dict[str, CountTable] = {}
        for t, a in matrices.items():
            indptr, columns, counts = _counted(a)
            self._tables[t] = CountTable(
                indptr.to(device),
                columns.to(device),
                counts.to(device=device, dtype=dtype),
                torch.from_numpy(network.degrees(t, weighted=True)).to(device=device, dtype=dtype),
                a.shape[1],
                tuple(a.blocks.values()) or (0,),
            )
        self._of_type: dict[EdgeType, TupleTables] = {}
        self._averages: dict[EdgeType, Average] = {}
        self._extremes: dict[EdgeType, list[Tensor]] = {}

    def tables(self, edge_type: EdgeType) -> TupleTables:
        """Return the tables of an edge type's positions."""
        if edge_type not in self._of_type:
            m = [self._matrices[t] for t in edge_type]
            self._of_type[edge_type] = TupleTables(
                tuple(self._tables[t] for t in edge_type),
                tuple(self._numbers[t] for t in edge_type),
                tuple(tuple(a.blocks.get(t, 0) for t in edge_type) for a in m),
                tuple(a.shape[0] for a in m),
                counted_pairs(edge_type),
                tuple(
                    tuple(
                        Common(self._numbers[s], m[p].blocks[s], m[q].blocks[s], m[p].sizes[s])
                        for s in _common_types(m[p], m[q])
                    )
                    for p, q in counted_pairs(edge_type)
                ),
            )
        return self._of_type[edge_type]

    def counts_of_edges(self, nodes: Tensor, weights: Tensor, edge_type: EdgeType) -> Tensor:
        """Return the counts of hyperedges, each without itself; the same in every epoch."""
        tables = self.tables(edge_type)
        counts = torch.empty(len(nodes), tables.width, dtype=self._dtype, device=self._device)
        for low in range(0, len(nodes), _CHUNK_EDGES):
            part = slice(low, low + _CHUNK_EDGES)
            edges = nodes[part]
            counts[part] = self._kernels.tuple_counts(tables, edges, edges, weights[part])
        return counts

    def features(
        self,
        nodes: Tensor,
        edge_type: EdgeType,
        *,
        source: Tensor | None = None,
        left_out: Tensor | None = None,
        num_edges: int = 0,
        of_edges: Tensor | None = None,
    ) -> Tensor:
        """Return ``float[m, features]`` for tuples ``nodes: int64[m, N]``.

        Parameters
        ----------
        source : int64[m, N], optional
            The hyperedge that each tuple is, or was drawn from; it is left out of the counts.
        left_out : float[m], optional
            Its weight.
        num_edges : int
            If not 0, the first `num_edges` tuples are those hyperedges, followed by an equal number
            of negatives of each; what they have in common is then counted only once.
        of_edges : optional
            What `counts_of_edges` returned for those hyperedges.
        """
        counts = self._kernels.tuple_counts(
            self.tables(edge_type), nodes, source, left_out, num_edges, of_edges
        )
        return self._described(counts, edge_type)

    def open_evidence(self, nodes: Tensor, edge_type: EdgeType, position: int) -> OpenEvidence:
        """Return the features of ``nodes: int64[m, N]`` with each candidate for `position`."""
        tables = self.tables(edge_type)
        degrees = tables.tables[position].degrees
        if edge_type.has_sets:
            parts = [self._with_candidates(row, edge_type, position) for row in nodes]
            return OpenEvidence.of_all(torch.stack(parts))
        found = self._kernels.candidate_counts(tables, nodes, position)
        average = self._average(edge_type)
        number = 2 * 3 * len(tables.pairs) + position  # after (ℓ(pair counts), which are zero)
        return OpenEvidence(
            self._described(found.given, edge_type),
            torch.log1p(degrees) * average.share[number],
            int(average.feature[number]),
            tuple(_described_near(near, average, 3 * len(tables.pairs)) for near in found.near),
        )

    def _with_candidates(self, nodes: Tensor, edge_type: EdgeType, position: int) -> Tensor:
        """Return ``float[n, features]`` of one tuple with each node of the type at `position`."""
        tables = self.tables(edge_type)
        size, parts = tables.sizes[position], []
        for row, place, low, high in placements(nodes, edge_type, position, size):
            counts = self._kernels.candidate_counts(tables, row[None], place).dense(size)[0]
            counts[:, tables.degree_column(place)] = tables.tables[place].degrees
            parts.append(counts[low:high])
        return self._described(torch.cat(parts), edge_type)

    def without_pair(self, nodes: Tensor, edge_type: EdgeType) -> Tensor:
        """Return ``float[pairs, features]``: one tuple's features if a pair had nothing in common.

        ``nodes: int64[1, N]``; row k omits what pair k has in common.
        """
        counts = self._kernels.tuple_counts(self.tables(edge_type), nodes, None, None)
        number = {pair: k for k, pair in enumerate(counted_pairs(edge_type))}
        pairs = list(combinations(range(len(edge_type)), 2))
        every = counts.repeat(len(pairs), 1)
        for row, pair in enumerate(pairs):
            k = number.get(pair)  # None for pairs of a long set that are not counted
            if k is not None:
                every[row, 3 * k : 3 * k + 3] = 0
        return self._described(every, edge_type)

    def _described(self, counts: Tensor, edge_type: EdgeType) -> Tensor:
        """Return the features of counts: averages and, for sets, minima and maxima."""
        averages = self._kernels.features(counts, self._average(edge_type))
        if not edge_type.has_sets:
            return averages
        none = counts.new_zeros(len(counts))
        extremes = [
            f(counts[:, columns], dim=1) if len(columns) else none
            for columns in self._columns(edge_type)
            for f in (torch.amin, torch.amax)
        ]
        found = torch.stack(extremes, dim=1)
        return torch.cat([averages, torch.log1p(found), (found < ZERO).to(found.dtype)], dim=1)

    def _columns(self, edge_type: EdgeType) -> list[Tensor]:
        if edge_type not in self._extremes:
            lists = (torch.tensor(x, dtype=torch.int64) for x in _extremes(edge_type))
            self._extremes[edge_type] = [x.to(self._device) for x in lists]
        return self._extremes[edge_type]

    def _average(self, edge_type: EdgeType) -> Average:
        """Return the feature each number adds to, averaged over positions that share a slot."""
        if edge_type not in self._averages:
            slots = np.array(edge_type.slots)
            numbers = {kind: k for k, kind in enumerate(_pair_slots(edge_type))}
            kind = np.array(
                [
                    numbers[_ascending(int(slots[p]), int(slots[q]))]
                    for p, q in counted_pairs(edge_type)
                ],
                np.int64,
            )
            one = _PER_PAIR * kind[:, None] + 2 * np.arange(3)
            feature = [one.ravel(), one.ravel() + 1, _PER_PAIR * len(numbers) + slots]
            share = [1 / np.repeat(np.bincount(kind)[kind], 3)] * 2 + [
                1 / np.bincount(slots)[slots]
            ]
            self._averages[edge_type] = Average(
                torch.from_numpy(np.concatenate(feature)).to(self._device),
                torch.from_numpy(np.concatenate(share)).to(self._device, self._dtype),
                _num_averages(edge_type),
            )
        return self._averages[edge_type]
