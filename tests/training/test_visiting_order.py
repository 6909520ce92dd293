"""An order that takes no memory: all hyperedges, each once, any part of it by itself."""

from __future__ import annotations

import numpy as np
import pytest

from dhne.training.visiting_order import VisitingOrder


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 64, 65, 1000, 4097])
def test_everything_once(size: int) -> None:
    order = VisitingOrder(size, np.random.default_rng(size))
    np.testing.assert_array_equal(np.sort(order[:]), np.arange(size))


def test_parts_are_those_of_the_whole() -> None:
    order = VisitingOrder(1000, np.random.default_rng(0))
    np.testing.assert_array_equal(np.concatenate([order[:300], order[300:1000]]), order[:])


def test_only_the_generator_matters() -> None:
    first, again, other = (VisitingOrder(1000, np.random.default_rng(s))[:] for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.98


def test_neighbours_are_far_apart_and_places_are_even() -> None:
    """As in a random permutation: mean distance n / 3, no slope, no place that is preferred."""
    size, repeats = 3000, 200
    rng = np.random.default_rng(0)
    orders = np.array([VisitingOrder(size, rng)[:] for _ in range(repeats)])
    assert np.abs(np.diff(orders)).mean() / size == pytest.approx(1 / 3, rel=0.01)
    slope = [np.corrcoef(order, np.arange(size))[0, 1] for order in orders]
    assert np.abs(np.mean(slope)) < 5 / np.sqrt(size * repeats)
    thirds = np.bincount(orders[:, 0] * 10 // size, minlength=10)
    expected = repeats / 10
    assert ((thirds - expected) ** 2 / expected).sum() < 33  # χ² with 9 degrees of freedom
