"""Products of factors on every backend against the formula, with and without dropout."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
import torch
from torch import Tensor

from dhne.kernels.products import Dropout, Factor, Rows
from tests.kernels.backends import BACKENDS, DTYPES, assert_near, device_of, kernels_of


class Numbered:
    """The same noise whenever it is made anew."""

    def __init__(self) -> None:
        self.numbers = count()

    def seed(self) -> int:
        return next(self.numbers)

    def drop(self, x: Tensor, rate: float) -> Tensor:
        source = torch.Generator().manual_seed(self.seed())
        kept = torch.rand(x.shape, generator=source).to(x.device) >= rate
        return x * kept / (1 - rate)


def tensors(dtype: torch.dtype, device: torch.device) -> list[Tensor]:
    """A table of scales, then vectors and a matrix for each of two factors."""
    rng = np.random.default_rng(0)
    shapes = [(3, 9), (5, 9), (9, 9), (4, 9), (9, 9)]
    drawn = [torch.from_numpy(rng.normal(size=s)).to(device, dtype) for s in shapes]
    return [t.requires_grad_() for t in drawn]


def product(backend: str, given: list[Tensor], rate: float) -> Tensor:
    u, x, q, y, r = given
    ids = (torch.tensor(i, device=u.device) for i in ([0, 2, 2, 1], [4, 4, 0, 1], [3, 0, 3, 3]))
    of_u, of_x, of_y = ids
    factors = [Factor(Rows(x, of_x), q), Factor(Rows(y, of_y), r)]
    dropout = Dropout(rate, Numbered())
    return kernels_of(backend).product(factors, Rows(u, of_u), dropout)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_without_dropout_it_is_the_formula(backend: str, dtype: torch.dtype) -> None:
    given = tensors(dtype, device_of(backend))
    exact = tensors(torch.float64, torch.device("cpu"))
    u, x, q, y, r = exact
    expected = u[[0, 2, 2, 1]] * (1 + x[[4, 4, 0, 1]] @ q) * (1 + y[[3, 0, 3, 3]] @ r)
    got = product(backend, given, 0.0)
    assert_near(got, expected, dtype)
    slope = torch.from_numpy(np.random.default_rng(1).normal(size=expected.shape))
    (expected * slope).sum().backward()
    (got * slope.to(got)).sum().backward()
    for mine, theirs in zip(given, exact, strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        assert_near(mine.grad, theirs.grad, dtype)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_gradient_has_the_dropout_of_the_value(backend: str) -> None:
    given = tensors(torch.float64, device_of(backend))
    assert torch.autograd.gradcheck(lambda *t: product(backend, list(t), 0.5), given)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_share_of_the_numbers_is_dropped_and_the_rest_keeps_the_mean(backend: str) -> None:
    device, m = device_of(backend), 4000
    ones = torch.ones(1, 50, dtype=torch.float64, device=device)
    ids = torch.zeros(m, dtype=torch.int64, device=device)
    got = kernels_of(backend).product([], Rows(ones, ids), Dropout(0.25, Numbered()))
    assert float((got == 0).double().mean()) == pytest.approx(0.25, abs=0.01)
    assert got.unique().tolist() == pytest.approx([0, 4 / 3])
    assert float((got == 0).double().mean(0).max()) < 0.3  # no column is special
    assert float((got[:-1] == got[1:]).double().mean()) < 0.7  # nor does a row follow another
