"""The counts of queries with every candidate for their open position, most of them implied.

Most candidates share nothing with a fixed node, and what a candidate shares with one fixed node
does not depend on the others. So each fixed node has a line of the candidates near it, which all
queries with that node have in common (`Near`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .counts import TupleTables


@dataclass(frozen=True)
class Near:
    """Numbers of the candidates that share something; those of all others are 0.

    Attributes
    ----------
    columns : int64[c]
        Which numbers they are, all different.
    lines : int64[m]
        The line of each query.
    begins : int64[lines + 1]
        Where each line's candidates begin in `ids` and `values`.
    ids : int32[k]
        The candidates, ascending within a line.
    values : float[k, c]
    """

    columns: Tensor
    lines: Tensor
    begins: Tensor
    ids: Tensor
    values: Tensor

    @property
    def num_lines(self) -> int:
        """The number of lines."""
        return len(self.begins) - 1

    def spread(self) -> tuple[Tensor, Tensor]:
        """Return (query, entry) of the candidates of every query's line.

        Examples
        --------
        >>> ids, values = torch.tensor([4, 7, 5]), torch.ones(3, 1)
        >>> near = Near(
        ...     torch.tensor([0]), torch.tensor([1, 0, 1]), torch.tensor([0, 2, 3]), ids, values
        ... )
        >>> queries, entries = near.spread()
        >>> queries.tolist(), entries.tolist()
        ([0, 1, 1, 2], [2, 0, 1, 2])
        """
        first, sizes = self.begins[self.lines], self.begins.diff()[self.lines]
        queries = torch.arange(len(self.lines), device=first.device).repeat_interleave(sizes)
        number = torch.arange(len(queries), device=first.device)
        return queries, number + (first - sizes.cumsum(0) + sizes)[queries]

    def add_to(self, every: Tensor) -> None:
        """Add the numbers to ``every: float[m, candidates, …]``."""
        queries, entries = self.spread()
        at = queries[:, None], self.ids[entries].long()[:, None], self.columns
        every[at] += self.values[entries]


@dataclass(frozen=True)
class OpenCounts:
    """The counts of m queries with every candidate for their open position.

    Attributes
    ----------
    given : float[m, width]
        Of a candidate that shares nothing with the fixed nodes; its degree is left at 0.
    near : tuple of Near
        What each candidate shares with the fixed nodes, each count in one of them.
    """

    given: Tensor
    near: tuple[Near, ...]

    def dense(self, size: int) -> Tensor:
        """Return the counts with all `size` candidates, ``float[m, size, width]``."""
        every = self.given[:, None].repeat(1, size, 1)
        for near in self.near:
            near.add_to(every)
        return every


def open_counts(
    count: Callable[[TupleTables, Tensor, Tensor | None, Tensor | None], Tensor],
    tables: TupleTables,
    nodes: Tensor,
    position: int,
) -> OpenCounts:
    """Return the counts of queries ``int64[m, N]`` with every candidate, counting each tuple."""
    m, n = len(nodes), tables.sizes[position]
    tuples = nodes.repeat_interleave(n, dim=0)
    tuples[:, position] = torch.arange(n, device=nodes.device).repeat(m)
    counts = count(tables, tuples, None, None)
    counts[:, tables.degree_column(position)] = 0
    columns = torch.tensor(tables.columns_of(position), dtype=torch.int64, device=nodes.device)
    of_open = counts[:, columns]
    is_near = (of_open != 0).any(dim=1)
    given = counts[::n].clone() if n else counts.new_zeros(m, tables.width)
    given[:, columns] = 0
    begins = torch.zeros(m + 1, dtype=torch.int64, device=nodes.device)
    begins[1:] = is_near.reshape(m, n).sum(dim=1).cumsum(0)
    lines = torch.arange(m, device=nodes.device)
    near = Near(columns, lines, begins, tuples[is_near, position].int(), of_open[is_near])
    return OpenCounts(given, (near,))
