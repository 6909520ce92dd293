"""Random numbers of one epoch of the products' training."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class Random:
    """Random numbers from (seed, epoch), the same on every run."""

    def __init__(self, seed: int, epoch: int, device: torch.device) -> None:
        self.numpy = np.random.default_rng([seed, epoch, 1])
        self.torch = torch.Generator(device).manual_seed(int(self.numpy.integers(2**62)))
        self.device = device

    def integers(self, n: int, size: int) -> Tensor:
        """Return uniform integers below n."""
        return torch.randint(n, (size,), device=self.device, generator=self.torch)

    def uniform(self, size: int) -> Tensor:
        """Return uniform numbers in [0, 1)."""
        return torch.rand(size, device=self.device, generator=self.torch)

    def seed(self) -> int:
        """Return a seed for compiled code."""
        return int(self.numpy.integers(2**62))

    def drop(self, x: Tensor, rate: float) -> Tensor:
        """Apply dropout: set a share of the numbers to 0 and scale up the others.

        Each number is decided by a random byte, so the rate is a multiple of 1/256.
        """
        below = round(256 * rate)
        if not below:
            return x
        if self.device.type == "cpu":  # several times faster than torch's own generator
            drawn = torch.from_numpy(self.numpy.integers(0, 256, x.shape, dtype=np.uint8))
        else:
            drawn = torch.randint(
                256, x.shape, dtype=torch.uint8, device=self.device, generator=self.torch
            )
        return x * ((drawn >= below) * (256 / (256 - below))).to(x.dtype)
