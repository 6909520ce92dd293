"""Leaving a hyperedge out of its own nodes' rows.

When a hyperedge e and its negatives are scored, e's own entries are left out of its nodes'
adjacency rows. Each node v of e gets an *extra row* after those of the batch's distinct nodes: v's
row plus N − 1 entries that subtract e's contribution:

    counts:   −w_e / m_u                          (m_u the column's maximum)
    digits:   digits(A_vu − w_e) − digits(A_vu)   (often 0; see `dhne.model.row_encoding`)

They depend only on e and are computed once, before training. A replaced node of a negative is not
in e and keeps its whole row; so does a node from whose row nothing is subtracted. So do the nodes
of a hyperedge of more than 33 nodes: its N (N − 1) entries would cost more than all others, and
evidence leaves it out in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dhne.kernels import ExtraRows
from dhne.model.device_entries import DeviceEntries
from dhne.model.row_encoding import RowEncoding
from dhne.network.edges import EdgeSet, EdgeType
from dhne.sampling.device_chunks import device_chunks

from .step_inputs import FamilyInputs, TupleInputs, spread

_CHUNK_ENTRIES = 1 << 20  # entries looked up at once
MOST_TAKEN = 32  # entries of an extra row; nodes of longer hyperedges keep their whole rows


class LeaveOneOut:
    """The entries that leave hyperedges out, and the resulting rows.

    Parameters
    ----------
    encodings : mapping of node type to RowEncoding
    longest : int
        The length of the longest hyperedge; an extra row has one entry fewer, and at most 32.
    one_shape : bool
        Whether to add an extra row even if nothing is subtracted: for recorded steps, and for
        workers, which see different columns of the same rows.
    """

    def __init__(
        self,
        encodings: Mapping[str, RowEncoding],
        longest: int,
        *,
        device: torch.device,
        dtype: torch.dtype,
        one_shape: bool,
    ) -> None:
        self._encodings, self._width = encodings, min(longest - 1, MOST_TAKEN)
        self._device, self._dtype = device, dtype
        digits = any(e.is_digits for e in encodings.values())
        self._every = one_shape or not digits
        self._one_shape = one_shape
        # types without hyperedges have their rows in main memory
        self._on_device = any(
            isinstance(e.adjacency.entries, DeviceEntries) for e in encodings.values()
        )
        self._offsets: dict[EdgeType, tuple[Tensor, Tensor]] = {}

    def taken(self, edges: EdgeSet) -> Tensor:
        """Return the entries that leave hyperedges out: ``float[m, N, width]``, none positive.

        ``[e, p]`` is for the row of the node at position p, in the order of the other positions.
        """
        device = self._device if self._on_device else None
        found = torch.zeros(len(edges), edges.length, self._width, dtype=self._dtype, device=device)
        if edges.length - 1 > self._width:
            return found.to(self._device)
        low, step = 0, max(1, _CHUNK_ENTRIES // edges.length**2)
        for nodes, weights in self._chunks(edges, step):
            first = _first_of_its_kind(nodes, edges.types)
            for p, others in enumerate(_others(edges.length)):
                value = self._contribution(nodes, weights, edges.types, p, others)
                value *= first[:, others] & ~_same(nodes, edges.types, p)[:, others]
                found[low : low + len(nodes), p, : len(others)] = torch.as_tensor(-value)
            low += len(nodes)
        return found.to(self._device)

    def _chunks(self, edges: EdgeSet, step: int) -> Iterator[tuple[Any, Any]]:
        """Yield the nodes and weights of `step` hyperedges at a time, where the rows are."""
        if self._on_device:
            for chunk in device_chunks(edges, self._device, step):
                yield chunk.nodes, chunk.weights
            return
        for low in range(0, len(edges), step):
            yield edges.nodes[low : low + step], edges.weights[low : low + step]

    def _contribution(
        self, nodes: Any, weights: Any, types: EdgeType, p: int, others: list[int]
    ) -> Any:
        """Return what hyperedges contribute to the row of position p's node for the others."""
        value: Any
        encoding, n = self._encodings[types[p]], len(others)
        columns = [encoding.adjacency.column(types[q], nodes[:, q]) for q in others]
        if self._on_device:
            value = encoding.contribution_of(
                nodes[:, p].repeat_interleave(n),
                torch.stack(columns, dim=1).reshape(-1),
                weights.repeat_interleave(n),
            )
        else:
            value = encoding.contribution(
                np.repeat(nodes[:, p], n),
                np.stack(columns, axis=1).reshape(-1),
                np.repeat(weights, n),
            )
        return value.reshape(-1, n)

    def rows(
        self, drawn: Sequence[TupleInputs], index: Sequence[Tensor], first: Mapping[str, int]
    ) -> dict[str, ExtraRows]:
        """Return the extra rows of a batch, and make its tuples refer to them.

        Parameters
        ----------
        drawn : sequence of TupleInputs
            The tuples of each edge type.
        index : sequence of int64[B (k + 1), N]
            The rows of their nodes' embeddings among the batch's rows of a type; changed in place.
        first : mapping of node type to int
            The index of the first extra row.
        """
        next_row = dict(first)
        parts: dict[str, list[tuple[Tensor, ...]]] = {}
        for d, where in zip(drawn, index, strict=True):
            edge, position, counts = self._changed(d.taken)
            columns = self.columns(d.edges, d.types)[edge, position]
            extra = columns, d.taken[edge, position], where[edge, position]
            numbers = []
            for t, count, *part in zip(
                d.types, counts, *(torch.split(x, counts) for x in extra), strict=True
            ):
                parts.setdefault(t, []).append(tuple(part))
                end = next_row[t] + count
                numbers.append(torch.arange(next_row[t], end, device=self._device))
                next_row[t] = end
            where[edge, position] = torch.cat(numbers)
            own = spread(where[: len(d.edges)], len(d.negatives))
            where[len(d.edges) :] = torch.where(d.kept, own, where[len(d.edges) :])
        return {
            t: ExtraRows(*(torch.cat(x) for x in zip(*p, strict=True))) for t, p in parts.items()
        }

    def columns(self, nodes: Tensor, types: EdgeType) -> Tensor:
        """Return the columns that `taken` refers to, ``int64[B, N, width]``."""
        if len(types) - 1 > self._width:
            return nodes.new_zeros(*nodes.shape, self._width)
        return self._columns(nodes, types)

    def rows_of_families(
        self,
        drawn: Sequence[FamilyInputs],
        index: Sequence[Tensor],
        first: Mapping[str, int],
    ) -> dict[str, list[ExtraRows]]:
        """Return the extra rows of families, and make their tuples refer to them."""
        next_row = dict(first)
        parts: dict[str, list[ExtraRows]] = {}
        for d, where in zip(drawn, index, strict=True):
            changed = d.taken.any(dim=1)
            if self._one_shape:
                changed = torch.ones_like(changed)
            for t in dict.fromkeys(d.types):
                mine = changed.clone() if d.is_uniform else changed & d.of_type(t)[: len(changed)]
                rows = mine.nonzero()[:, 0]
                if not len(rows):
                    continue
                parts.setdefault(t, []).append(
                    ExtraRows(d.columns[rows], d.taken[rows], where[rows])
                )
                end = next_row[t] + len(rows)
                where[rows] = torch.arange(next_row[t], end, device=self._device)
                next_row[t] = end
            of_negatives = where[len(changed) :]
            kept = (d.own >= 0).nonzero()[:, 0]
            of_negatives[kept] = where[d.own[kept]]
        return parts

    def _changed(self, taken: Tensor) -> tuple[Tensor, Tensor, list[int]]:
        """Return (hyperedge, position) of the rows that change, and their number per position.

        Returns all rows if a step must have a fixed shape.
        """
        m, n, _ = taken.shape
        if self._every:
            edge = torch.arange(m, device=self._device).repeat(n)
            position = torch.arange(n, device=self._device)
            return edge, position.repeat_interleave(m, output_size=m * n), [m] * n
        changed = taken.any(dim=2).T
        position, edge = changed.nonzero(as_tuple=True)
        return edge, position, changed.sum(dim=1).tolist()

    def _columns(self, nodes: Tensor, types: EdgeType) -> Tensor:
        """Return the columns of the other positions' nodes, ``int64[B, N, width]``.

        If fewer than `width` remain, the first is repeated, with nothing to subtract.
        """
        if types not in self._offsets:
            others = _others(len(types))
            others = [[*mine, *mine[:1] * (self._width - len(mine))] for mine in others]
            offsets = [
                [self._encodings[t].adjacency.blocks[types[q]] for q in mine]
                for t, mine in zip(types, others, strict=True)
            ]
            made = (torch.tensor(x, device=self._device) for x in (others, offsets))
            self._offsets[types] = tuple(made)  # type: ignore[assignment]
        positions, first = self._offsets[types]
        place: Callable[[Tensor, Tensor], Tensor] = self._encodings[types[0]].adjacency.place
        return place(nodes[:, positions], first)


