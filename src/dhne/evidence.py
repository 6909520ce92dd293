"""Pair evidence: how often a tuple's nodes were seen together and at all, the tuple itself left out.

For each pair of positions the log of the pair's co-occurrence count and whether it is zero, for each
position the log of the node's degree:

    log(1 + A[v_p, v_q]),   [A[v_p, v_q] = 0],   log(1 + deg v_p),

A and the degrees weighted, and both counted without the hyperedge that is being scored. Positions
that share their U (unordered ones of one type) share these too: their features are averaged, so that
order does not matter and one set of features serves every size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .adjacency import AdjacencyMatrix
from .edges import EdgeType
from .network import HyperNetwork

_ZERO = 1e-6  # counts are sums and differences of weights; below this share of them they are zero


def _slots(edge_type: EdgeType, *, ordered: bool) -> list[int]:
    """The feature slot of each position."""
    if ordered:
        return list(range(len(edge_type)))
    names = sorted(set(edge_type))
    return [names.index(t) for t in edge_type]


def _pair_slots(num_slots: int, *, ordered: bool) -> list[tuple[int, int]]:
    pairs = list(combinations(range(num_slots), 2))
    return pairs if ordered else pairs + [(s, s) for s in range(num_slots)]


def num_features(edge_type: EdgeType, *, ordered: bool) -> int:
    """Return how many numbers describe a tuple of this type.

    Examples
    --------
    >>> num_features(("user", "movie", "tag"), ordered=True)
    9
    """
    slots = max(_slots(edge_type, ordered=ordered)) + 1
    return 2 * len(_pair_slots(slots, ordered=ordered)) + slots


class PairEvidence:
    """Counts of pairs and nodes of one network, looked up for many tuples at once."""

    def __init__(
        self,
        network: HyperNetwork,
        matrices: Mapping[str, AdjacencyMatrix],
        *,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self._dtype = dtype
        self._matrices = matrices
        self._keys: dict[str, Tensor] = {}
        self._counts: dict[str, Tensor] = {}
        self._degrees: dict[str, Tensor] = {}
        for t, a in matrices.items():
            csr = a.matrix
            rows = np.repeat(np.arange(csr.shape[0], dtype=np.int64), np.diff(csr.indptr))
            keys = rows * csr.shape[1] + csr.indices
            counts = csr.data.astype(np.float64) * a.column_max[csr.indices]
            self._keys[t] = torch.from_numpy(keys).to(device)
            self._counts[t] = torch.from_numpy(counts).to(device=device, dtype=dtype)
            degrees = network.degrees(t, weighted=True)
            self._degrees[t] = torch.from_numpy(degrees).to(device=device, dtype=dtype)

    def pair_counts(self, t: str, nodes: Tensor, s: str, others: Tensor) -> Tensor:
        """Return the total weight of the hyperedges that hold both nodes of each pair."""
        matrix, keys = self._matrices[t], self._keys[t]
        if not len(keys) or s not in matrix.blocks:
            return torch.zeros(len(nodes), dtype=self._dtype, device=nodes.device)
        asked = nodes * matrix.shape[1] + matrix.column(s, others)
        place = torch.searchsorted(keys, asked).clamp_(max=len(keys) - 1)
        return torch.where(keys[place] == asked, self._counts[t][place], 0)

    def features(
        self,
        nodes: Tensor,
        edge_type: EdgeType,
        *,
        ordered: bool,
        left_out: Tensor | None = None,
        kept: Tensor | None = None,
    ) -> Tensor:
        """Return ``float[m, features]`` for tuples ``nodes: int64[m, N]``.

        Parameters
        ----------
        left_out : float[m], optional
            The weight of the hyperedge that each tuple is, or was drawn from.
        kept : bool[m, N], optional
            Which positions still hold that hyperedge's node; all do where it is left out.
        """
        slots = _slots(edge_type, ordered=ordered)
        num_slots = max(slots) + 1
        pairs = _pair_slots(num_slots, ordered=ordered)
        at = {pair: k for k, pair in enumerate(pairs)}
        width = 2 * len(pairs)
        out = torch.zeros(len(nodes), width + num_slots, dtype=self._dtype, device=nodes.device)
        pair_share = _shares([_pair(slots[p], slots[q]) for p, q in _positions(edge_type)])
        for p, q in _positions(edge_type):
            count = self.pair_counts(edge_type[p], nodes[:, p], edge_type[q], nodes[:, q])
            zero = count == 0
            if left_out is not None:
                own = left_out if kept is None else left_out * (kept[:, p] & kept[:, q])
                if edge_type[p] == edge_type[q]:
                    own = own * (nodes[:, p] != nodes[:, q])
                rest = (count - own).clamp_(min=0)
                zero = rest <= _ZERO * count
                count = torch.where(zero, 0, rest)
            pair = _pair(slots[p], slots[q])
            k = at[pair]
            out[:, 2 * k] += torch.log1p(count) * pair_share[pair]
            out[:, 2 * k + 1] += zero.to(self._dtype) * pair_share[pair]
        share = _shares(slots)
        for p, t in enumerate(edge_type):
            degree = self._degrees[t][nodes[:, p]]
            if left_out is not None:
                degree = (degree - (left_out if kept is None else left_out * kept[:, p])).clamp_(0)
            out[:, width + slots[p]] += torch.log1p(degree) * share[slots[p]]
        return out


def _positions(edge_type: EdgeType) -> list[tuple[int, int]]:
    return list(combinations(range(len(edge_type)), 2))


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a <= b else (b, a)


def _shares(keys: Sequence[Any]) -> dict[Any, float]:
    """Return 1 / count for each key, so that features of shared slots are averaged."""
    return {k: 1 / keys.count(k) for k in keys}
