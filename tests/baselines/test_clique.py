"""The clique expansion and the alias table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import chisquare

from dhne import HyperNetwork
from dhne.baselines.alias import AliasTable
from dhne.baselines.clique import clique_expansion


def test_pairs_weigh_what_their_hyperedges_weigh() -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(5, size=(40, 3))
    pairs = rng.integers(5, size=(20, 2))
    weights = {("a", "b", "c"): rng.random(40) + 0.1}
    network = HyperNetwork.from_arrays(
        {("a", "b", "c"): edges, ("a", "a"): pairs},
        {"a": 5, "b": 5, "c": 5},
        weights=weights,
        ordered=False,
    )
    expected = np.zeros((15, 15))
    for edge, weight in zip(edges, weights["a", "b", "c"], strict=True):
        for p, q in combinations(range(3), 2):
            i, j = 5 * p + edge[p], 5 * q + edge[q]
            expected[i, j] += weight
            expected[j, i] += weight
    for i, j in pairs:
        if i != j:  # a node is not its own neighbour
            expected[i, j] += 1
            expected[j, i] += 1
    graph = clique_expansion(network)
    np.testing.assert_allclose(graph.matrix.toarray(), expected)
    assert graph.matrix.has_sorted_indices
    assert {t: m.shape for t, m in graph.split(np.ones((15, 2))).items()} == dict.fromkeys(
        "abc", (5, 2)
    )


def test_alias_table_draws_in_proportion() -> None:
    weights = np.array([0.0, 5.0, 1.0, 0.5, 13.5])
    draws = AliasTable(weights).draw((1000, 50), np.random.default_rng(0))
    counts = np.bincount(draws.ravel(), minlength=5)
    assert counts[0] == 0
    assert chisquare(counts[1:], 50_000 * weights[1:] / weights.sum()).pvalue > 1e-3
