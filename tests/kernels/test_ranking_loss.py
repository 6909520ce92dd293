"""The loss of completion queries on every backend against the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dhne.kernels.ranking_loss import Targets
from tests.kernels.backends import BACKENDS, DTYPES, assert_near, device_of, kernels_of

ANSWERS = [[0, 3], [2], []]  # columns of the known answers of three queries
VALUES = [[0.7, 0.3], [1.0], []]
CERTAIN = [[True, False], [True], []]
WEIGHTS = [0.5, 2.0, 0.25]


def targets(device: torch.device, dtype: torch.dtype) -> Targets:
    begins = np.cumsum([0, *map(len, ANSWERS)])
    flat = [[x for row in rows for x in row] for rows in (ANSWERS, VALUES, CERTAIN)]
    return Targets(
        torch.from_numpy(begins).to(device),
        torch.tensor(flat[0], device=device),
        torch.tensor(flat[1], device=device, dtype=dtype),
        torch.tensor(flat[2], device=device),
    )


def by_hand(logits: torch.Tensor, log_chance: torch.Tensor | None) -> torch.Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for q, line in enumerate(logits):
        terms = []
        for c in range(len(line)):
            is_certain = c in ANSWERS[q] and CERTAIN[q][ANSWERS[q].index(c)]
            drawn = 0.0 if log_chance is None or is_certain else float(log_chance[c])
            terms.append(torch.exp(line[c] - drawn))
        hit = sum((v * line[c] for c, v in zip(ANSWERS[q], VALUES[q], strict=True)), start=0)
        total = total + WEIGHTS[q] * (torch.log(torch.stack(terms).sum()) - hit)
    return total


@pytest.mark.parametrize("is_sample", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_loss_and_gradient_are_those_of_the_formula(
    backend: str, dtype: torch.dtype, is_sample: bool
) -> None:
    device = device_of(backend)
    numbers = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 5)))
    chance = torch.log(torch.tensor([0.1, 0.9, 0.5, 0.3, 1.0], dtype=torch.float64))
    exact = numbers.clone().requires_grad_()
    expected = by_hand(exact, chance if is_sample else None)
    expected.backward()
    mine = numbers.to(device, dtype, copy=True).requires_grad_()
    weights = torch.tensor(WEIGHTS, device=device, dtype=dtype)
    got = kernels_of(backend).ranking_loss(
        mine * 1,  # a copy, which may be overwritten
        targets(device, dtype),
        weights,
        chance.to(device, dtype) if is_sample else None,
    )
    (2 * got).backward()
    assert_near(got, expected, dtype)
    assert mine.grad is not None
    assert exact.grad is not None
    assert_near(mine.grad, 2 * exact.grad, dtype)


@pytest.mark.parametrize("backend", BACKENDS)
def test_large_logits_do_not_overflow(backend: str) -> None:
    device = device_of(backend)
    logits = torch.full((3, 5), 900.0, device=device, dtype=torch.float64)
    weights = torch.tensor(WEIGHTS, device=device, dtype=torch.float64)
    got = kernels_of(backend).ranking_loss(logits, targets(device, logits.dtype), weights, None)
    without_answers = 0.25 * (900 + math.log(5))
    assert float(got) == pytest.approx(2.5 * math.log(5) + without_answers)
