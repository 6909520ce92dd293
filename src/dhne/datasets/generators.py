"""Hyper-networks with planted structure, for tests, examples and benchmarks.

- `planted_clusters`: a tuple is a hyperedge if and only if all its nodes share a cluster. No
  similarity that is linear in its nodes can separate these tuples from others: this is the
  paper's counter-example.
- `power_law`: many hyperedges over nodes of very different degree. The node of rank k is drawn
  with probability ∝ k^(-1/(γ-1)), which gives degrees d with P(d) ∝ d^(-γ).
- `unordered_sets`: sets of nodes of one type and several sizes, each from one community.

The cluster of each node is its label. `drifting` is in :mod:`dhne.datasets.drift`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import MemoryLimitError, ParameterError
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

Seed = int | np.random.Generator
IntArray = npt.NDArray[np.int64]

_MOST_EDGES = 10**9
_EDGES_AT_ONCE = 1 << 20  # per draw, so that temporaries stay small compared with the result


def planted_clusters(
    types: int | Sequence[str] = 3,
    clusters: int = 2,
    nodes_per_cluster: int = 5,
    edges: int | None = None,
    *,
    seed: Seed = 0,
) -> HyperNetwork:
    """Return a network in which a tuple is an edge if and only if all its nodes share a cluster.

    Parameters
    ----------
    types : int or sequence of str
        Number of node types, or their names.
    clusters, nodes_per_cluster : int
        Every node type has `nodes_per_cluster` nodes in each cluster; node i is in cluster
        ``i // nodes_per_cluster``.
    edges : int, optional
        Number of edges to draw, without repeats; all by default.
    seed : int or Generator
        For that draw.

    Examples
    --------
    >>> net = planted_clusters(types=3, clusters=2, nodes_per_cluster=3)
    >>> net.num_edges()  # 2 clusters times 3^3 tuples
    54
    >>> net.labels("type1").to_pylist()[2:4]
    [['cluster 0'], ['cluster 1']]
    """
    names = type_names(types)
    at_least(1, clusters=clusters, nodes_per_cluster=nodes_per_cluster)
    shape = (clusters, *(nodes_per_cluster,) * len(names))
    total = prod(shape)
    count = total if edges is None else edges
    if not 0 <= count <= total:
        raise ParameterError(
            f"edges must be between 0 and {total}, the number of possible edges, got {edges}"
        )
    if count > _MOST_EDGES or total >= 2**63:
        raise MemoryLimitError(
            f"{count:,} of {total:,} edges do not fit in memory; pass edges= or fewer nodes"
        )
    rng = np.random.default_rng(seed)
    chosen = np.arange(total) if edges is None else rng.choice(total, count, replace=False)
    cluster, *members = np.unravel_index(chosen, shape)
    columns = [cluster * nodes_per_cluster + member for member in members]
    network = HyperNetwork.from_arrays(
        {names: np.stack(columns, axis=1)}, dict.fromkeys(names, clusters * nodes_per_cluster)
    )
    column = cluster_labels(np.repeat(np.arange(clusters), nodes_per_cluster))
    return network.with_labels(dict.fromkeys(names, column))


def power_law(
    edges: int = 1_000_000,
    nodes: Sequence[int] = (100_000, 10_000, 5_000),
    *,
    types: Sequence[str] | None = None,
    exponent: float = 2.5,
    clusters: int = 50,
    noise: float = 0.1,
    seed: Seed = 0,
) -> HyperNetwork:
    """Return a large network with power-law degrees and planted clusters.

    Every edge draws a cluster, then at each position a node of that cluster, popular nodes first;
    with probability `noise` a position ignores the edge's cluster. Time and memory are linear in
    `edges` (8 bytes per position and per weight). Repeats occur; `HyperNetwork.fold` merges them.

    Parameters
    ----------
    edges : int
    nodes : sequence of int
        The number of nodes of each type; the edges are as long as this sequence.
    types : sequence of str, optional
        Names of the node types.
    exponent : float
        γ in P(degree = d) ∝ d^(-γ), above 2.
    clusters : int
        1 for no structure other than the degrees.
    noise : float
        Between 0 and 1.
    seed : int or Generator

    Examples
    --------
    >>> net = power_law(10_000, nodes=(1_000, 500, 20), clusters=5, seed=0)
    >>> net
    HyperNetwork(10,000 hyperedges)
      nodes: type1 1,000, type2 500, type3 20
      edges: (type1, type2, type3) 10,000
      labels: type1, type2, type3
    """
    names = type_names(len(nodes) if types is None else types)
    if len(names) != len(nodes):
        raise ParameterError(f"nodes has {len(nodes)} entries but there are {len(names)} types")
    at_least(0, edges=edges)
    at_least(1, clusters=clusters)
    if min(nodes) < clusters:
        raise ParameterError(f"every node type needs a node in each of the {clusters} clusters")
    if not exponent > 2 or not 0 <= noise <= 1:
        raise ParameterError("exponent must be above 2, and noise between 0 and 1")
    if edges > _MOST_EDGES:
        raise MemoryLimitError(f"{edges:,} edges are too many; the maximum is {_MOST_EDGES:,}")
    rng = np.random.default_rng(seed)
    # Shuffled, so that ids reveal neither degree nor cluster, as in real data; this affects caches.
    scramble = [rng.permutation(n) for n in nodes]
    drawn = np.empty((edges, len(nodes)), dtype=np.int64)
    for start in range(0, edges, _EDGES_AT_ONCE):
        chunk = drawn[start : start + _EDGES_AT_ONCE]
        cluster = rng.integers(clusters, size=len(chunk))
        for position, n in enumerate(nodes):
            own = cluster
            if noise > 0:
                astray = rng.random(len(chunk)) < noise
                own = np.where(astray, rng.integers(clusters, size=len(chunk)), cluster)
            rank = _power_law_ranks(rng, (n - own + clusters - 1) // clusters, exponent)
            chunk[:, position] = scramble[position][rank * clusters + own]
    weights = np.ones(edges)
    drawn.flags.writeable = weights.flags.writeable = False
    labels = {}
    for name, n, ids in zip(names, nodes, scramble, strict=True):
        cluster_of = np.empty(n, dtype=np.int64)
        cluster_of[ids] = np.arange(n) % clusters
        labels[name] = cluster_labels(cluster_of)
    vocabularies = {
        t: Vocabulary.of_size(n, node_type=t) for t, n in zip(names, nodes, strict=True)
    }
    # built directly, because EdgeSet.build would copy the array
    return HyperNetwork(vocabularies, [EdgeSet(EdgeType(names), drawn, weights)], labels)


def unordered_sets(
    nodes: int = 60,
    edges: int = 300,
    *,
    communities: int = 3,
    sizes: Sequence[int] = (2, 3, 4),
    noise: float = 0.0,
    seed: Seed = 0,
) -> HyperNetwork:
    """Return a network of sets of nodes of one type, each set from one community.

    Parameters
    ----------
    nodes, edges : int
    communities : int
        Node i is in community ``i % communities``.
    sizes : sequence of int
        Sizes of the sets, equally frequent; each is its own edge type.
    noise : float
        Share of sets drawn from all nodes.
    seed : int or Generator

    Examples
    --------
    >>> net = unordered_sets(nodes=12, edges=10, communities=2, sizes=(2, 3))
    >>> net
    HyperNetwork(10 hyperedges)
      nodes: node 12
      edges: {node, node} 5
      edges: {node, node, node} 5
      labels: node
    """
    at_least(0, edges=edges)
    at_least(1, communities=communities, nodes=nodes)
    if not sizes or min(sizes) < 2 or len(set(sizes)) != len(sizes):
        raise ParameterError(f"sizes must be distinct integers of at least 2, got {tuple(sizes)}")
    if nodes // communities < max(sizes):
        raise ParameterError(
            f"{nodes} nodes in {communities} communities are too few for sets of {max(sizes)}"
        )
    rng = np.random.default_rng(seed)
    everyone = np.arange(nodes)
    edge_sets = []
    for number, size in enumerate(sizes):
        count = edges // len(sizes) + (number < edges % len(sizes))
        community = rng.integers(communities, size=count)
        free = rng.random(count) < noise
        # the first `size` in random order; excluded nodes come last
        order = rng.random((count, nodes))
        order[(everyone % communities != community[:, None]) & ~free[:, None]] += 1
        members = np.argpartition(order, size - 1, axis=1)[:, :size]
        edge_sets.append(EdgeSet.build(("node",) * size, members, ordered=False))
    vocabulary = Vocabulary.of_size(nodes, node_type="node")
    labels = {"node": cluster_labels(everyone % communities)}
    return HyperNetwork({"node": vocabulary}, edge_sets, labels)


def _power_law_ranks(rng: np.random.Generator, sizes: IntArray, exponent: float) -> IntArray:
    """Draw a rank k in 0 … size-1 per entry, with probability about ∝ (k+1)^(-1/(γ-1)).

    With p = 1 - 1/(γ-1), the integral of the density up to x is ∝ x^p - 1; it is inverted at a
    uniform number between its values at 1 and at size + 1.
    """
    power = 1 - 1 / (exponent - 1)
    least = int(sizes.min(initial=1))
    reach = (np.arange(least, int(sizes.max(initial=1)) + 1) + 1.0) ** power - 1
    drawn = rng.random(len(sizes))
    drawn *= reach[sizes - least]
    drawn += 1
    drawn **= 1 / power
    # rounding may push the largest number just over its bound
    return np.minimum(drawn.astype(np.int64) - 1, sizes - 1)


def type_names(types: int | Sequence[str]) -> tuple[str, ...]:
    """Return the names of node types; of a number of types, made-up ones."""
    names = tuple(f"type{i + 1}" for i in range(types)) if isinstance(types, int) else tuple(types)
    if len(names) < 2 or len(set(names)) != len(names):
        raise ParameterError(f"types must be at least two distinct names, got {names}")
    return names


def at_least(least: int, **values: int) -> None:
    """Raise for arguments that are too small."""
    for name, value in values.items():
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, got {value}")


def cluster_labels(cluster: IntArray) -> pa.Array:
    """Return the clusters of nodes as labels."""
    names = [f"cluster {c}" for c in range(int(cluster.max(initial=-1)) + 1)]
    return pa.array(names, pa.string()).take(pa.array(cluster))
