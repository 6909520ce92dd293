"""Nearest nodes against all cosines."""

from __future__ import annotations

import numpy as np
import pytest

from dhne.answers.nearest import NearestNodes

N = 500


@pytest.mark.parametrize("least_compiled", [0, 10**9])
def test_nearest_nodes_have_the_largest_cosines(least_compiled: int) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(N, 12)).astype(np.float32)
    matrix[7] = 0  # no direction at all
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    nodes, counts = [3, 499, 7, 0], [10, 1, 4, 2 * N]
    near = NearestNodes({"x": matrix}, least_compiled=least_compiled)
    for node, k, found in zip(nodes, counts, near.to_nodes("x", nodes, counts), strict=True):
        cosines = unit @ unit[node]
        cosines[node] = -np.inf
        np.testing.assert_allclose(
            found.cosines, np.sort(cosines)[::-1][: min(k, N - 1)], atol=1e-6
        )
        np.testing.assert_allclose(cosines[found.nodes], found.cosines, atol=1e-6)
        assert node not in found.nodes


@pytest.mark.parametrize("least_compiled", [0, 10**9])
def test_any_vector_has_nearest_nodes(least_compiled: int) -> None:
    matrix = np.array([[1, 0], [0, 2], [3, 3], [-1, 0]], np.float32)
    near = NearestNodes({"x": matrix}, least_compiled=least_compiled)
    found = near.to_vectors("x", np.array([[5, 0], [0, -1]], np.float32), 4)
    assert found[0].nodes.tolist() == [0, 2, 1, 3]
    np.testing.assert_allclose(found[0].cosines, [1, np.sqrt(0.5), 0, -1], atol=1e-6)
    assert found[1].nodes.tolist() == [0, 3, 2, 1]


def test_all_nodes_alike_come_in_the_order_of_their_ids() -> None:
    near = NearestNodes({"x": np.ones((6, 3), np.float32)})
    assert near.to_nodes("x", [2], 3)[0].nodes.tolist() == [0, 1, 3]
