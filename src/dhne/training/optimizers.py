"""Optimizers that update only rows with a gradient.

For a row with gradient g at step t and learning rate η_t,

=========  =====================================================================================
sgd        p ← p − η g
adagrad    s ← s + g²,                p ← p − η g / (√s + ε)
rmsprop    s ← β₂ s + (1 − β₂) g²,    p ← p − η g / (√s + ε)
adam       m ← β₁ m + (1 − β₁) g,  s ← β₂ s + (1 − β₂) g²,
           p ← p − η m/(1 − β₁ᵗ) / (√(s/(1 − β₂ᵗ)) + ε)
=========  =====================================================================================

A row without a gradient keeps its value *and* its moments (as in "lazy" Adam), so that the cost of
a step depends on the batch, not on the number of nodes. The state has the parameter's shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from dhne.errors import ParameterError
from dhne.kernels import Kernels, Stepped, StepSize, Table, UpdateRule

RULES = {
    # Small betas: a row's moments change only in the few steps that touch it.
    "adam": UpdateRule("adam", beta1=0.8, beta2=0.98, epsilon=1e-8),
    "rmsprop": UpdateRule("rmsprop", beta2=0.9, epsilon=1e-7),
    "adagrad": UpdateRule("adagrad", epsilon=1e-7),
    "sgd": UpdateRule("sgd"),
}
MOMENTS = {"adam": 2, "rmsprop": 1, "adagrad": 1, "sgd": 0}


@dataclass(frozen=True)
class LinearDecay:
    """The learning rate of step k of n: linear from `start` to `end` · `start`."""

    start: float
    steps: int
    end: float = 0.0

    def __call__(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        done = min(step / max(self.steps, 1), 1.0)
        return self.start * (1 - done * (1 - self.end))


class Optimizer:
    """Updates named parameters; its state consists of tensors, so that it can be saved.

    A table's gain multiplies its learning rate.
    """

    def __init__(
        self,
        parameters: Iterable[tuple[str, nn.Parameter]],
        rule: str | UpdateRule,
        kernels: Kernels,
    ) -> None:
        if isinstance(rule, str):
            if rule not in RULES:
                known = ", ".join(RULES)
                raise ParameterError(f"the optimizer must be one of {known}, got {rule!r}")
            rule = RULES[rule]
        self.rule, self.kernels = rule, kernels
        self.stepped = {
            key: Stepped(
                p,
                [torch.zeros_like(p) for _ in range(MOMENTS[rule.name])],
                replace(self.rule, gain=p.gain if isinstance(p, Table) else 1.0),
            )
            for key, p in parameters
        }
        self.steps = 0

    def next_size(self, lr: float) -> StepSize:
        """Advance the step counter and return the step size at this learning rate."""
        self.steps += 1
        return StepSize.of(self.rule, lr, self.steps)

    def step(self, size: StepSize) -> None:
        """Update every parameter that has a gradient, then clear the gradients."""
        for stepped in self.stepped.values():
            self.kernels.update(stepped, size)
            stepped.parameter.grad = None

    def state_dict(self) -> dict[str, Tensor]:
        """Return the moments by name, and the step counter."""
        state = {
            f"{key}:{i}": m for key, s in self.stepped.items() for i, m in enumerate(s.moments)
        }
        return {**state, "steps": torch.tensor(self.steps)}

    def state_on_cpu(self) -> dict[str, Tensor]:
        """Return `state_dict` as saved in a run; the tensors may be the optimizer's own."""
        return {k: v.detach().cpu() for k, v in self.state_dict().items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Load saved moments."""
        self.steps = int(state["steps"])
        for key, stepped in self.stepped.items():
            for i, m in enumerate(stepped.moments):
                m.copy_(state[f"{key}:{i}"])
