"""One compiled step of LINE and of HEBE against automatic differentiation of their objectives."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import logsigmoid

from dhne.baselines.compiled import hebe_steps, line_steps

RATE = 1e-3


def start(n: int, dim: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim))


def test_line_s_second_order_step_is_its_gradient() -> None:
    vectors, contexts = start(5), start(5, seed=1)
    u, c = torch.tensor(vectors, requires_grad=True), torch.tensor(contexts, requires_grad=True)
    loss = -logsigmoid(c[2] @ u[0]) - logsigmoid(-c[3] @ u[0]) - logsigmoid(-c[4] @ u[0])
    loss.backward()
    before = vectors.copy(), contexts.copy()
    line_steps(vectors, contexts, np.array([0]), np.array([[2, 3, 4]]), np.array([RATE]))
    np.testing.assert_allclose((before[0] - vectors) / RATE, u.grad.numpy(), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose((before[1] - contexts) / RATE, c.grad.numpy(), rtol=1e-5, atol=1e-8)


def test_line_s_first_order_step_is_its_gradient() -> None:
    vectors = start(5)
    u = torch.tensor(vectors, requires_grad=True)
    (-logsigmoid(u[2] @ u[0]) - logsigmoid(-u[3] @ u[0])).backward()
    before = vectors.copy()
    line_steps(vectors, vectors, np.array([0]), np.array([[2, 3]]), np.array([RATE]))
    np.testing.assert_allclose((before - vectors) / RATE, u.grad.numpy(), rtol=1e-5, atol=1e-8)


def test_line_passes_over_negatives_that_are_of_the_pair() -> None:
    once, twice = start(4), start(4)
    line_steps(once, once, np.array([0]), np.array([[2]]), np.array([RATE]))
    line_steps(twice, twice, np.array([0]), np.array([[2, 2, 0]]), np.array([RATE]))
    np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_hebe_s_step_is_its_gradient(decay: float) -> None:
    vectors = start(6)
    w = torch.tensor(vectors, requires_grad=True)
    touched = w[[1, 3, 4, 5]]
    context = w[3] + w[4]
    loss = -logsigmoid(context @ (w[1] - w[5])) + decay / 2 * touched.square().sum()
    loss.backward()
    before = vectors.copy()
    edges, positions = np.array([[3, 1, 4]]), np.array([1])
    hebe_steps(vectors, edges, positions, np.array([[5]]), np.array([RATE]), decay)
    np.testing.assert_allclose((before - vectors) / RATE, w.grad.numpy(), rtol=1e-4, atol=1e-8)


def test_hebe_passes_over_the_target_as_its_own_negative() -> None:
    vectors = start(3)
    before = vectors.copy()
    hebe_steps(vectors, np.array([[0, 1]]), np.array([0]), np.array([[0]]), np.array([RATE]), 0.0)
    np.testing.assert_array_equal(vectors, before)
