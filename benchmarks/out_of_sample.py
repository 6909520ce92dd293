"""New nodes: a tenth of MovieLens' movies, unseen in training, embedded from half their hyperedges.

The other half of their hyperedges is scored against five negatives each, drawn with the paper's
scheme; the AUC must be at least .80.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

import dhne
from benchmarks._data import load, names
from benchmarks._options import LeftOut
from benchmarks._table import Row
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

LIMIT = 0.80


def run(quick: bool) -> list[Row]:
    if quick:
        return [_row("small", load("small").train, seed=0, epochs=2)]
    if "movielens" not in names(quick):
        raise LeftOut("movielens was not found; set DHNE_DATA to its directory")
    parts = load("movielens")
    whole = parts.train.merge(parts.test)
    return [_row("movielens", whole, seed=seed, epochs=None) for seed in (0, 1, 2)]


def _row(name: str, network: HyperNetwork, *, seed: int, epochs: int | None) -> Row:
    """Hold out a tenth of the second node type, train, extend by half its hyperedges, score."""
    rng = np.random.default_rng(seed)
    edges = network.edges()
    n = network.num_nodes(network.edge_set().types[1])
    unseen = np.isin(edges[:, 1], rng.permutation(n)[: n // 10])
    half = unseen & (rng.random(len(edges)) < 0.5)
    train = network.subset(~unseen, drop_nodes=True)
    given = network.subset(half, drop_nodes=True)
    model = dhne.DHNE(random_state=seed, epochs=epochs).fit(train)
    extended = model.extend(given, isolated="keep")
    # score the remaining hyperedges of the unseen nodes, if all their nodes are now known
    rest = _renumbered(network.subset(unseen & ~half), extended.network_)
    known = KnownEdges(extended.network_, extended.network_.with_edges([rest]))
    negatives = evaluation_negatives(rest, known)
    scores = np.concatenate([extended.score(rest.nodes), extended.score(negatives.nodes)])
    target = np.arange(len(scores)) < len(rest)
    auc = float(roc_auc_score(target, scores))
    row: Row = {"dataset": name, "seed": seed, "hyperedges": len(rest), "auc": auc}
    return row | {"limit": LIMIT, "met": auc >= LIMIT}


def _renumbered(network: HyperNetwork, other: HyperNetwork) -> dhne.EdgeSet:
    """Return a network's hyperedges with another's ids, without those with nodes it lacks."""
    edges = network.edge_set()
    ids = [
        other.vocabulary(t).find(network.vocabulary(t).take(edges.nodes[:, p]))
        for p, t in enumerate(edges.types)
    ]
    nodes = np.stack(ids, axis=1)
    return dhne.EdgeSet.build(edges.types, nodes[(nodes >= 0).all(axis=1)])
