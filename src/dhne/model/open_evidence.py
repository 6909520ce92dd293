"""The evidence of queries with every candidate for their open position, most of it implied.

Most candidates share nothing with the fixed nodes of a query. Their features are those of the query
plus their own degree, so only the other candidates have lines of their own: features take memory
and time in proportion to what is shared, not to the number of candidates. Counts without sets are
features of their own, so what a candidate shares with each fixed node simply adds up, and queries
with the same node have its line in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dhne.kernels.open_counts import Near
from dhne.network.edges import EdgeType


class GroupedLines(NamedTuple):
    """The candidates near queries, from one or several `Near`.

    Attributes
    ----------
    order : int64[m]
        The queries, group by group.
    groups : int64[groups + 1]
        Where each group begins in `order`. Its queries have the same line of the first `Near`.
    first, last : int64[m, parts]
        Where each query's line of each `Near` begins and ends in `ids` and `values`.
    ids : int32[k]
    values : float[k, c]
    columns : int64[parts, c]
    """

    order: Tensor
    groups: Tensor
    first: Tensor
    last: Tensor
    ids: Tensor
    values: Tensor
    columns: Tensor


@dataclass(frozen=True)
class OpenEvidence:
    """The features of m queries with each of n candidates.

    Attributes
    ----------
    far : float[m, features]
        Of a candidate that shares nothing with the fixed nodes, without its degree.
    degrees : float[n]
        What each candidate's degree adds to the feature `degree_feature`.
    degree_feature : int
    near : tuple of Near
        What candidates that share something have beyond those far away with the same degree; a
        candidate's features are the sum. All have equally many columns.
    """

    far: Tensor
    degrees: Tensor
    degree_feature: int
    near: tuple[Near, ...]

    @classmethod
    def of_all(cls, features: Tensor) -> OpenEvidence:
        """Return features ``float[m, n, features]`` as those of near candidates."""
        m, n, width = features.shape
        numbers = torch.arange(max(m + 1, n, width), device=features.device)
        ids, values = numbers[:n].int().repeat(m), features.reshape(-1, width)
        near = Near(numbers[:width], numbers[:m], numbers[: m + 1] * n, ids, values)
        return cls(features.new_zeros(m, width), features.new_zeros(n), 0, (near,))

    @classmethod
    def none(cls, like: Tensor, m: int, n: int) -> OpenEvidence:
        """Return evidence without features, of the type and on the device of a tensor."""
        return cls(like.new_zeros(m, 0), like.new_zeros(n), 0, ())

    def grouped(self) -> GroupedLines:
        """Return what all queries have near, grouped by the lines that most queries share."""
        m, near = len(self.far), sorted(self.near, key=lambda x: x.num_lines)
        lines = near[0].lines if near else self.far.new_zeros(m, dtype=torch.int64)
        order = lines.argsort(stable=True)
        sizes = torch.unique_consecutive(lines[order], return_counts=True)[1]
        bounds, size = order.new_empty(len(near), 2, m), 0
        for x, bound in zip(near, bounds, strict=True):
            bound[0], bound[1] = x.begins[x.lines] + size, x.begins[x.lines + 1] + size
            size += len(x.ids)
        width = len(near[0].columns) if near else 0
        return GroupedLines(
            order,
            functional.pad(sizes.cumsum(0), (1, 0)),
            bounds[:, 0].T,
            bounds[:, 1].T,
            torch.cat([self.far.new_empty(0, dtype=torch.int32), *(x.ids for x in near)]),
            torch.cat([self.far.new_empty(0, width), *(x.values for x in near)]),
            torch.cat([order.new_empty(0, width), *(x.columns[None] for x in near)]),
        )

    def joined(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return (query, candidate, ``float[k, features]``) of all near candidates, each once."""
        n, spread = max(len(self.degrees), 1), [near.spread() for near in self.near]
        keys = [self.far.new_empty(0, dtype=torch.int64)]
        for near, (queries, entries) in zip(self.near, spread, strict=True):
            keys.append(queries * n + near.ids[entries].long())
        every, place = torch.unique(torch.cat(keys), return_inverse=True)
        features = self.far.new_zeros(len(every), self.far.shape[1])
        places = place.split([len(k) for k in keys])[1:]
        for near, (_, entries), rows in zip(self.near, spread, places, strict=True):
            features[rows[:, None], near.columns] += near.values[entries]
        return every // n, every % n, features

    def dense(self) -> Tensor:
        """Return all features, ``float[m, n, features]``."""
        every = self.far[:, None].repeat(1, len(self.degrees), 1)
        every[:, :, self.degree_feature] += self.degrees
        for near in self.near:
            near.add_to(every)
        return every


def placements(
    nodes: Tensor, edge_type: EdgeType, position: int, size: int
) -> list[tuple[Tensor, int, int, int]]:
    """Return (tuple, position of the candidate, first candidate, end of the candidates).

    Members of a set are counted in the order of their ids, so the candidate's position depends on
    its id: all candidates between two members share one.
    """
    row = edge_type.canonical(nodes.cpu().numpy()[None])[0]
    places = sorted((position, *edge_type.peers(position)))
    members = sorted(int(nodes[p]) for p in places if p != position)
    bounds = [0, *members, size]
    found = []
    for i, place in enumerate(places):
        filled = row.copy()
        filled[[p for p in places if p != place]] = members
        filled[place] = -1
        moved = torch.from_numpy(filled).to(nodes.device)
        found.append((moved, place, bounds[i], bounds[i + 1]))
    return found
