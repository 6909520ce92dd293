"""Every kernel backend as a test parameter; CUDA is skipped, with the reason, without a device."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from dhne.kernels import Kernels, StepSize, get_kernels
from dhne.training.optimizers import Optimizer

_NO_CUDA = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch finds no CUDA device here"
)
BACKENDS = ["reference", "cpu", pytest.param("cuda", marks=[pytest.mark.gpu, _NO_CUDA])]
DTYPES = [pytest.param(torch.float64, id="float64"), pytest.param(torch.float32, id="float32")]
# How far a result may be from the float64 reference, beside its largest number.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


def device_of(backend: str) -> torch.device:
    return torch.device("cuda" if backend == "cuda" else "cpu")


def kernels_of(backend: str) -> Kernels:
    return get_kernels(backend, device_of(backend))


@dataclass(frozen=True)
class OneTensor:
    """The inputs of a step that needs none."""

    tensor: torch.Tensor

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [self.tensor]

    def with_tensors(self, tensors: list[torch.Tensor]) -> OneTensor:
        return OneTensor(*tensors)


def take_step(optimizer: Optimizer, lr: float) -> None:
    """Take one step as training does: a backend may read its size only where it runs one.

    Each has inputs of a shape of its own, so that none is recorded and played back.
    """

    def step(inputs: OneTensor, size: StepSize) -> torch.Tensor:
        optimizer.step(size)
        return inputs.tensor

    size = optimizer.next_size(lr)
    optimizer.kernels.run_step(step, OneTensor(torch.empty(optimizer.steps)), size)


def dense_gradient(parameter: torch.Tensor) -> torch.Tensor:
    """Return a gradient, sparse or dense or none at all, as a dense float64 tensor."""
    gradient = parameter.grad
    if gradient is None:
        return torch.zeros(parameter.shape, dtype=torch.float64)
    return (gradient.to_dense() if gradient.is_sparse else gradient).cpu().double()


def assert_near(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    got, expected = got.detach().cpu().double(), expected.detach().cpu().double()
    assert got.shape == expected.shape
    scale = max(1.0, float(expected.abs().max()) if expected.numel() else 1.0)
    torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCE[dtype] * scale)
