"""The tuplewise similarity: a non-linear function of all nodes of a tuple together.

    L = σ(Σ_p U_p x_p + b),   S = sigmoid(w · L + c)

The sum over positions is what makes it cheap: each distinct node is projected once, a tuple costs
additions, and ranking every candidate for an open position is one addition a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from dhne.kernels import Kernels
from dhne.network.edges import EdgeType

from .evidence import num_features

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "linear": lambda z: z,  # what the theorem rules out; for showing that it does
}


class TupleSimilarity(nn.Module):
    """S for the tuples of one edge type, or for unordered ones of every size.

    Parameters
    ----------
    edge_type : tuple of str
    sizes : mapping of node type to embedding size
    hidden : sizes of the hidden layers; empty for one, the sum of the positions' embedding sizes
    activation : name of σ
    evidence : bool
        Whether the hidden layer is also given what `dhne.model.evidence` counts.
    """

    def __init__(
        self,
        edge_type: EdgeType,
        sizes: Mapping[str, int],
        *,
        hidden: Sequence[int],
        activation: str,
        evidence: bool = False,
    ) -> None:
        super().__init__()
        self.edge_type, self.activation = edge_type, activation
        hidden = list(hidden) or [sum(sizes[t] for t in edge_type)]
        self.projections = nn.ParameterList(  # U, one a slot
            nn.Parameter(torch.empty(sizes[t], hidden[0])) for t in edge_type.slot_types
        )
        self.hidden_bias = nn.Parameter(torch.zeros(hidden[0]))  # b
        self.hidden_layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(hidden))
        self.output = nn.Parameter(torch.empty(hidden[-1]))  # w
        self.output_bias = nn.Parameter(torch.zeros(1))  # c
        self.evidence = (
            nn.Parameter(torch.empty(num_features(edge_type), hidden[0])) if evidence else None
        )

    def reset(self, generator: torch.Generator) -> None:
        """Draw the weights anew (Glorot's uniform)."""
        fan_in = sum(len(u) for u in self.projections)
        for u in self.projections:
            _uniform(u, fan_in + u.shape[1], generator)
        if self.evidence is not None:
            _uniform(self.evidence, sum(self.evidence.shape), generator)
        for layer in self.hidden_layers:
            assert isinstance(layer, nn.Linear)
            _uniform(layer.weight, sum(layer.weight.shape), generator)
            with torch.no_grad():
                layer.bias.zero_()
        _uniform(self.output, len(self.output) + 1, generator)

    def project(self, x: Tensor, position: int, edge_type: EdgeType) -> Tensor:
        """Return U_p x for every row of `x`."""
        projection: Tensor = self.projections[edge_type.slots[position]]
        return x @ projection

    def logits(
        self,
        kernels: Kernels,
        x: Sequence[Tensor],
        index: Tensor,
        edge_type: EdgeType,
        evidence: Tensor | None = None,
    ) -> Tensor:
        """Return w · L + c of tuples whose node at position p is row ``index[:, p]`` of `x[p]`."""
        projected: dict[tuple[int, str], Tensor] = {}
        parts = []
        for position, node_type in enumerate(edge_type):
            key = (edge_type.slots[position], node_type)
            if key not in projected:
                projected[key] = self.project(x[position], position, edge_type)
            parts.append(projected[key])
        if self.activation == "tanh" and not self.hidden_layers:
            known = (evidence, self.evidence) if evidence is not None else (None, None)
            layer = (self.hidden_bias, self.output)
            return kernels.hidden_layer(parts, index, *layer, *known) + self.output_bias
        return self.finish(kernels.gather_sum(parts, index) + self.hidden_bias, evidence)

    def finish(self, total: Tensor, evidence: Tensor | None = None) -> Tensor:
        """Return w · σ(total) + c, with what evidence adds to the sum, of which b is a part.

        Without gradients `total` is overwritten.
        """
        in_place = not torch.is_grad_enabled()
        if self.evidence is not None and evidence is not None:
            total = torch.addmm(total, evidence, self.evidence, out=total if in_place else None)
        activate = ACTIVATIONS[self.activation]
        hidden = torch.tanh_(total) if in_place and activate is torch.tanh else activate(total)
        for layer in self.hidden_layers:
            hidden = activate(layer(hidden))
        return hidden @ self.output + self.output_bias


def _uniform(weight: Tensor, fan: int, generator: torch.Generator) -> None:
    bound = math.sqrt(6 / fan)
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=generator)
