"""Learning new nodes while the known ones stay fixed.

Downstream indices store the vectors of known nodes, so an update may have to keep them bit for bit.
A new node v then starts where `DHNE.extend` puts it, x_v = σ(A_v W + b), and y_v with x_v = σ(y_v)
is learned from the new hyperedges that contain it,

    loss = L1 + α ‖sign(A_v) ⊙ (A_v − Â_v)‖²,

with all weights fixed except those of the similarities of new edge types. The cost depends only on
the new hyperedges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from dhne.adjacency import AdjacencyMatrix, adjacency
from dhne.answers.newcomers import Newcomers
from dhne.answers.propagation import before_activation
from dhne.hyperparameters import Settings
from dhne.kernels import RowSelection
from dhne.kernels.reference import ReferenceKernels
from dhne.model.activations import ACTIVATIONS
from dhne.model.evidence import PairEvidence
from dhne.model.joint import DHNEModel, similarity_key
from dhne.model.losses import TupleLogits, make_loss
from dhne.model.row_encoding import RowEncoding
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, NegativeSampler

from .optimizers import LinearDecay, Optimizer
from .step_inputs import spread

_CPU = torch.device("cpu")
_SPREAD = 0.1  # standard deviation of y for new nodes with empty rows

Vectors = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Learned:
    """What was learned about new nodes.

    Attributes
    ----------
    model : DHNEModel
        The model, with autoencoders of new node types and similarities of new edge types.
    encodings : mapping of node type to RowEncoding
        Those of the training; empty for new node types.
    rows : mapping of node type to csr_array
        The adjacency rows of new nodes, over the training's columns.
    embeddings : mapping of node type to float32[k, d]
        Of the new nodes, in the order of their ids.
    """

    model: DHNEModel
    encodings: dict[str, RowEncoding]
    rows: dict[str, sp.csr_array]
    embeddings: Vectors


def learn_new_nodes(
    model: DHNEModel,
    encodings: Mapping[str, RowEncoding],
    embeddings: Mapping[str, npt.NDArray[np.float32]],
    newcomers: Newcomers,
    network: HyperNetwork,
    settings: Settings,
    *,
    epochs: int,
    seed: int,
) -> Learned:
    """Learn the new nodes of `newcomers`; `network` contains their hyperedges and all others."""
    larger = dict(encodings)
    for t in network.node_types:
        if t not in larger:
            larger[t] = RowEncoding(AdjacencyMatrix.empty(t), settings.rows)
    grown = _grown(model, larger, network, settings, seed)
    rows = newcomers.rows({t: r.adjacency for t, r in larger.items()}, isolated="keep")
    start = newcomers.embed(grown, larger, rows)
    learning = _Learning(grown, larger, embeddings, newcomers, network, settings, rows)
    learning.begin(start, np.random.default_rng([seed, 1]))
    learning.run(set(model.similarities), epochs, seed)
    return Learned(grown, larger, rows, learning.result())


def _grown(
    model: DHNEModel,
    encodings: Mapping[str, RowEncoding],
    network: HyperNetwork,
    settings: Settings,
    seed: int,
) -> DHNEModel:
    """Return the model with new node and edge types added; its own weights are unchanged."""
    architecture = replace(
        model.architecture,
        sizes={t: settings.sizes(t) for t in encodings},
        scales={t: r.scale for t, r in encodings.items()},
    )
    columns = {t: r.num_columns for t, r in encodings.items()}
    grown = DHNEModel(columns, network.edge_sets, architecture)
    grown.to(next(model.parameters()).dtype)
    grown.reset(torch.Generator().manual_seed(seed))
    grown.load_state_dict(model.state_dict(), strict=False)
    return grown


class _Learning:
    """The y of new nodes, and their training loop."""

    def __init__(
        self,
        model: DHNEModel,
        encodings: Mapping[str, RowEncoding],
        embeddings: Mapping[str, npt.NDArray[np.float32]],
        newcomers: Newcomers,
        network: HyperNetwork,
        settings: Settings,
        rows: Mapping[str, sp.csr_array],
    ) -> None:
        self.model, self.settings, self.kernels = model, settings, ReferenceKernels()
        self.dtype = next(model.parameters()).dtype
        self.loss, self.activate = make_loss(settings.loss), ACTIVATIONS[settings.activation]
        self.known = {t: torch.from_numpy(x).to(self.dtype) for t, x in embeddings.items()}
        self.num_known = {t: newcomers.num_known.get(t, 0) for t in network.node_types}
        self.edges, self.rows = newcomers.network, rows
        self.matrices = {
            t: encodings[t].matrix(device=_CPU, dtype=self.dtype, of=r) for t, r in rows.items()
        }
        self.y: dict[str, nn.Parameter] = {}
        self.evidence = None
        if settings.evidence:
            counted = adjacency(network)
            self.evidence = PairEvidence(network, counted, device=_CPU, dtype=self.dtype)
        self.sampler = NegativeSampler(
            network,
            KnownEdges(network),
            scheme=settings.negative_scheme,
            per_positive=settings.negatives,
            allow_fewer=True,
        )

    def begin(self, start: Vectors, rng: np.random.Generator) -> None:
        """Start from the encoder's embeddings, or at random if a row is empty."""
        for t, x in start.items():
            y = before_activation(x, self.settings.activation)
            empty = np.diff(self.rows[t].indptr) == 0
            y[empty] = rng.normal(0, _SPREAD, (int(empty.sum()), y.shape[1]))
            self.y[t] = nn.Parameter(torch.from_numpy(y).to(self.dtype))

    def run(self, old_similarities: set[str], epochs: int, seed: int) -> None:
        """Learn for some epochs; the similarities in `old_similarities` stay fixed."""
        trained = {f"y.{t}": y for t, y in self.y.items() if len(y)}
        for name, parameter in self.model.named_parameters():
            is_new = name.startswith("similarities.") and name.split(".")[1] not in old_similarities
            parameter.requires_grad_(is_new)
            if is_new:
                trained[name] = parameter
        mine = [self._touched(e, old_similarities) for e in self.edges.edge_sets]
        mine = [e for e in mine if len(e)]
        size = self.settings.batch_size or 1
        steps = epochs * sum(-(-len(e) // size) for e in mine)
        optimizer = Optimizer(trained.items(), self.settings.optimizer, self.kernels)
        schedule = LinearDecay(self.settings.learning_rate, steps, self.settings.decay or 0.0)
        for epoch in range(epochs if trained else 0):
            rng = np.random.default_rng([seed, epoch])
            for edges, rows in _batches(mine, size, rng):
                self._loss(edges, rows, rng).backward()  # type: ignore[no-untyped-call]
                optimizer.step(optimizer.next_size(schedule(optimizer.steps)))
        for parameter in self.model.parameters():
            parameter.requires_grad_(True)

    def _touched(self, edges: EdgeSet, old_similarities: set[str]) -> EdgeSet:
        """Return the hyperedges that affect what is learned."""
        if similarity_key(edges.types) not in old_similarities:
            return edges
        new = [edges.nodes[:, p] >= self.num_known[t] for p, t in enumerate(edges.types)]
        return edges.take(np.logical_or.reduce(new))

    def _loss(
        self, edges: EdgeSet, rows: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> Tensor:
        types, nodes = edges.types, edges.nodes[rows]
        drawn = self.sampler.sample(nodes, rng, edge_type=types)
        tuples = torch.from_numpy(np.concatenate([nodes, drawn.nodes]))
        x, index, second = {}, torch.empty_like(tuples), tuples.new_zeros((), dtype=self.dtype)
        for t in dict.fromkeys(types):
            at = [p for p, s in enumerate(types) if s == t]
            distinct, place, visits = torch.unique(
                tuples[:, at], return_inverse=True, return_counts=True
            )
            index[:, at] = place
            x[t] = self._embeddings(t, distinct)
            second = second + self._reconstruction(t, distinct, x[t], visits)
        features = self._features(edges, rows, tuples)
        logits = self.model.similarity(types).logits(
            self.kernels, [x[t] for t in types], index, types, features
        )
        valid = torch.from_numpy(drawn.valid)
        first = self.loss(TupleLogits(logits, valid, len(nodes)))
        return (first + (self.settings.alpha or 0.0) * second) / len(tuples)

    def _embeddings(self, node_type: str, nodes: Tensor) -> Tensor:
        """Return the fixed embeddings of known nodes and the learned ones of new nodes."""
        n = self.num_known[node_type]
        if node_type not in self.y or not len(self.y[node_type]):
            return self.known[node_type][nodes]
        learned: Tensor = self.activate(self.y[node_type][(nodes - n).clamp(min=0)])
        if not n:
            return learned
        known = self.known[node_type][nodes.clamp(max=n - 1)]
        return torch.where((nodes < n)[:, None], known, learned)

    def _reconstruction(self, node_type: str, nodes: Tensor, x: Tensor, visits: Tensor) -> Tensor:
        """Return the squared error of the rows of new nodes, weighted by their visits."""
        is_new = nodes >= self.num_known[node_type]
        matrix = self.matrices.get(node_type)
        if not self.settings.alpha or matrix is None or not matrix.num_columns or not is_new.any():
            return x.new_zeros(())
        chosen = RowSelection(matrix, nodes[is_new] - self.num_known[node_type])
        weights = visits[is_new].to(self.dtype)
        if self.settings.reconstruction == "mean":
            weights = weights / matrix.num_columns
        plan = self.kernels.prepare(chosen)
        coder = self.model.autoencoder(node_type)
        return coder.reconstruction(self.kernels, plan, x[is_new], weights)

    def _features(
        self, edges: EdgeSet, rows: npt.NDArray[np.int64], tuples: Tensor
    ) -> Tensor | None:
        if self.evidence is None:
            return None
        nodes = tuples[: len(rows)]
        weights = torch.from_numpy(edges.weights[rows]).to(self.dtype)
        m = len(tuples) - len(rows)
        return self.evidence.features(
            tuples,
            edges.types,
            source=torch.cat([nodes, spread(nodes, m)]),
            left_out=torch.cat([weights, spread(weights, m)]),
        )

    def result(self) -> Vectors:
        """Return the embeddings of the new nodes."""
        return {t: self.activate(y.detach()).float().numpy() for t, y in self.y.items()}


def _batches(
    edge_sets: list[EdgeSet], size: int, rng: np.random.Generator
) -> Iterator[tuple[EdgeSet, npt.NDArray[np.int64]]]:
    """Yield (hyperedges of a type, their indices) for each step, all types mixed."""
    found = []
    for edges in edge_sets:
        order = rng.permutation(len(edges))
        found += [(edges, order[k : k + size]) for k in range(0, len(order), size)]
    for k in rng.permutation(len(found)):
        yield found[k]
