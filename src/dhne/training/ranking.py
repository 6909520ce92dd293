"""Training of the products by ranking the right node first at every open position.

For a hyperedge and an open position p, with logits l over the candidates c of the position,

    loss = log Σ_c e^{l_c} − (½ l_t + ½ mean_{c known} l_c),

where t is the hyperedge's own node, and the known answers are those of all training hyperedges that
differ from it only there. They remain candidates (masking them is clearly worse) but share half of
the target. If there are many candidates, one sample serves all queries of a batch: uniform nodes
and the batch's own. The logit of each candidate is then reduced by log π_c, where π_c is its
probability of being in the sample, so that the sum is estimated without bias. Such a step
touches only the vectors of its sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from dhne.kernels import Kernels, UpdateRule
from dhne.model.meetings import ragged
from dhne.model.products import Products
from dhne.network.edge_keys import edge_keys
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .optimizers import LinearDecay, Optimizer

Ints = npt.NDArray[np.int64]
_EVERY = 5  # epochs between two validations
_PATIENCE = 4  # validations without improvement before training stops
_FINAL_RATE = 0.01  # final learning rate, relative to the initial one
_ADAM = UpdateRule("adam")  # with its usual betas: most weights change in every step


@dataclass(frozen=True)
class RankingOptions:
    """How products are trained.

    Attributes
    ----------
    epochs : int
        Maximum; training stops earlier if validation stops improving.
    batch_size, learning_rate
    dropout : float
        On the own vectors of fixed nodes and on their product.
    candidates : int
        Uniform candidates per batch if a type has many more nodes; 0 uses all nodes.
    """

    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 0.003
    dropout: float = 0.4
    candidates: int = 0


@dataclass(frozen=True)
class Answers:
    """The known answers of each training hyperedge at one position."""

    begins: Tensor  # int64[groups + 1]
    nodes: Tensor  # int64[distinct answers]
    group: Tensor  # int64[m]: the query of each hyperedge

    @classmethod
    def of(cls, edges: EdgeSet, sizes: Ints, position: int, device: torch.device) -> Answers:
        """Group hyperedges by their nodes at all positions but one."""
        others = [p for p in range(edges.length) if p != position]
        keys = edge_keys(edges.nodes[:, others], sizes[others])
        _, group = np.unique(keys, return_inverse=True)
        pairs = np.unique(np.stack([group.reshape(-1), edges.nodes[:, position]], 1), axis=0)
        begins = np.searchsorted(pairs[:, 0], np.arange(len(np.unique(group)) + 1))
        arrays = (begins, np.ascontiguousarray(pairs[:, 1]), group.reshape(-1))
        return cls(*(torch.from_numpy(a).to(device) for a in arrays))

    def of_edges(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return (index in `rows`, node) of all known answers."""
        group = self.group[rows]
        where, entry = ragged(self.begins[group], self.begins[group + 1])
        return where, self.nodes[entry]


@dataclass(frozen=True)
class Candidates:
    """The nodes of one type in a step: the batch's own, and those they are ranked against.

    Attributes
    ----------
    vectors : float[candidates, dim]
    column : int64[n]
        The index of each node among the candidates; -1 if it is not one.
    log_chance : float[candidates], optional
        log π; None if all nodes are candidates.
    """

    vectors: Tensor
    column: Tensor
    log_chance: Tensor | None = None


