"""Training of the products by ranking the right nodes first at every open position.

Each distinct query (:mod:`dhne.training.queries`) is asked once per epoch and counts as many times
as it has hyperedges. The target t of its loss (:mod:`dhne.kernels.ranking_loss`) has two halves:
one is shared out among the known answers by the number of their hyperedges, the other evenly. If a
type has many nodes, one sample serves all queries of a step: uniform nodes, and the answers of the
step's queries. Such a step touches only the vectors of its sample.

For an open context, such as the relation, known answers do not compete with each other:

    loss = Σ_a t_a (log(e^{l_a} + Σ_{c not known} e^{l_c}) − l_a).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from dhne.kernels import Kernels, UpdateRule
from dhne.kernels.products import Dropout, Factor
from dhne.kernels.ranking_loss import Targets
from dhne.model.candidate_evidence import Beside
from dhne.model.products import Products
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .candidates import Candidates, CandidateSampler
from .optimizers import LinearDecay, Optimizer
from .queries import Asked, Queries
from .random_numbers import Random

_VALIDATIONS = 8  # during a training
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
    batch_size : int
        Queries per step and position, on average.
    learning_rate : float
    dropout : float
        On the own vectors of fixed nodes and on their product.
    candidates : int
        Uniform candidates per step if a type has many more nodes; 0 uses all nodes.
    """

    epochs: int = 30
    batch_size: int = 256
    learning_rate: float = 0.01
    dropout: float = 0.4
    candidates: int = 0


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
        self.queries: dict[EdgeType, list[Queries]] = {}
        self.beside: dict[EdgeType, list[list[Beside]]] = {}
        self.num_edges: dict[EdgeType, int] = {}
        for e in network.edge_sets:
            if len(e) and products.covers(e.types):
                sizes = network.position_sizes(e.types)
                self.num_edges[e.types] = len(e)
                queries = [Queries.of(e, sizes, p, self.device) for p in range(e.length)]
                self.queries[e.types] = queries
                self.beside[e.types] = [
                    products.evidence.beside(q.nodes, e.types, q.position) for q in queries
                ]
        self.sampler = CandidateSampler(products, self.queries, options.candidates)

    def run(self) -> list[dict[str, float]]:
        """Train to the end and return one record per epoch."""
        with self.kernels.training():
            return self._run()

    def _run(self) -> list[dict[str, float]]:
        history: list[dict[str, float]] = []
        if not self.queries:
            return history
        o = self.options
        optimizer = Optimizer(self.products.named_parameters(), _ADAM, self.kernels)
        steps = o.epochs * sum(self._steps(types) for types in self.queries)
        rate = LinearDecay(o.learning_rate, steps, _FINAL_RATE)
        best, best_weights, waited = -1.0, None, 0
        every = max(1, o.epochs // _VALIDATIONS)
        for epoch in range(1, o.epochs + 1):
            losses = []
            self.random = Random(self.seed, epoch, self.device)
            for types, asked in self._batches():
                loss = self.loss(types, asked)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step(optimizer.next_size(rate(optimizer.steps)))
                losses.append(loss.detach())
            record = {"epoch": float(epoch), "loss": float(torch.stack(losses).mean())}
            history.append(record)
            if self.progress is not None:
                self.progress(epoch, record["loss"])
            if self.validate is None or (epoch % every and epoch != o.epochs):
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

    def _steps(self, types: EdgeType) -> int:
        """Return the number of steps per epoch for an edge type."""
        return -(-self.num_edges[types] // self.options.batch_size)

    def _batches(self) -> Iterator[tuple[EdgeType, list[Asked]]]:
        """Yield (edge type, queries at all positions) for each step, all types mixed."""
        rng, found = self.random.numpy, []
        for types, every in self.queries.items():
            parts = [np.array_split(rng.permutation(len(q)), self._steps(types)) for q in every]
            found += [(types, which) for which in zip(*parts, strict=True)]
        for k in rng.permutation(len(found)):
            types, which = found[k]
            ids = (torch.from_numpy(w).to(self.device) for w in which)
            yield types, [Asked(q, w) for q, w in zip(self.queries[types], ids, strict=True)]

    def loss(self, types: EdgeType, asked: Sequence[Asked]) -> Tensor:
        """Return the mean loss of a step's queries; the context counts as much as all the others.

        `asked` has queries at different positions of one edge type.
        """
        at = self.products.evidence.context_position(types)
        drawn = {t: self.sampler.draw(t, types, asked, self.random) for t in set(types)}
        total = self.products.vectors_of(types[0]).new_zeros(())
        asked = [a for a in asked if len(a)]
        beside = [[b.of(a.which) for b in self.beside[types][a.position]] for a in asked]
        weights, beside = self.products.evidence.touched(beside)
        for a, met in zip(asked, beside, strict=True):
            candidates = drawn[types[a.position]]
            z = self._query(types, a, drawn)
            if a.position == at:
                total = total + _context_loss(a, z @ candidates.vectors.T)
            else:
                loss = self._position_loss(a, z, candidates, met, weights)
                total = total + loss / (len(types) - (at is not None))
        return total

    def _query(self, types: EdgeType, asked: Asked, drawn: Mapping[str, Candidates]) -> Tensor:
        """Return z of an open position, with dropout."""
        at = self.products.evidence.context_position(types)
        factors = [
            Factor(drawn[t].rows(asked.nodes[:, p]), self.products.matrix(types, p))
            for p, t in enumerate(types)
            if p not in (asked.position, at)
        ]
        scale = self.products.scale_rows(asked.nodes, types, asked.position)
        dropout = Dropout(self.options.dropout, self.random)
        product = self.kernels.product(factors, scale, dropout)
        return self.products.query(product, types, asked.position)

    def _position_loss(
        self,
        asked: Asked,
        z: Tensor,
        drawn: Candidates,
        beside: Sequence[Beside],
        weights: Tensor,
    ) -> Tensor:
        query, entry, column, chosen = drawn.answers(asked)
        evidence = self.products.evidence.of_candidates(
            beside, drawn.place, (len(asked), drawn.size), known=(query, column), weights=weights
        )
        logits = torch.addmm(evidence, z, drawn.vectors[: drawn.size].T)
        count = torch.bincount(query, minlength=len(asked))
        shares = asked.queries.shares[entry]
        if drawn.log_chance is not None:  # the shares of the answers chosen on purpose
            shares = shares * chosen
            sums = shares.new_zeros(len(asked)).index_add_(0, query, shares)
            shares = shares / sums.clamp_(min=1e-12)[query]
        targets = Targets(
            begins=torch.cat([count.new_zeros(1), count.cumsum(0)]),
            columns=column,
            values=((shares + 1 / count[query]) / 2).to(z.dtype),
            is_certain=chosen,
        )
        return self.kernels.ranking_loss(
            logits, targets, asked.weights.to(z.dtype), drawn.log_chance
        )


def _context_loss(asked: Asked, logits: Tensor) -> Tensor:
    """Return the loss of queries about the context, whose known answers do not compete."""
    query, entry = asked.answers
    answers = asked.queries.answers[entry]
    rest = logits.index_put((query, answers), logits.new_tensor(-1e30))
    rivals = torch.logsumexp(rest, 1)
    losses = functional.softplus(rivals[query] - logits[query, answers])
    shares = asked.queries.shares[entry] * asked.weights[query]
    return (losses * shares.to(logits.dtype)).sum()
