"""Planted structure is there, draws depend on the seed alone, sizes are as asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.datasets import planted_clusters, power_law, unordered_sets
from dhne.errors import DHNEError, MemoryLimitError, ParameterError
from dhne.network.hypernetwork import HyperNetwork


def clusters_of(network: HyperNetwork, node_type: str) -> np.ndarray:
    labels = network.labels(node_type)
    assert labels is not None
    return np.array(labels.flatten().to_pylist())


@given(st.integers(2, 4), st.integers(1, 4), st.integers(1, 4))
def test_an_edge_if_and_only_if_all_nodes_share_the_cluster(types: int, c: int, n: int) -> None:
    network = planted_clusters(types, c, n)
    names = network.node_types
    grid = np.stack(np.meshgrid(*[np.arange(c * n)] * types, indexing="ij"), -1).reshape(-1, types)
    inside = np.ones(len(grid), dtype=bool)
    for p in range(1, types):
        inside &= (
            clusters_of(network, names[p])[grid[:, p]] == clusters_of(network, names[0])[grid[:, 0]]
        )
    expected = set(map(tuple, grid[inside].tolist()))
    assert set(map(tuple, network.edges().tolist())) == expected
    assert network.num_edges() == len(expected) == c * n**types


def test_some_of_the_planted_edges_without_repeats() -> None:
    every = set(map(tuple, planted_clusters(3, 3, 6).edges().tolist()))
    drawn = planted_clusters(("user", "movie", "tag"), 3, 6, edges=200, seed=1)
    assert drawn.edge_types == (("user", "movie", "tag"),)
    rows = set(map(tuple, drawn.edges().tolist()))
    assert len(rows) == 200
    assert rows <= every
    assert drawn == planted_clusters(("user", "movie", "tag"), 3, 6, edges=200, seed=1)
    assert drawn != planted_clusters(("user", "movie", "tag"), 3, 6, edges=200, seed=2)
    assert drawn.num_nodes("tag") == 18


@pytest.mark.parametrize(
    "arguments",
    [
        {"types": 1},
        {"types": ("a", "a")},
        {"clusters": 0},
        {"nodes_per_cluster": 0},
        {"edges": -1},
        {"edges": 251},
    ],
)
def test_planted_clusters_refuses_what_makes_no_sense(arguments: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        planted_clusters(**arguments)


def test_more_edges_than_memory_are_refused_before_they_are_made() -> None:
    with pytest.raises(MemoryLimitError, match="pass edges="):
        planted_clusters(5, 2, 1000)
    with pytest.raises(MemoryLimitError):
        power_law(10**12)


def test_power_law_degrees_fall_off_as_asked() -> None:
    network = power_law(400_000, (20_000, 3_000), exponent=2.5, clusters=1, seed=0)
    degrees = np.sort(network.degrees("type1"))[::-1]
    rank = np.arange(50, 5_000)
    slope = np.polyfit(np.log(rank), np.log(degrees[rank]), 1)[0]
    assert slope == pytest.approx(-1 / 1.5, abs=0.05)
    assert network.num_edges() == 400_000


def test_power_law_edges_stay_in_their_cluster_but_for_the_noise() -> None:
    network = power_law(50_000, (997, 401, 53), clusters=10, noise=0.2, seed=3)
    assigned = [clusters_of(network, t) for t in network.node_types]
    edges = network.edges()
    one, two = assigned[0][edges[:, 0]], assigned[1][edges[:, 1]]
    # both kept the edge's cluster, or met by chance in one of the ten
    assert (one == two).mean() == pytest.approx(0.8**2 + (1 - 0.8**2) / 10, abs=0.02)
    pure = power_law(5_000, (97, 41, 13), clusters=5, noise=0)
    columns = [clusters_of(pure, t)[pure.edges()[:, p]] for p, t in enumerate(pure.node_types)]
    assert (columns[0] == columns[1]).all()
    assert (columns[0] == columns[2]).all()


def test_power_law_depends_on_the_seed_alone_and_spans_chunks() -> None:
    many = (1 << 20) + 17
    network = power_law(many, (500, 50), types=("a", "b"), clusters=5, seed=4)
    assert network.num_edges() == many
    assert network.node_types == ("a", "b")
    again = power_law(many, (500, 50), types=("a", "b"), clusters=5, seed=4)
    assert np.array_equal(network.edges(), again.edges())
    assert network.degrees("b").min() > 0


@given(
    st.lists(st.integers(5, 40), min_size=2, max_size=4),
    st.integers(0, 200),
    st.integers(1, 5),
    st.floats(2.01, 10),
    st.integers(0, 99),
)
def test_power_law_ids_are_within_bounds(
    nodes: list[int], edges: int, clusters: int, exponent: float, seed: int
) -> None:
    network = power_law(edges, nodes, clusters=clusters, exponent=exponent, seed=seed)
    assert network.num_edges() == edges
    assert [network.num_nodes(t) for t in network.node_types] == nodes


@pytest.mark.parametrize(
    "arguments",
    [
        {"edges": -1},
        {"nodes": (10,)},
        {"nodes": (10, 10, 10), "clusters": 11},
        {"exponent": 2.0},
        {"exponent": float("nan")},
        {"noise": 1.5},
        {"clusters": 0},
        {"types": ("a", "b")},
    ],
)
def test_power_law_refuses_what_makes_no_sense(arguments: dict[str, object]) -> None:
    with pytest.raises(DHNEError):
        power_law(**{"edges": 10, **arguments})  # type: ignore[arg-type]


def test_sets_have_distinct_members_of_one_community() -> None:
    network = unordered_sets(nodes=40, edges=301, communities=4, sizes=(2, 3, 5), seed=1)
    assert network.num_edges() == 301
    assert [e.length for e in network.edge_sets] == [2, 3, 5]
    community = clusters_of(network, "node")
    for edges in network.edge_sets:
        assert edges.types.has_sets
        assert (np.diff(edges.nodes, axis=1) > 0).all()
        assert (community[edges.nodes] == community[edges.nodes[:, :1]]).all()


def test_noisy_sets_cross_communities() -> None:
    network = unordered_sets(nodes=40, edges=200, communities=4, sizes=(3,), noise=1.0)
    community = clusters_of(network, "node")[network.edges()]
    assert (community != community[:, :1]).any(axis=1).mean() > 0.8
    assert (np.diff(network.edges(), axis=1) > 0).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"sizes": ()},
        {"sizes": (1, 2)},
        {"sizes": (2, 2)},
        {"nodes": 9, "communities": 3, "sizes": (4,)},
        {"communities": 0},
        {"edges": -1},
    ],
)
def test_unordered_sets_refuses_what_makes_no_sense(arguments: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        unordered_sets(**arguments)  # type: ignore[arg-type]