class RankingTrainer:
    """Trains `Products` on the hyperedges of a network.

    Parameters
    ----------
    products : Products
        On its device, with weights drawn.
    network : HyperNetwork
    options : RankingOptions
    kernels : Kernels
        The device's backend.
    seed : int
    validate : callable, optional
        Returns the validation MRR; the best epoch's weights are kept.
    progress : callable, optional
        Called with (epochs done, loss) after each epoch.
    """

    def __init__(
        self,
        products: Products,
        network: HyperNetwork,
        options: RankingOptions,
        kernels: Kernels,
        *,
        seed: int,
        validate: Callable[[], float] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.products, self.options, self.seed = products, options, seed
        self.kernels, self.validate, self.progress = kernels, validate, progress
        self.device = next(products.parameters()).device
        self.random = Random(seed, 0, self.device)
        self.edges: dict[EdgeType, Tensor] = {}
        self.answers: dict[tuple[EdgeType, int], Answers] = {}
        self.shares: dict[tuple[EdgeType, int], Tensor] = {}
        for e in network.edge_sets:
            if len(e) and products.covers(e.types):
                sizes = network.position_sizes(e.types)
                self.edges[e.types] = torch.from_numpy(e.nodes.copy()).to(self.device)
                for p in range(e.length):
                    self.answers[e.types, p] = Answers.of(e, sizes, p, self.device)
                    counts = np.bincount(e.nodes[:, p], minlength=int(sizes[p]))
                    share = torch.from_numpy(counts / counts.sum())
                    self.shares[e.types, p] = share.float().to(self.device)

    def run(self) -> list[dict[str, float]]:
        """Train to the end and return one record per epoch."""
        history: list[dict[str, float]] = []
        if not self.edges:
            return history
        o = self.options
        optimizer = Optimizer(self.products.named_parameters(), _ADAM, self.kernels)
        steps = o.epochs * sum(-(-len(e) // o.batch_size) for e in self.edges.values())
        rate = LinearDecay(o.learning_rate, steps, _FINAL_RATE)
        best, best_weights, waited = -1.0, None, 0
        for epoch in range(1, o.epochs + 1):
            losses = []
            self.random = Random(self.seed, epoch, self.device)
            for types, rows in self._batches():
                loss = self.loss(types, rows)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step(optimizer.next_size(rate(optimizer.steps)))
                losses.append(loss.detach())
            record = {"epoch": float(epoch), "loss": float(torch.stack(losses).mean())}
            history.append(record)
            if self.progress is not None:
                self.progress(epoch, record["loss"])
            if self.validate is None or (epoch % _EVERY and epoch != o.epochs):
                continue
            record["validation_mrr"] = found = self.validate()
            if found > best:
                best, waited = found, 0
                weights = self.products.state_dict()
                best_weights = {k: v.detach().clone() for k, v in weights.items()}
            elif (waited := waited + 1) >= _PATIENCE:
                break
        if best_weights is not None:
            self.products.load_state_dict(best_weights)
        return history

    def _batches(self) -> Iterator[tuple[EdgeType, Tensor]]:
        """Yield (edge type, hyperedges) for each step, all types mixed."""
        rng, size, found = self.random.numpy, self.options.batch_size, []
        for types, edges in self.edges.items():
            order = torch.from_numpy(rng.permutation(len(edges))).to(self.device)
            found += [(types, rows) for rows in torch.split(order, size)]
        for k in rng.permutation(len(found)):
            yield found[k]

    def loss(self, types: EdgeType, rows: Tensor) -> Tensor:
        """Return the mean loss of a batch, over all positions."""
        products, nodes, rate = self.products, self.edges[types][rows], self.options.dropout
        at = products.evidence.context_position(types)
        drawn = {t: self.draw_candidates(t, types, nodes) for t in set(types)}
        factors = {}
        for p, t in enumerate(types):
            if p != at:
                own = drawn[t].vectors[drawn[t].column[nodes[:, p]]]
                factors[p] = products.factor(self.random.drop(own, rate), types, p)
        scale = products.scale(nodes, types)
        total, asked = scale.new_zeros(()), max(len(factors), 1)
        for p, t in enumerate(types):
            parts = [f for i, f in factors.items() if i != p] + ([scale] if p != at else [])
            product = self.random.drop(math.prod(parts[1:], start=parts[0]), rate)
            z = products.query(product, types, p)
            share = 1 if p == at else 1 / asked
            total = total + share * self._position_loss(types, rows, nodes, p, z, drawn[t])
        return total

    def _position_loss(
        self, types: EdgeType, rows: Tensor, nodes: Tensor, p: int, z: Tensor, drawn: Candidates
    ) -> Tensor:
        evidence = self.products.evidence
        is_context, column = p == evidence.context_position(types), drawn.column
        where, answers = self.answers[types, p].of_edges(rows)
        logits = z @ drawn.vectors.T
        if not is_context:
            known = where, answers
            logits = logits + evidence.of_candidates(
                nodes, types, p, column, logits.shape[1], known
            )
        own = column[nodes[:, p]]
        hit = logits.gather(1, own[:, None])[:, 0]
        if is_context:  # other known contexts are not competitors
            other = answers != nodes[where, p]
            away = logits.new_tensor(-1e30)
            logits = logits.index_put((where[other], column[answers[other]]), away)
            return (torch.logsumexp(logits, 1) - hit).mean()
        place = column[answers]
        if drawn.log_chance is not None:  # known answers that were not drawn are ignored
            where, place = where[place >= 0], place[place >= 0]
        count = torch.zeros_like(hit).index_add(0, where, torch.ones_like(place, dtype=hit.dtype))
        spread = torch.zeros_like(hit).index_add(0, where, logits[where, place]) / count
        if drawn.log_chance is not None:
            # The hyperedge's own node is always included.
            logits = logits - drawn.log_chance.repeat(len(nodes), 1).scatter_(1, own[:, None], 0)
        return (torch.logsumexp(logits, 1) - (hit + spread) / 2).mean()

    def draw_candidates(self, node_type: str, types: EdgeType, nodes: Tensor) -> Candidates:
        """Draw the candidates of a batch; all nodes of the type unless there are many more."""
        x, s, m = self.products.vectors_of(node_type), self.options.candidates, len(nodes)
        n, positions = len(x), types.positions_of(node_type)
        is_context = node_type == self.products.context
        if not s or is_context or n <= 2 * (s + m * len(positions)):
            return Candidates(x, torch.arange(n, device=self.device))
        taken = torch.zeros(n, dtype=torch.bool, device=self.device)
        taken[self.random.integers(n, s)] = True
        missed = torch.full((n,), (1 - 1 / n) ** s, device=self.device)
        for p in positions:
            taken[nodes[:, p]] = True
            missed *= (1 - self.shares[types, p]) ** m
        chosen = torch.nonzero(taken)[:, 0]
        column = torch.full((n,), -1, dtype=torch.int64, device=self.device)
        column[chosen] = torch.arange(len(chosen), device=self.device)
        vectors = functional.embedding(chosen, x, sparse=True)
        return Candidates(vectors, column, torch.log1p(-missed[chosen]).to(x.dtype))


class Random:
    """Random numbers of one epoch, from (seed, epoch)."""

    def __init__(self, seed: int, epoch: int, device: torch.device) -> None:
        self.numpy = np.random.default_rng([seed, epoch, 1])
        self.torch = torch.Generator(device).manual_seed(int(self.numpy.integers(2**62)))
        self.device = device

    def integers(self, n: int, size: int) -> Tensor:
        """Return uniform integers below n."""
        return torch.randint(n, (size,), device=self.device, generator=self.torch)

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