def joined(parts: Sequence[ExtraRows]) -> ExtraRows:
    """Return extra rows of one matrix, concatenated."""
    base = [part.base for part in parts if part.base is not None]
    columns, values = (
        torch.cat(x) for x in zip(*((p.columns, p.values) for p in parts), strict=True)
    )
    return ExtraRows(columns, values, torch.cat(base))


def _others(length: int) -> list[list[int]]:
    """Return, for each position, all the others.

    Examples
    --------
    >>> _others(3)
    [[1, 2], [0, 2], [0, 1]]
    """
    return [[q for q in range(length) if q != p] for p in range(length)]


def _first_of_its_kind(nodes: Any, types: EdgeType) -> Any:
    """``bool[m, N]``: whether no earlier position holds the same node; a node counts once."""
    first = nodes == nodes  # true everywhere, for arrays and tensors alike
    for q in range(1, nodes.shape[1]):
        earlier = [r for r in range(q) if types[r] == types[q]]
        first[:, q] = (nodes[:, earlier] != nodes[:, [q]]).all(axis=1)
    return first


def _same(nodes: Any, types: EdgeType, p: int) -> Any:
    """``bool[m, N]``: whether a position holds the same node as position p."""
    same = nodes == nodes[:, [p]]
    same[:, [q for q, t in enumerate(types) if t != types[p]]] = False
    return same
