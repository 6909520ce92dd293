"""How often which positions change and which nodes come in, for each scheme."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dhne.errors import UnknownNameError
from dhne.sampling.draws import Draws, NumpyDraws, TorchDraws
from dhne.sampling.schemes import SCHEMES, Scheme

K = 30_000


def sources() -> list[Draws]:
    return [NumpyDraws(0), TorchDraws(0, "cpu")]


def changed(name: str, length: int, draws: Draws) -> np.ndarray:
    """Return which positions differ, for huge types where nothing is drawn twice."""
    sizes = np.full(length, 10**9)
    degrees = [np.ones(1000)] * length
    if name == "degree":
        sizes = np.full(length, 1000)
    scheme = Scheme.make(name, sizes, degrees).on(draws)
    positive = np.full((1, length), -1)  # an id that is never drawn
    nodes = scheme.draw(draws.table(positive), K, draws)
    return np.asarray(nodes) != -1


@pytest.mark.parametrize("draws", sources(), ids=lambda d: d.device)
@pytest.mark.parametrize("name", ["paper", "degree"])
@pytest.mark.parametrize("length", range(2, 7))
def test_one_position_nine_times_in_ten_else_two(name: str, length: int, draws: Draws) -> None:
    mask = changed(name, length, draws)
    count = mask.sum(axis=1)
    assert set(count.tolist()) == {1, 2}
    assert abs((count == 1).mean() - 0.9) < 0.01
    assert np.allclose(mask[count == 1].mean(axis=0), 1 / length, atol=0.02)
    assert np.allclose(mask[count == 2].mean(axis=0), 2 / length, atol=0.06)
    pairs = {tuple(np.flatnonzero(row)) for row in mask[count == 2]}
    assert len(pairs) == length * (length - 1) // 2


@pytest.mark.parametrize("draws", sources(), ids=lambda d: d.device)
@pytest.mark.parametrize("length", range(2, 7))
def test_exactly_one_or_all_positions(length: int, draws: Draws) -> None:
    one = changed("one", length, draws)
    assert (one.sum(axis=1) == 1).all()
    assert np.allclose(one.mean(axis=0), 1 / length, atol=0.02)
    assert changed("all", length, draws).all()


@pytest.mark.parametrize("draws", sources(), ids=lambda d: d.device)
@pytest.mark.parametrize("name", ["paper", "one", "all"])
def test_nodes_are_uniform_within_their_type(name: str, draws: Draws) -> None:
    sizes = np.array([1, 4, 10])
    scheme = Scheme.make(name, sizes).on(draws)
    nodes = np.asarray(scheme.draw(draws.table(np.full((1, 3), -1)), 3 * K, draws))
    for p, n in enumerate(sizes):
        drawn = nodes[nodes[:, p] >= 0, p]
        share = np.bincount(drawn, minlength=n) / len(drawn)
        assert len(share) == n
        assert np.allclose(share, 1 / n, atol=0.02)


@pytest.mark.parametrize("draws", sources(), ids=lambda d: d.device)
def test_busy_nodes_come_in_more_often(draws: Draws) -> None:
    degrees = [np.array([0.0, 1, 16, 0]), np.array([81.0, 0, 1])]
    scheme = Scheme.make("degree", np.array([4, 3]), degrees).on(draws)
    nodes = np.asarray(scheme.draw(draws.table(np.full((1, 2), -1)), 3 * K, draws))
    for p, expected in enumerate([[0, 1 / 9, 8 / 9, 0], [27 / 28, 0, 1 / 28]]):
        drawn = nodes[nodes[:, p] >= 0, p]
        share = np.bincount(drawn, minlength=len(expected)) / len(drawn)
        assert np.allclose(share, expected, atol=0.02)
        assert (share[np.array(expected) == 0] == 0).all()
    host = Scheme.make("degree", np.array([4, 3]), degrees)
    assert np.allclose(host.probabilities(0), [0, 1 / 9, 8 / 9, 0])


def test_matched_tuples_have_the_degrees_of_hyperedges_at_every_position() -> None:
    degrees = [np.array([0.0, 1, 3]), np.array([4.0, 0, 1])]
    scheme, draws = Scheme.make("matched", np.array([3, 3]), degrees), NumpyDraws(0)
    nodes = scheme.draw(np.full((1, 2), -1), 3 * K, draws)
    for p, expected in enumerate([[0, 0.25, 0.75], [0.8, 0, 0.2]]):
        assert np.allclose(np.bincount(nodes[:, p]) / len(nodes), expected, atol=0.02)


def test_nodes_are_uniform_where_no_degree_is_known() -> None:
    scheme = Scheme.make("degree", np.array([4, 3]), [np.zeros(4), np.ones(3)])
    assert np.allclose(scheme.probabilities(0), 1 / 4)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_positives_are_left_as_they_are(name: str) -> None:
    positives = np.array([[1, 2, 3], [4, 5, 6]])
    scheme = Scheme.make(name, np.full(3, 7), [np.ones(7)] * 3)
    for draws in sources():
        tensor = draws.table(positives.copy())
        nodes = scheme.on(draws).draw(tensor, 4, draws)
        assert np.asarray(tensor).tolist() == positives.tolist()
        assert nodes.shape == (8, 3)
        kept = np.asarray(nodes) == np.repeat(positives, 4, axis=0)
        assert name in ("all", "matched") or kept.any(axis=1).all()


def test_an_unknown_scheme_is_told() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        Scheme.make("papr", np.array([2, 2]))


def test_same_seed_same_draws() -> None:
    scheme = Scheme.make("paper", np.array([50, 60, 70]))
    positives = np.zeros((20, 3), dtype=np.int64)
    one, two = (scheme.draw(positives, 5, NumpyDraws(3)) for _ in range(2))
    assert one.tolist() == two.tolist()
    tensors = [TorchDraws(3, "cpu"), TorchDraws(torch.Generator().manual_seed(3), "cpu")]
    moved = [scheme.on(d).draw(torch.tensor(positives), 5, d) for d in tensors]
    assert moved[0].tolist() == moved[1].tolist()
