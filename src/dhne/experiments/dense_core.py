"""The core of a dataset: a small network that still has something to learn from.

A random sample of hyperedges leaves most nodes with one hyperedge or none. The core keeps the
hyperedges whose *least* connected node has the largest degree, so the result is dense. If nearly
every tuple of the core is a hyperedge (as on drug), a larger core is thinned to the same number.
Repeats count once and are all kept. Rows stay in their part of the released split; a test hyperedge
is dropped if one of its nodes has no training hyperedge left.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from dhne.evaluation import Data
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges

_FULL = 0.1  # share of all tuples; a denser core is thinned


def dense_core(data: Data, limit: int) -> Data:
    """Return at most `limit` distinct hyperedges of `data`, those among the best-connected nodes.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]})
    >>> dense_core(Data("net", net), 4).train
    HyperNetwork(4 hyperedges)
      nodes: a 2, b 2
      edges: (a, b) 4
    """
    if data.whole.fold().num_edges() <= limit:
        return data
    parts = [data.train] if data.test is None else [data.train, data.test]
    kept = _densest(parts, limit)
    if len(kept) == 2:
        kept[1] = _known_nodes_only(kept[1], kept[0])
    return _renumbered(data.name, kept)


def _densest(parts: Sequence[HyperNetwork], limit: int) -> list[HyperNetwork]:
    # repeats count once: a few hyperedges repeated a hundred times are not a network
    distinct = parts[0].fold() if len(parts) == 1 else parts[0].merge(parts[1], fold=True)
    degrees = {t: distinct.degrees(t) for t in distinct.node_types}
    weakest = np.concatenate(
        [
            np.min([degrees[t][e.nodes[:, p]] for p, t in enumerate(e.types)], axis=0)
            for e in distinct.edge_sets
        ]
    )
    best = np.argsort(-weakest, kind="stable")
    step = 1
    kept = _take(distinct, best[:limit])
    while _fullness(kept) > _FULL and 2 * limit * step <= len(best):
        step *= 2
        kept = _take(distinct, best[: limit * step : step])
    known = KnownEdges(kept)
    return [
        n.with_edges(e.take(known.contains(e.nodes, e.types)) for e in n.edge_sets) for n in parts
    ]


def _take(network: HyperNetwork, rows: npt.NDArray[np.int64]) -> HyperNetwork:
    """Return the hyperedges at `rows`, numbered through all edge types."""
    chosen = np.zeros(network.num_edges(), dtype=bool)
    chosen[rows] = True
    masks = np.split(chosen, np.cumsum([len(e) for e in network.edge_sets])[:-1])
    return network.with_edges(e.take(m) for e, m in zip(network.edge_sets, masks, strict=True))


def _fullness(network: HyperNetwork) -> float:
    """Return the share of tuples that are hyperedges, in the densest edge type."""
    return max(
        len(e) / prod(len(np.unique(e.nodes[:, p])) for p in range(e.length))
        for e in network.edge_sets
        if len(e)
    )


def _known_nodes_only(test: HyperNetwork, train: HyperNetwork) -> HyperNetwork:
    known = {t: train.degrees(t) > 0 for t in train.node_types}
    return test.with_edges(
        e.take(np.all([known[t][e.nodes[:, p]] for p, t in enumerate(e.types)], axis=0))
        for e in test.edge_sets
    )


def _renumbered(name: str, parts: list[HyperNetwork]) -> Data:
    """Drop nodes without a hyperedge from both parts."""
    if len(parts) == 1:
        return Data(name, parts[0].subset(drop_nodes=True))
    both = parts[0].merge(parts[1], fold=False)
    rows: dict[tuple[str, ...], int] = {e.types: len(e) for e in parts[0].edge_sets}
    small = both.subset(drop_nodes=True)
    train, test = [], []
    for e in small.edge_sets:
        first: npt.NDArray[np.bool_] = np.arange(len(e)) < rows.get(e.types, 0)
        train.append(e.take(first))
        test.append(e.take(~first))
    return Data(name, small.with_edges(train), small.with_edges(test))
