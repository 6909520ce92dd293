"""Activation functions σ of encoders, decoders and hidden layers, by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "linear": lambda z: z,  # ruled out by the paper's theorem; kept to demonstrate it
}
