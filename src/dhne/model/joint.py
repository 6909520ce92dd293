"""DHNE: one autoencoder per node type, one tuplewise similarity per edge type, and the joint loss.

For node type t with adjacency rows A_t (columns scaled to a maximum of 1),

    X_t = σ(A_t W_t + b_t),        Â_t = sigmoid(X_t V_tᵀ + c_t)  at the non-zeros of A_t,

and for a tuple (v_1, …, v_N) of edge type r, with x_p the embedding of the node at position p,

    L = σ(Σ_p U_{r,p} x_p + b_r),  S = sigmoid(w_r · L + c_r).

Each role has its own U; positions that share a role share it, so that S does not depend on their
order and one similarity serves every size. Both parts are trained together on

    loss = L1 + α L2,   L1 = −R log S − (1 − R) log(1 − S),   L2 = Σ_p ‖sign(A_p) ⊙ (A_p − Â_p)‖²,

where L1 is the cross-entropy over hyperedges (R = 1) and negatives (R = 0), and L2 the squared
error of the rows of each tuple's nodes, over their non-zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from dhne.kernels import Kernels, Table
from dhne.network.edges import EdgeSet, EdgeType

from .activations import ACTIVATIONS
from .batch import Batch
from .evidence import num_features
from .losses import Loss, TupleLogits
from .module_names import module_name
from .similarities import Members, Similarity, SimilarityShape, make_similarity


@dataclass(frozen=True)
class Architecture:
    """The shape of a model: everything but its weights.

    Attributes
    ----------
    sizes : mapping of node type to layer sizes
        Of the encoder, ending with the embedding size; the decoder has them in reverse.
    hidden : sizes of the similarity's hidden layers; if empty, the sum of the embedding sizes
    activation : "tanh", "sigmoid" or "linear"
    evidence : bool
        Whether pair counts and degrees are also inputs of the hidden layer.
    similarity : its name; see `dhne.model.similarities`
    scales : mapping of node type to float
        Multiplier of its rows before encoding; 1 by default.
    """

    sizes: Mapping[str, tuple[int, ...]]
    hidden: tuple[int, ...] = ()
    activation: str = "tanh"
    evidence: bool = False
    similarity: str = "hidden"
    scales: Mapping[str, float] = field(default_factory=dict)


class NodeAutoencoder(nn.Module):
    """X = σ(A W + b), Â = sigmoid(X Vᵀ + c); further layers, if any, are dense.

    W and V are *tables*: one row per column of A, few of which a batch touches.

    Attributes
    ----------
    join : callable
        Applied to A W before b is added: the identity, or the sum over workers if each has some of
        the columns.
    """

    join: Callable[[Tensor], Tensor] | None = None

    def __init__(
        self, num_columns: int, sizes: Sequence[int], activation: str, scale: float = 1.0
    ) -> None:
        super().__init__()
        first = sizes[0]
        self.activation, self.dim, self.scale = activation, sizes[-1], scale
        self.encoder_table = Table(torch.empty(num_columns, first))  # W
        self.encoder_bias = nn.Parameter(torch.zeros(first))  # b
        self.encoder_layers = _dense(sizes)
        self.decoder_layers = _dense(sizes[::-1])
        self.decoder_table = Table(torch.empty(num_columns, first))  # V
        self.decoder_bias = Table(torch.zeros(num_columns, 1))  # c

    def reset(self, generator: torch.Generator) -> None:
        """Redraw the weights."""
        scale = 1 / math.sqrt(self.encoder_table.shape[1])  # gives the tables' rows length 1
        with torch.no_grad():
            self.encoder_table.normal_(0, scale, generator=generator)
            self.decoder_table.normal_(0, scale, generator=generator)
        self.reset_layers(generator)

    def reset_layers(self, generator: torch.Generator) -> None:
        """Redraw the weights of the dense layers."""
        _reset_dense([*self.encoder_layers, *self.decoder_layers], generator)

    def encode(self, kernels: Kernels, plan: Any) -> Tensor:
        """Return X for the rows of the matrix of `plan`."""
        rows = kernels.encode(plan, self.encoder_table)
        return self.finish(rows if self.join is None else self.join(rows))

    def finish(self, rows: Tensor) -> Tensor:
        """Return X, given A W."""
        activate = ACTIVATIONS[self.activation]
        x = activate(torch.add(self.encoder_bias, rows, alpha=self.scale))
        for layer in self.encoder_layers:
            x = activate(layer(x))
        return x

    def reconstruction(self, kernels: Kernels, plan: Any, x: Tensor, visits: Tensor) -> Tensor:
        """Return Σ_i visits_i ‖sign(A_i) ⊙ (A_i − Â_i)‖²."""
        activate = ACTIVATIONS[self.activation]
        for layer in self.decoder_layers:
            x = activate(layer(x))
        return kernels.reconstruction(plan, x, self.decoder_table, self.decoder_bias, visits)


class DHNEModel(nn.Module):
    """All autoencoders and similarities of one network, and the loss that trains them together."""

    def __init__(
        self,
        num_columns: Mapping[str, int],
        edge_sets: Sequence[EdgeSet],
        architecture: Architecture,
    ) -> None:
        super().__init__()
        self.architecture, self.num_columns = architecture, dict(num_columns)
        a = architecture
        self.autoencoders = nn.ModuleDict(
            {
                module_name(t): NodeAutoencoder(n, a.sizes[t], a.activation, a.scales.get(t, 1.0))
                for t, n in num_columns.items()
            }
        )
        self.similarities = nn.ModuleDict()
        for edges in edge_sets:
            key = similarity_key(edges.types)
            if key not in self.similarities:
                self.similarities[key] = make_similarity(a.similarity, _shape(edges, a))

    def reset(self, generator: torch.Generator) -> None:
        """Redraw all weights."""
        for module in (*self.autoencoders.values(), *self.similarities.values()):
            module.reset(generator)  # type: ignore[operator]

    def autoencoder(self, node_type: str) -> NodeAutoencoder:
        """Return the autoencoder of a node type."""
        module = self.autoencoders[module_name(node_type)]
        assert isinstance(module, NodeAutoencoder)
        return module

    def similarity(self, edge_type: EdgeType) -> Similarity:
        """Return the similarity of an edge type."""
        module = self.similarities[similarity_key(edge_type)]
        assert isinstance(module, Similarity)
        return module

    def tables(self) -> list[Table]:
        """Return W and V of each node type."""
        coders = [self.autoencoder(t) for t in self.num_columns]
        return [table for c in coders for table in (c.encoder_table, c.decoder_table)]

    def loss(
        self, kernels: Kernels, batch: Batch, loss: Loss, *, second_order: bool
    ) -> tuple[Tensor, Tensor]:
        """Return (L1, α L2) of a batch, each averaged over its tuples."""
        x: dict[str, Tensor] = {}
        second = torch.zeros((), dtype=self._dtype, device=self._device)
        for t, part in batch.types.items():
            coder = self.autoencoder(t)
            x[t] = coder.encode(kernels, part.plan)
            if second_order:
                second = second + coder.reconstruction(kernels, part.plan, x[t], part.visits)
        first = torch.zeros_like(second)
        for group in batch.tuples:
            logits = self.similarity(group.edge_type).logits(
                kernels,
                [x[t] for t in group.edge_type],
                group.index,
                group.edge_type,
                group.evidence,
            )
            first = first + loss(TupleLogits(logits, group.valid, group.num_edges))
        for family in batch.families:
            logits = self.similarity(family.edge_type).family_logits(
                kernels,
                [x[t] for t in family.edge_type],
                Members(family.edge_type, family.index, family.slots, family.begins),
                family.evidence,
            )
            first = first + loss(TupleLogits(logits, family.valid, family.num_edges))
        return first / batch.num_tuples, second

    @property
    def _dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    @property
    def _device(self) -> torch.device:
        return next(self.parameters()).device


def _shape(edges: EdgeSet, a: Architecture) -> SimilarityShape:
    return SimilarityShape(
        edges.types,
        {t: a.sizes[t][-1] for t in edges.types},
        hidden=tuple(a.hidden),
        activation=a.activation,
        num_features=num_features(edges.types) if a.evidence else 0,
    )


def similarity_key(edge_type: EdgeType) -> str:
    """Return the name of the similarity shared by an edge type and its family.

    Examples
    --------
    >>> pair, triple = (EdgeType.of(("a",) * n, ordered=False) for n in (2, 3))
    >>> similarity_key(pair), similarity_key(pair) == similarity_key(triple)
    ('unordered type_a', True)
    """
    if not edge_type.has_sets:
        return "ordered " + " ".join(module_name(t) for t in edge_type)
    family = edge_type.family
    if family.roles == tuple(family) and all(family.many):  # sets by node type alone
        return "unordered " + " ".join(module_name(t) for t in family)
    roles = (f"{module_name(t)}/{module_name(r)}{'*' * many}" for t, r, many in edge_type.key)
    return "roles " + " ".join(roles)


def _dense(sizes: Sequence[int]) -> nn.ModuleList:
    return nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))


def _reset_dense(layers: Sequence[nn.Module], generator: torch.Generator) -> None:
    for layer in layers:
        assert isinstance(layer, nn.Linear)
        bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        with torch.no_grad():
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.zero_()
