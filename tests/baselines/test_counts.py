"""Pair counts and degrees against a brute-force count of the network without the edge."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.baselines.cooccurrence import Cooccurrence
from dhne.baselines.counts import TupleCounts
from dhne.errors import SaturatedNetworkError

TYPES = ("a", "b", "c")


def random_network(seed: int = 0) -> HyperNetwork:
    rng = np.random.default_rng(seed)
    edges = rng.integers([4, 5, 3], size=(40, 3))
    return HyperNetwork.from_arrays(
        {TYPES: edges}, {"a": 4, "b": 5, "c": 3}, weights={TYPES: rng.random(40) + 0.1}
    )


def brute_force(nodes: np.ndarray, edges: np.ndarray, weights: np.ndarray) -> list[float]:
    pairs = [
        sum(w for e, w in zip(edges, weights, strict=True) if e[p] == nodes[p] and e[q] == nodes[q])
        for p, q in combinations(range(len(nodes)), 2)
    ]
    degrees = [
        sum(w for e, w in zip(edges, weights, strict=True) if e[p] == nodes[p])
        for p in range(len(nodes))
    ]
    return pairs + degrees


def test_counts_are_those_of_brute_force() -> None:
    network = random_network()
    tuples = np.random.default_rng(1).integers([4, 5, 3], size=(30, 3))
    expected = [brute_force(t, network.edges(), network.weights()) for t in tuples]
    np.testing.assert_allclose(TupleCounts(network).features(tuples, TYPES), expected)


def test_an_edge_left_out_might_never_have_been_there() -> None:
    network = random_network()
    edges, weights = network.edges(), network.weights()
    rng = np.random.default_rng(2)
    rows = np.arange(len(edges)).repeat(3)
    tuples = edges[rows].copy()
    corrupt = rng.random(len(tuples)) < 0.7  # the edge itself, and corruptions of it
    tuples[corrupt, 1] = rng.integers(5, size=corrupt.sum())
    found = TupleCounts(network).features(
        tuples, TYPES, left_out=edges[rows], weights=weights[rows]
    )
    for row, t, features in zip(rows, tuples, found, strict=True):
        without = np.delete(np.arange(len(edges)), row)
        expected = brute_force(t, edges[without], weights[without])
        np.testing.assert_allclose(features, expected, atol=1e-12)


@pytest.mark.parametrize("ordered", [True, False])
def test_leaving_out_works_with_repeated_types_and_several_edge_types(ordered: bool) -> None:
    rng = np.random.default_rng(3)
    types, pair = ("n", "r", "n"), ("n", "r")
    edges = rng.integers([5, 3, 5], size=(30, 3))
    pairs = rng.integers([5, 3], size=(10, 2))
    sizes = {"n": 5, "r": 3}

    def make(rows: np.ndarray) -> HyperNetwork:
        return HyperNetwork.from_arrays({types: edges[rows], pair: pairs}, sizes, ordered=ordered)

    network = make(np.arange(30))
    kept = network.edges(types)
    found = TupleCounts(network).features(kept, types, left_out=kept, weights=np.ones(30))
    for row in range(30):
        less = TupleCounts(make(np.delete(np.arange(30), row)))
        np.testing.assert_allclose(found[row], less.features(kept[row : row + 1], types)[0])


def test_a_lone_edge_is_not_known_by_its_own_trace() -> None:
    # nothing but chance in these edges: what was left in would make training look perfect
    rng = np.random.default_rng(0)
    edges = rng.integers(1000, size=(500, 3))
    network = HyperNetwork.from_arrays({TYPES: edges}, dict.fromkeys(TYPES, 1000))
    features = TupleCounts(network).features(
        edges, TYPES, left_out=edges, weights=np.ones(len(edges))
    )
    assert (features[:, :3] == 0).mean() > 0.99


def test_a_saturated_network_says_so() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1], [1, 0], [1, 1]]})
    with pytest.raises(SaturatedNetworkError, match="no negatives"):
        Cooccurrence().fit(network)
