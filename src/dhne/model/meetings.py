"""Co-occurrences of nodes, by their positions in hyperedges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork

Ints = npt.NDArray[np.int64]


class Meetings:
    """Co-occurrences of nodes of two types, sorted by source, target and place pair.

    Attributes
    ----------
    num_targets : int
    begins : int64[sources + 1]
    keys : int64[entries]
        source · targets + target.
    targets, places : int32[entries]
    counts : float[entries]
        n, the number of hyperedges behind the entry.
    values, without : float[entries]
        g(n) and g(n − 1); see :mod:`dhne.model.place_evidence`.
    """

    def __init__(
        self,
        num_targets: int,
        begins: Tensor,
        keys: Tensor,
        targets: Tensor,
        places: Tensor,
        counts: Tensor,
    ) -> None:
        self.num_targets = num_targets
        self.begins, self.keys, self.targets, self.places = begins, keys, targets, places
        self.counts = counts
        self.values, self.without = _damped(counts), _damped(counts - 1)

    def apply(self, change: Callable[[Tensor], Tensor]) -> Meetings:
        """Return a copy on another device or in another precision."""
        tensors = (self.begins, self.keys, self.targets, self.places, self.counts)
        return Meetings(self.num_targets, *map(change, tensors))


def all_meetings(
    network: HyperNetwork, codes: Callable[[EdgeSet, int, int], Ints | None]
) -> tuple[Ints, dict[tuple[str, str], Ints]]:
    """Return the distinct codes of place pairs, and (source, target, code) rows by node types.

    `codes` returns each hyperedge's code for positions i and p, or None for pairs without evidence.
    """
    parts: dict[tuple[str, str], list[Ints]] = {}
    for edges in network.edge_sets:
        for i, p in permutations(range(edges.length), 2):
            code = codes(edges, i, p)
            if code is not None and len(edges):
                rows = np.stack([edges.nodes[:, i], edges.nodes[:, p], code])
                parts.setdefault((edges.types[i], edges.types[p]), []).append(rows)
    joined = {pair: np.concatenate(rows, axis=1) for pair, rows in parts.items()}
    found = [np.unique(rows[2]) for rows in joined.values()]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64), joined


def sort_meetings(rows: Ints, number: Ints, num_sources: int, num_targets: int) -> Meetings:
    """Count equal rows; `number` maps each code to its index, -1 for those without evidence."""
    source, target, code = rows[:, number[rows[2]] >= 0]
    place = number[code]
    order = np.lexsort((place, target, source))
    source, target, place = source[order], target[order], place[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(source) != 0) | (np.diff(target) != 0) | (np.diff(place) != 0)
    first = np.flatnonzero(new)
    counts = np.diff(np.append(first, len(order)))
    source, target, place = source[first], target[first], place[first]
    begins = np.searchsorted(source, np.arange(num_sources + 1))
    arrays = (
        begins,
        source * num_targets + target,
        target.astype(np.int32),
        place.astype(np.int32),
        counts.astype(np.float32),
    )
    return Meetings(num_targets, *map(torch.from_numpy, arrays))


def _damped(counts: Tensor) -> Tensor:
    """Return g: 0 for 0, else 1 + log n."""
    return torch.where(counts > 0, 1 + torch.log(counts.clamp(min=1)), torch.zeros_like(counts))


def ragged(first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Return (row, entry) of all entries first[row] … last[row] − 1.

    Examples
    --------
    >>> rows, entries = ragged(torch.tensor([0, 5]), torch.tensor([2, 6]))
    >>> rows.tolist(), entries.tolist()
    ([0, 0, 1], [0, 1, 5])
    """
    count = last - first
    rows = torch.repeat_interleave(torch.arange(len(first), device=first.device), count)
    within = torch.arange(len(rows), device=first.device) - (torch.cumsum(count, 0) - count)[rows]
    return rows, first[rows] + within
