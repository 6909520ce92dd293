"""A hyper-network that changes over time, for models that are updated.

Nodes arrive, and now and then one moves to another cluster, so that what was learned of it no
longer holds. The cluster of each node in the end is its label.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dhne.errors import ParameterError
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

from .generators import IntArray, Seed, at_least, cluster_labels, type_names


def drifting(
    edges: int = 10_000,
    nodes: Sequence[int] = (1_000, 500, 100),
    *,
    types: Sequence[str] | None = None,
    clusters: int = 10,
    steps: int = 11,
    arrive: float = 0.3,
    move: float = 0.02,
    noise: float = 0.1,
    seed: Seed = 0,
) -> HyperNetwork:
    """Return a network that changes over time: nodes arrive, and clusters exchange members.

    Time runs in `steps` steps, the hyperedges evenly over them. At the end of each step every node
    moves to another cluster with probability `move`. A hyperedge draws a cluster, then at each
    position a node that has arrived and is in that cluster; with probability `noise` a position
    ignores the cluster. Its time is its step.

    Parameters
    ----------
    edges : int
    nodes : sequence of int
        The number of nodes of each type in the end.
    types : sequence of str, optional
        Names of the node types.
    clusters, steps : int
    arrive : float
        The share of the nodes that arrive after the first step, evenly over the others.
    move, noise : float
        Between 0 and 1.
    seed : int or Generator

    Examples
    --------
    >>> net = drifting(1_000, nodes=(60, 40, 20), clusters=4, steps=5)
    >>> earlier, latest = net.split_by_time(0.2)
    >>> earlier.num_edges(), latest.num_edges()
    (800, 200)
    """
    names = type_names(len(nodes) if types is None else types)
    if len(names) != len(nodes):
        raise ParameterError(f"nodes has {len(nodes)} entries but there are {len(names)} types")
    at_least(0, edges=edges)
    at_least(1, clusters=clusters, steps=steps)
    for name, share in (("arrive", arrive), ("move", move), ("noise", noise)):
        if not 0 <= share <= 1:
            raise ParameterError(f"{name} must be between 0 and 1, got {share}")
    rng = np.random.default_rng(seed)
    cluster_of = [rng.permutation(np.arange(n) % clusters) for n in nodes]
    drawn = np.empty((edges, len(nodes)), dtype=np.int64)
    times = np.arange(edges) * steps // max(edges, 1)
    for step in range(steps):
        mine = np.flatnonzero(times == step)
        cluster = rng.integers(clusters, size=len(mine))
        for position, n in enumerate(nodes):
            later = n * arrive * (1 - step / max(steps - 1, 1))
            here = cluster_of[position][: max(1, n - int(later))]
            astray = rng.random(len(mine)) < noise
            wanted = np.where(astray, rng.integers(clusters, size=len(mine)), cluster)
            drawn[mine, position] = _members(rng, here, wanted)
        for position, n in enumerate(nodes):
            moving = rng.random(n) < move
            cluster_of[position][moving] = rng.integers(clusters, size=int(moving.sum()))
    vocabularies = {
        t: Vocabulary.of_size(n, node_type=t) for t, n in zip(names, nodes, strict=True)
    }
    edge_set = EdgeSet.build(names, drawn, times=times.astype(np.float64))
    labels = {t: cluster_labels(c) for t, c in zip(names, cluster_of, strict=True)}
    return HyperNetwork(vocabularies, [edge_set], labels)


def _members(rng: np.random.Generator, cluster_of: IntArray, wanted: IntArray) -> IntArray:
    """Draw a node of each wanted cluster; any node where a cluster is empty."""
    order = np.argsort(cluster_of, kind="stable")
    begins = np.searchsorted(cluster_of[order], wanted)
    sizes = np.searchsorted(cluster_of[order], wanted, side="right") - begins
    begins, sizes = np.where(sizes > 0, begins, 0), np.where(sizes > 0, sizes, len(order))
    drawn: IntArray = order[begins + rng.integers(sizes)]
    return drawn
