"""The evidence of queries with every candidate for their open position, most of it implied.

Most candidates share nothing with the fixed nodes of a query. Their features are those of the query
plus their own degree, so only the other candidates have lines of their own: features take memory
and time in proportion to what is shared, not to the number of candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dhne.network.edges import EdgeType


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
    begins : int64[m + 1]
        Where each query's near candidates begin in `ids` and `near`.
    ids : int32[k]
        The candidates that share something.
    near : float[k, features]
        What their features have beyond those of a candidate far away with the same degree.
    """

    far: Tensor
    degrees: Tensor
    degree_feature: int
    begins: Tensor
    ids: Tensor
    near: Tensor

    @classmethod
    def of_all(cls, features: Tensor) -> OpenEvidence:
        """Return features ``float[m, n, features]`` as those of near candidates."""
        m, n, width = features.shape
        device = features.device
        return cls(
            features.new_zeros(m, width),
            features.new_zeros(n),
            0,
            torch.arange(m + 1, device=device) * n,
            torch.arange(n, dtype=torch.int32, device=device).repeat(m),
            features.reshape(-1, width),
        )

    @property
    def queries(self) -> Tensor:
        """``int64[k]``: the query of each near candidate."""
        m = torch.arange(len(self.far), device=self.begins.device)
        return m.repeat_interleave(self.begins.diff())

    def dense(self) -> Tensor:
        """Return all features, ``float[m, n, features]``."""
        every = self.far[:, None].repeat(1, len(self.degrees), 1)
        every[:, :, self.degree_feature] += self.degrees
        every[self.queries, self.ids.long()] += self.near
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
