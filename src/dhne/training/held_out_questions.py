"""Completion queries from held-out hyperedges, each about the node at an open position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhne.answers.known_completions import KnownCompletions
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork


@dataclass(frozen=True, eq=False)
class Questions:
    """Held-out hyperedges of one type, queried at one position.

    Attributes
    ----------
    types : EdgeType
    position : int
    num_candidates : int
    nodes : int64[m, N]
        Whole hyperedges.
    rows, answers : int64[k]
        Nodes to filter out: they also complete a known hyperedge, or are already in this one as
        members of the same set.
    """

    types: EdgeType
    position: int
    num_candidates: int
    nodes: NodeArray
    rows: npt.NDArray[np.int64]
    answers: npt.NDArray[np.int64]

    @property
    def own(self) -> npt.NDArray[np.int64]:
        """The right answers."""
        return self.nodes[:, self.position]


def held_out_questions(
    train: HyperNetwork, held_out: HyperNetwork, *, limit: int, seed: int
) -> list[Questions]:
    """Return queries from about `limit` held-out hyperedges, sampled with `seed`."""
    rng = np.random.default_rng([seed, 3])
    share = min(1.0, limit / max(held_out.num_edges(), 1))
    both = train.merge(held_out, fold=False)
    found = []
    for edges in held_out.edge_sets:
        nodes = edges.nodes[rng.random(len(edges)) <= share]
        if not len(nodes):
            continue
        sizes = train.position_sizes(edges.types)
        for p in range(edges.length):
            known = KnownCompletions.build(both.edge_set(edges.types), sizes, p)
            nodes = nodes[known.together(nodes)]
            rows, answers = known.of(known.contexts(nodes))
            peers = edges.types.peers(p)
            line = np.repeat(np.arange(len(nodes)), len(peers))
            rows = np.concatenate([rows, line])
            answers = np.concatenate([answers, nodes[:, list(peers)].reshape(-1)])
            found.append(Questions(edges.types, p, int(sizes[p]), nodes, rows, answers))
    return found
