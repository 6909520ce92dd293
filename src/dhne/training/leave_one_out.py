"""Leaving a hyperedge out of its own nodes' rows.

While a hyperedge e is scored, and the negatives drawn from it, its own entries are out of its
nodes' adjacency rows. For each node v of e there is then an *extra row* below those of the batch's
distinct nodes, v's row plus N − 1 entries that take away what e put there:

    counts:   −w_e / m_u                          (m_u the column's maximum)
    digits:   digits(A_vu − w_e) − digits(A_vu)   (often 0; see `dhne.model.row_encoding`)

They depend on e alone and are found once, before training. A negative's node that was replaced had
no part in e and keeps its whole row; so does a node from whose row nothing is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.kernels import ExtraRows
from dhne.model.row_encoding import RowEncoding
from dhne.network.edges import EdgeSet, EdgeType, NodeArray

from .step_inputs import TupleInputs, spread

_CHUNK = 1 << 20  # hyperedges looked up in one go


class LeaveOneOut:
    """What hyperedges take out of their nodes' rows, and the rows that are left.

    Parameters
    ----------
    encodings : mapping of node type to RowEncoding
    width : int
        How many entries an extra row has: one less than the longest hyperedge's positions.
    """

    def __init__(
        self,
        encodings: Mapping[str, RowEncoding],
        width: int,
        *,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self._encodings, self._width = encodings, width
        self._device, self._dtype = device, dtype
        self._offsets: dict[EdgeType, tuple[Tensor, Tensor]] = {}

    def taken(self, edges: EdgeSet) -> Tensor:
        """Return the entries that leave hyperedges out: ``float[m, N, width]``, none positive.

        ``[e, p]`` is for the row of the node at position p, in the order of the other positions.
        """
        found = torch.zeros(len(edges), edges.length, self._width, dtype=self._dtype)
        for low in range(0, len(edges), _CHUNK):
            nodes, weights = edges.nodes[low : low + _CHUNK], edges.weights[low : low + _CHUNK]
            for p, others in enumerate(_others(edges.length)):
                for slot, q in enumerate(others):
                    value = self._contribution(nodes, weights, edges.types, p, q)
                    value *= _adds(nodes, edges.types, p, q)
                    found[low : low + len(nodes), p, slot] = torch.from_numpy(-value)
        return found.to(self._device)

    def _contribution(
        self, nodes: NodeArray, weights: npt.NDArray[np.float64], types: EdgeType, p: int, q: int
    ) -> npt.NDArray[np.float64]:
        """Return what hyperedges put into the row of position p's node for position q's."""
        encoding = self._encodings[types[p]]
        columns = encoding.adjacency.column(types[q], nodes[:, q])
        return encoding.contribution(nodes[:, p], columns, weights)

    def rows(
        self, drawn: Sequence[TupleInputs], index: Sequence[Tensor], first: Mapping[str, int]
    ) -> dict[str, ExtraRows]:
        """Return the extra rows of a batch, and have its tuples point at them.

        Parameters
        ----------
        drawn : sequence of TupleInputs
            The tuples of each edge type.
        index : sequence of int64[B (k + 1), N]
            Where their nodes' embeddings are among the batch's rows of a type; changed in place.
        first : mapping of node type to int
            The number of the first extra row.
        """
        next_row = dict(first)
        parts: dict[str, list[tuple[Tensor, ...]]] = {}
        for d, where in zip(drawn, index, strict=True):
            edge, position, counts = self._changed(d.taken)
            columns = self._columns(d.edges, d.types)[edge, position]
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

    def _changed(self, taken: Tensor) -> tuple[Tensor, Tensor, list[int]]:
        """Return (hyperedge, position) of the rows that lose anything, and how many a position.

        All of them where a step must have one shape.
        """
        m, n, _ = taken.shape
        if self._device.type != "cpu" or not any(e.is_digits for e in self._encodings.values()):
            edge = torch.arange(m, device=self._device).repeat(n)
            position = torch.arange(n, device=self._device)
            return edge, position.repeat_interleave(m, output_size=m * n), [m] * n
        changed = taken.any(dim=2).T
        position, edge = changed.nonzero(as_tuple=True)
        return edge, position, changed.sum(dim=1).tolist()

    def _columns(self, nodes: Tensor, types: EdgeType) -> Tensor:
        """Return the columns of the other positions' nodes, ``int64[B, N, width]``.

        Where fewer than `width` are left, the first comes again, with nothing to take.
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
        return nodes[:, positions] + first


def _others(length: int) -> list[list[int]]:
    """Return for each position all the others.

    Examples
    --------
    >>> _others(3)
    [[1, 2], [0, 2], [0, 1]]
    """
    return [[q for q in range(length) if q != p] for p in range(length)]


def _adds(nodes: NodeArray, types: EdgeType, p: int, q: int) -> npt.NDArray[np.bool_]:
    """Whether position q adds an entry to the row of position p's node.

    Not if it holds the same node, nor if that node stood at an earlier position already.
    """
    earlier = [r for r in range(q) if types[r] == types[q]]
    if types[p] == types[q] and p not in earlier:
        earlier.append(p)
    adds = np.ones(len(nodes), dtype=bool)
    for r in earlier:
        adds &= nodes[:, q] != nodes[:, r]
    return adds
