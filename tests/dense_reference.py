"""DHNE written straight from the paper's equations: dense matrices, float64, one tuple at a time.

Nothing here is shared with `dhne.model`, `dhne.adjacency` or `dhne.training` but
the weights, which are copied from a model by name. All nodes of all types are numbered one after
the other, H is the incidence matrix over them, and A = H W Hᵀ − D_v has all of them as columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import log1p

import torch
from torch import Tensor

from dhne.model.joint import DHNEModel
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "linear": lambda z: z}


@dataclass(frozen=True)
class Edge:
    types: EdgeType
    nodes: tuple[int, ...]
    weight: float


@dataclass(frozen=True)
class Tuple:
    """A tuple to score: a hyperedge, or a negative of one.

    `source` is the hyperedge that it is or was drawn from, `kept` which positions still hold its
    node. With leave-one-out those are seen without it.
    """

    types: EdgeType
    nodes: tuple[int, ...]
    target: float
    counts: bool = True
    source: Edge | None = None
    kept: tuple[bool, ...] = field(default=())


class DenseDHNE:
    def __init__(self, network: HyperNetwork, model: DHNEModel, *, rows: str = "counts") -> None:
        self.network, self.shape, self.kind = network, model.architecture, rows
        self.activate = ACTIVATIONS[self.shape.activation]
        self.parameters = {
            name: p.detach().cpu().double().clone().requires_grad_()
            for name, p in model.named_parameters()
        }
        self.keys = {id(m): name for name, m in model.named_modules()}
        self.model = model
        self.first: dict[str, int] = {}
        self.total = 0
        for t in network.node_types:
            self.first[t] = self.total
            self.total += network.num_nodes(t)
        self.edges = [
            Edge(e.types, tuple(nodes.tolist()), float(w))
            for e in network.edge_sets
            for nodes, w in zip(e.nodes, e.weights, strict=True)
        ]
        self.whole = self.adjacency(self.edges)
        self.left_out: dict[Edge, Tensor] = {}  # A without a hyperedge
        self.largest = {t: self.rows(self.whole, t).amax(0) for t in network.node_types}

    # -- the adjacency matrix --------------------------------------------------------------------

    def adjacency(self, edges: list[Edge]) -> Tensor:
        """A = H W Hᵀ − D_v, not yet scaled."""
        H = torch.zeros(self.total, len(edges), dtype=torch.float64)
        for e, edge in enumerate(edges):
            for t, v in zip(edge.types, edge.nodes, strict=True):
                H[self.first[t] + v, e] = 1
        W = torch.diag(torch.tensor([e.weight for e in edges], dtype=torch.float64))
        product = H @ W @ H.T
        return product - torch.diag(product.diagonal())

    def without(self, edge: Edge) -> list[Edge]:
        """The hyperedges without one of them; of repeats, one goes."""
        rest = list(self.edges)
        rest.remove(edge)
        return rest

    def rows(self, A: Tensor, node_type: str) -> Tensor:
        first = self.first[node_type]
        return A[first : first + self.network.num_nodes(node_type)]

    def scaled_row(self, A: Tensor, node_type: str, node: int) -> Tensor:
        """Row of a node, columns divided by their maximum over the type's rows *in training*.

        A row of digits has how many binary digits the counts have instead.
        """
        row, largest = self.rows(A, node_type)[node], self.largest[node_type]
        places = self.table(node_type, "encoder_table").abs().sum(1) > 0
        whole = self.rows(self.whole, node_type)[:, places]
        if self.kind == "digits" and (whole > 0).sum() <= 0.6 * whole.numel():
            return torch.ceil(torch.log2(1 + row) - 1e-5)
        return torch.where(largest > 0, row / torch.where(largest > 0, largest, 1), 0)

    # -- the autoencoder -------------------------------------------------------------------------

    def weight(self, *path: str) -> Tensor:
        return self.parameters[".".join(path)]

    def coder(self, node_type: str, name: str) -> Tensor:
        return self.weight(self.keys[id(self.model.autoencoder(node_type))], name)

    def table(self, node_type: str, name: str) -> Tensor:
        """A table over all nodes: the model keeps rows only for types that meet this one."""
        kept = self.coder(node_type, name)
        meets = {
            s
            for e in self.network.edge_sets
            for p, t in enumerate(e.types)
            for q, s in enumerate(e.types)
            if t == node_type and p != q
        }
        places = [
            self.first[s] + v
            for s in self.network.node_types
            if s in meets
            for v in range(self.network.num_nodes(s))
        ]
        assert len(places) == len(kept)
        spread = torch.zeros(self.total, kept.shape[1], dtype=torch.float64)
        return spread.index_copy(0, torch.tensor(places, dtype=torch.int64), kept)

    def layers(self, node_type: str, name: str, x: Tensor) -> Tensor:
        for i in range(len(self.shape.sizes[node_type]) - 1):
            W, b = (self.coder(node_type, f"{name}.{i}.{part}") for part in ("weight", "bias"))
            x = self.activate(W @ x + b)
        return x

    def encode(self, row: Tensor, node_type: str) -> Tensor:
        """X_i = σ(s W A_i + b)."""
        W, b = self.table(node_type, "encoder_table"), self.coder(node_type, "encoder_bias")
        return self.layers(
            node_type,
            "encoder_layers",
            self.activate(self.shape.scales.get(node_type, 1) * (row @ W) + b),
        )

    def reconstruction_error(self, row: Tensor, x: Tensor, node_type: str) -> Tensor:
        """‖sign(A_i) ⊙ (min(A_i, 1) − Â_i)‖², Â_i = sigmoid(V X_i + c)."""
        V, c = self.table(node_type, "decoder_table"), self.table(node_type, "decoder_bias")[:, 0]
        fitted = torch.sigmoid(V @ self.layers(node_type, "decoder_layers", x) + c)
        return ((torch.sign(row) * (row.clamp(max=1) - fitted)) ** 2).sum()

    # -- the similarity --------------------------------------------------------------------------

    def logit(self, types: EdgeType, x: list[Tensor], evidence: list[float]) -> Tensor:
        """w · L + c, L = σ(Σ_p U_p x_p + b)."""
        key = self.keys[id(self.model.similarity(types))]
        part = lambda name: self.weight(key, name)  # noqa: E731
        slots = list(types.slots)
        total = part("hidden_bias")
        for slot, embedding in zip(slots, x, strict=True):
            total = total + embedding @ part(f"projections.{slot}")
        if self.shape.evidence:
            total = total + torch.tensor(evidence, dtype=torch.float64) @ part("evidence")
        hidden = self.activate(total)
        for i in range(max(len(self.shape.hidden) - 1, 0)):
            W, b = part(f"hidden_layers.{i}.weight"), part(f"hidden_layers.{i}.bias")
            hidden = self.activate(W @ hidden + b)
        return hidden @ part("output") + part("output_bias")[0]

    def evidence(self, item: Tuple) -> list[float]:
        """What the nodes share, counted in the network without the tuple's own hyperedge.

        For each pair (v, u): c = A[v, u], s = Σ_y ℓ(A[v, y]) ℓ(A[u, y]), and
        t = Σ_{b ≠ u, a ≠ v} ℓ(A[v, b]) ℓ(A[a, b]) ℓ(A[u, a]) with b of u's type and a of v's.
        """
        edges = self.edges if item.source is None else self.without(item.source)
        A = self.adjacency(edges)
        log_A = torch.log1p(A)
        places = [self.first[t] + v for t, v in zip(item.types, item.nodes, strict=True)]
        slots = list(item.types.slots)
        names = range(max(slots) + 1)
        sets = [s for s in names if item.types.family.many[s]]
        kinds = [*combinations(names, 2), *((s, s) for s in sets)]
        features: list[float] = []
        extremes: list[float] = []
        for kind in kinds:
            counts = [
                self.shares(A, log_A, item.types, places, p, q)
                for p, q in combinations(range(len(places)), 2)
                if tuple(sorted((slots[p], slots[q]))) == kind
            ]
            for which in range(3):
                numbers = [c[which] for c in counts]
                features.append(_mean([log1p(n) for n in numbers]))
                features.append(_mean([float(n == 0) for n in numbers]))
            seen = [c[0] for c in counts] or [0.0]
            extremes += [min(seen), max(seen)]
        for slot in names:
            degrees = [
                sum(e.weight for e in edges if item.nodes[p] in _of_type(e, item.types[p]))
                for p in range(len(places))
                if slots[p] == slot
            ]
            features.append(_mean([log1p(d) for d in degrees]))
            extremes += [min(degrees), max(degrees)] if slot in sets else []
        if sets:
            features += [log1p(n) for n in extremes] + [float(n == 0) for n in extremes]
        return features

    def shares(
        self, A: Tensor, log_A: Tensor, types: tuple[str, ...], places: list[int], p: int, q: int
    ) -> tuple[float, float, float]:
        v, u = places[p], places[q]
        near_v, near_u = self.rows(log_A.T, types[q])[:, v], self.rows(log_A.T, types[p])[:, u]
        near_v, near_u = near_v.clone(), near_u.clone()
        near_v[u - self.first[types[q]]] = 0
        near_u[v - self.first[types[p]]] = 0
        between = self.rows(self.rows(log_A, types[p]).T, types[q])  # [b, a]
        paths = near_v @ between @ near_u
        return float(A[v, u]), float(log_A[v] @ log_A[u]), float(paths)

    # -- the loss --------------------------------------------------------------------------------

    def embeddings(self, item: Tuple, *, leave_one_out: bool) -> list[Tensor]:
        x = []
        for p, (t, v) in enumerate(zip(item.types, item.nodes, strict=True)):
            A = self.whole
            if leave_one_out and item.source is not None and item.kept[p]:
                if item.source not in self.left_out:
                    self.left_out[item.source] = self.adjacency(self.without(item.source))
                A = self.left_out[item.source]
            x.append(self.encode(self.scaled_row(A, t, v), t))
        return x

    def loss(
        self, items: list[Tuple], alpha: dict[str, float], *, leave_one_out: bool = False
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(L1, Σ_t α_t L2, S), both losses means over the tuples."""
        first = second = torch.zeros((), dtype=torch.float64)
        scores = []
        for item in items:
            x = self.embeddings(item, leave_one_out=leave_one_out)
            evidence = self.evidence(item) if self.shape.evidence else []
            S = torch.sigmoid(self.logit(item.types, x, evidence))
            scores.append(S)
            R = item.target
            if item.counts:
                first = first - (R * torch.log(S) + (1 - R) * torch.log(1 - S))
            for t, v in zip(item.types, item.nodes, strict=True):
                row = self.scaled_row(self.whole, t, v)
                error = self.reconstruction_error(row, self.encode(row, t), t)
                second = second + alpha[t] * error
        return first / len(items), second / len(items), torch.stack(scores)


def _of_type(edge: Edge, node_type: str) -> set[int]:
    return {v for t, v in zip(edge.types, edge.nodes, strict=True) if t == node_type}


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
