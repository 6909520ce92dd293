"""Optimizers that touch only what changed.

For a row with gradient g at step t and learning rate η_t,

=========  =====================================================================================
sgd        p ← p − η g
adagrad    s ← s + g²,                p ← p − η g / (√s + ε)
rmsprop    s ← β₂ s + (1 − β₂) g²,    p ← p − η g / (√s + ε)
adam       m ← β₁ m + (1 − β₁) g,  s ← β₂ s + (1 − β₂) g²,
           p ← p − η m/(1 − β₁ᵗ) / (√(s/(1 − β₂ᵗ)) + ε)
=========  =====================================================================================

A row without a gradient keeps its value *and* its moments (as "lazy" Adam does), so that a step
costs what its batch touched and not the number of nodes. State is row by row, beside the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from dhne.errors import ParameterError
from dhne.kernels import Kernels, Stepped, StepSize, Table, UpdateRule

RULES = {
    # Short memories: a row's moments count the steps that touch it, and those are few.
    "adam": UpdateRule("adam", beta1=0.8, beta2=0.98, epsilon=1e-8),
    "rmsprop": UpdateRule("rmsprop", beta2=0.9, epsilon=1e-7),
    "adagrad": UpdateRule("adagrad", epsilon=1e-7),
    "sgd": UpdateRule("sgd"),
}
MOMENTS = {"adam": 2, "rmsprop": 1, "adagrad": 1, "sgd": 0}


@dataclass(frozen=True)
class LinearDecay:
    """The learning rate of step k of n: from `start` linearly to `end` · `start`."""

    start: float
    steps: int
    end: float = 0.0

    def __call__(self, step: int) -> float:
        """Return the learning rate of a step, the first being 0."""
        done = min(step / max(self.steps, 1), 1.0)
        return self.start * (1 - done * (1 - self.end))


class Optimizer:
    """Steps over named parameters; its state is tensors, so that it can be saved as such.

    A table's gain multiplies its learning rate.
    """

    def __init__(
        self, parameters: Iterable[tuple[str, nn.Parameter]], name: str, kernels: Kernels
    ) -> None:
        if name not in RULES:
            raise ParameterError(f"the optimizer is one of {', '.join(RULES)}, not {name!r}")
        self.rule, self.kernels = RULES[name], kernels
        self.stepped = {
            key: Stepped(
                p,
                [torch.zeros_like(p) for _ in range(MOMENTS[name])],
                replace(self.rule, gain=p.gain if isinstance(p, Table) else 1.0),
            )
            for key, p in parameters
        }
        self.steps = 0

    def next_size(self, lr: float) -> StepSize:
        """Count one more step and return its size at this learning rate."""
        self.steps += 1
        return StepSize.of(self.rule, lr, self.steps)

    def step(self, size: StepSize) -> None:
        """Step every parameter that has a gradient, then forget the gradients."""
        for stepped in self.stepped.values():
            self.kernels.update(stepped, size)
            stepped.parameter.grad = None

    def state_dict(self) -> dict[str, Tensor]:
        """Return the moments by name, and the number of steps."""
        state = {
            f"{key}:{i}": m for key, s in self.stepped.items() for i, m in enumerate(s.moments)
        }
        return {**state, "steps": torch.tensor(self.steps)}

    def state_on_cpu(self) -> dict[str, Tensor]:
        """Return `state_dict` as a run keeps it; the tensors may be the optimizer's own."""
        return {k: v.detach().cpu() for k, v in self.state_dict().items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Go on from saved moments."""
        self.steps = int(state["steps"])
        for key, stepped in self.stepped.items():
            for i, m in enumerate(stepped.moments):
                m.copy_(state[f"{key}:{i}"])
