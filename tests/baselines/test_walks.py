"""Compiled walks against the second-order probabilities written out by brute force."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from dhne.baselines.walks import Walker

# A triangle with a tail and a chord, weights that differ: returns, shared and new neighbours exist.
GRAPH = np.array(
    [
        [0, 1, 2, 0, 0],
        [1, 0, 1, 3, 0],
        [2, 1, 0, 0, 1],
        [0, 3, 0, 0, 2],
        [0, 0, 1, 2, 0],
    ],
    dtype=float,
)


def probabilities(previous: int, current: int, p: float, q: float) -> np.ndarray:
    """Return node2vec's probabilities of the next node, from their definition."""
    weights = np.zeros(5)
    for x in range(5):
        if GRAPH[current, x]:
            bias = 1 / p if x == previous else (1.0 if GRAPH[previous, x] else 1 / q)
            weights[x] = bias * GRAPH[current, x]
    return weights / weights.sum()


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (2.0, 2.0)])
def test_steps_follow_the_second_order_probabilities(p: float, q: float) -> None:
    walker = Walker(sparse.csr_array(GRAPH), p=p, q=q, length=3, seed=0)
    walks = walker.walk(np.repeat(np.arange(5), 20_000))
    first = walks[walks[:, 0] == 0]
    assert (
        chisquare(
            np.bincount(first[:, 1], minlength=5)[[1, 2]], len(first) * np.array([1, 2]) / 3
        ).pvalue
        > 1e-3
    )
    for previous in range(5):
        for current in np.flatnonzero(GRAPH[previous]):
            here = walks[(walks[:, 0] == previous) & (walks[:, 1] == current)]
            expected = probabilities(previous, int(current), p, q)
            seen = np.bincount(here[:, 2], minlength=5)
            assert not seen[expected == 0].any()
            possible = expected > 0
            if possible.sum() > 1:
                test = chisquare(seen[possible], len(here) * expected[possible])
                assert test.pvalue > 1e-4


def test_walks_do_not_depend_on_the_number_of_threads() -> None:
    walker = Walker(sparse.csr_array(GRAPH), p=0.5, q=2.0, length=20, seed=4)
    starts = np.arange(5).repeat(50)
    walks = walker.walk(starts)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(walker.walk(starts), walks)
    finally:
        numba.set_num_threads(before)


def test_rounds_and_seeds_differ() -> None:
    starts = np.arange(5).repeat(20)
    walker = Walker(sparse.csr_array(GRAPH), length=20, seed=4)
    other = Walker(sparse.csr_array(GRAPH), length=20, seed=5)
    assert (walker.walk(starts, 0) != walker.walk(starts, 1)).any()
    assert (walker.walk(starts, 0) != other.walk(starts, 0)).any()
    assert len(np.unique(walker.walk(np.zeros(50, dtype=int)), axis=0)) > 1


def test_a_node_without_neighbours_stays() -> None:
    walker = Walker(sparse.csr_array((3, 3)), length=4, seed=0)
    np.testing.assert_array_equal(walker.walk(np.array([2])), [[2, 2, 2, 2]])


def test_memory_is_linear_in_the_edges() -> None:
    n = 2000  # a star: tables of second-order probabilities would hold n² numbers
    star = sparse.csr_array(
        (np.ones(n), (np.zeros(n, int), np.arange(1, n + 1))), shape=(n + 1, n + 1)
    )
    walker = Walker(sparse.csr_array(star + star.T), p=0.25, q=4, length=10, seed=0)
    held = walker.indptr.nbytes + walker.indices.nbytes + walker.running.nbytes
    assert held < 100 * n
    assert (walker.walk(np.arange(n + 1))[:, 2::2] != -1).all()
