"""Row-wise optimizers against torch's own, and that they leave alone what has no gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from dhne.errors import ParameterError
from dhne.training.optimizers import RULES, LinearDecay, Optimizer
from tests.kernels.backends import BACKENDS, DTYPES, assert_near, device_of, kernels_of, take_step

TORCH = {
    "adam": lambda p, lr: torch.optim.Adam(p, lr, (0.8, 0.98), eps=RULES["adam"].epsilon),
    "rmsprop": lambda p, lr: torch.optim.RMSprop(p, lr, alpha=0.9, eps=RULES["rmsprop"].epsilon),
    "adagrad": lambda p, lr: torch.optim.Adagrad(p, lr, eps=RULES["adagrad"].epsilon),
    "sgd": torch.optim.SGD,
}


def sparse(rows: list[int], values: torch.Tensor, n: int) -> torch.Tensor:
    shape = (n, *values.shape[1:])
    places = torch.tensor([rows], device=values.device)
    with torch.sparse.check_sparse_tensor_invariants():
        return torch.sparse_coo_tensor(places, values, shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_with_every_row_touched_the_steps_are_torchs(
    backend: str, rule: str, dtype: torch.dtype
) -> None:
    rng, device = np.random.default_rng(0), device_of(backend)
    shapes = {"table": (7, 3), "matrix": (4, 5), "bias": (6,), "one": (1,)}
    start = {k: torch.from_numpy(rng.normal(size=s)) for k, s in shapes.items()}
    mine = {k: nn.Parameter(v.to(device, dtype)) for k, v in start.items()}
    theirs = {k: nn.Parameter(v.clone()) for k, v in start.items()}
    optimizer = Optimizer(mine.items(), rule, kernels_of(backend))
    reference = TORCH[rule](theirs.values(), 0.1)
    for step in range(5):
        lr = 0.1 / (1 + step)
        for key, shape in shapes.items():
            gradient = torch.from_numpy(rng.normal(size=shape))
            theirs[key].grad = gradient
            here = gradient.to(device, dtype)
            if key == "table" and backend != "cuda":  # in any order, as kernels give it
                order = rng.permutation(shape[0]).tolist()
                here = sparse(order, here[order], shape[0])
            mine[key].grad = here
        reference.param_groups[0]["lr"] = lr
        reference.step()
        take_step(optimizer, lr)
    for key in shapes:
        assert mine[key].grad is None
        assert_near(mine[key], theirs[key], dtype)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_without_a_gradient_keeps_its_value_and_its_moments(
    backend: str, rule: str, kind: str
) -> None:
    device = device_of(backend)
    if backend == "cuda" and kind == "sparse":
        pytest.skip("its kernels give dense gradients")
    table = nn.Parameter(torch.randn(5, 3, dtype=torch.float64).to(device))
    optimizer = Optimizer([("table", table)], rule, kernels_of(backend))

    def step(rows: list[int]) -> None:
        values = torch.ones(len(rows), 3, dtype=torch.float64, device=device)
        gradient = sparse(rows, values, 5)
        table.grad = gradient if kind == "sparse" else gradient.to_dense()
        take_step(optimizer, 0.1)

    step([0, 1, 2, 3, 4])
    before = [t.detach().clone() for t in (table, *optimizer.stepped["table"].moments)]
    step([3, 1])
    for whole, old in zip((table, *optimizer.stepped["table"].moments), before, strict=True):
        changed = (whole.detach() != old).any(1)
        assert changed.tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gradient_of_nothing_changes_nothing(backend: str) -> None:
    device = device_of(backend)
    weight = nn.Parameter(torch.ones(3, 2, device=device))
    optimizer = Optimizer([("weight", weight)], "adam", kernels_of(backend))
    weight.grad = torch.zeros_like(weight)
    take_step(optimizer, 0.1)
    take_step(optimizer, 0.1)  # none at all
    assert torch.equal(weight.detach(), torch.ones(3, 2, device=device))


def test_state_comes_back_as_it_was() -> None:
    def train(optimizer: Optimizer, weight: nn.Parameter, steps: range) -> None:
        for step in steps:
            weight.grad = torch.full_like(weight, 1.0 + step)
            take_step(optimizer, 0.1)

    one = nn.Parameter(torch.ones(3, 2))
    through = Optimizer([("w", one)], "adam", kernels_of("reference"))
    train(through, one, range(3))
    two = nn.Parameter(one.detach().clone())
    resumed = Optimizer([("w", two)], "adam", kernels_of("reference"))
    resumed.load_state_dict({k: v.clone() for k, v in through.state_dict().items()})
    train(through, one, range(3, 6))
    train(resumed, two, range(3, 6))
    assert torch.equal(one, two)
    assert resumed.steps == 6


def test_learning_rate_falls_linearly() -> None:
    decay = LinearDecay(0.4, 10, end=0.5)
    assert [decay(k) for k in (0, 5, 10, 99)] == pytest.approx([0.4, 0.3, 0.2, 0.2])
    assert LinearDecay(0.4, 0)(0) == 0.4


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="one of adam, rmsprop, adagrad, sgd, got 'adamw'"):
        Optimizer([], "adamw", kernels_of("reference"))
