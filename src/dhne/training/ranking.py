"""Training of the products by ranking: the right node before all others at every open position.

For a hyperedge and an open position p, with logits l over the candidates c of the position,

    loss = log Σ_c e^{l_c} − (½ l_t + ½ mean_{c known} l_c),

t being the hyperedge's own node and the known answers those of all training hyperedges that differ
from it only there. They stay among the candidates (to mask them is clearly worse) but share half of
the target. Where there are many candidates a sample serves all questions of a batch: uniform nodes
and the batch's own targets, each candidate's logit less log π_c, π_c the chance that it is in the
sample, so that the sum is estimated without bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from dhne.model.place_evidence import ragged
from dhne.model.products import Products
from dhne.network.edge_keys import edge_keys
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork

Ints = npt.NDArray[np.int64]
_EVERY = 5  # epochs between two looks at the validation set
_PATIENCE = 4  # looks without progress before the training stops
_FINAL_RATE = 0.01  # of the learning rate, at the end


@dataclass(frozen=True)
class RankingOptions:
    """How products are trained.

    Attributes
    ----------
    epochs : int
        At most; fewer if validation stops improving.
    batch_size, learning_rate : as their names say
    dropout : float
        On the own vectors of fixed nodes and on their product.
    candidates : int
        Uniform candidates per batch where a type has many more nodes; 0 takes all nodes.
    """

    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 0.003
    dropout: float = 0.3
    candidates: int = 0


@dataclass(frozen=True)
class Answers:
    """The known answers of each training hyperedge at one position, hyperedge by hyperedge."""

    begins: Tensor  # int64[groups + 1]
    nodes: Tensor  # int64[distinct answers]
    group: Tensor  # int64[m]: the question of each hyperedge

    @classmethod
    def of(cls, edges: EdgeSet, sizes: Ints, position: int, device: torch.device) -> Answers:
        """Group hyperedges by what is at all positions but one."""
        others = [p for p in range(edges.length) if p != position]
        keys = edge_keys(edges.nodes[:, others], sizes[others])
        _, group = np.unique(keys, return_inverse=True)
        pairs = np.unique(np.stack([group.reshape(-1), edges.nodes[:, position]], 1), axis=0)
        begins = np.searchsorted(pairs[:, 0], np.arange(len(np.unique(group)) + 1))
        arrays = (begins, np.ascontiguousarray(pairs[:, 1]), group.reshape(-1))
        return cls(*(torch.from_numpy(a).to(device) for a in arrays))

    def of_edges(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return (place in `rows`, node) of all known answers."""
        group = self.group[rows]
        where, entry = ragged(self.begins[group], self.begins[group + 1])
        return where, self.nodes[entry]


class RankingTrainer:
    """Trains `Products` on the hyperedges of a network.

    Parameters
    ----------
    products : Products
        On its device, weights drawn.
    network : HyperNetwork
    options : RankingOptions
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
        *,
        seed: int,
        validate: Callable[[], float] | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.products, self.options, self.seed = products, options, seed
        self.validate, self.progress = validate, progress
        self.device = next(products.parameters()).device
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
        optimizer = torch.optim.Adam(self.products.parameters(), lr=o.learning_rate)
        steps = o.epochs * sum(-(-len(e) // o.batch_size) for e in self.edges.values())
        done, best, best_weights, waited = 0, -1.0, None, 0
        torch_rng = torch.random.get_rng_state()
        torch.manual_seed(self.seed)  # dropout draws from torch's own generator
        try:
            for epoch in range(1, o.epochs + 1):
                losses = []
                for types, rows in self._batches(epoch):
                    for group in optimizer.param_groups:
                        group["lr"] = o.learning_rate * max(1 - done / steps, _FINAL_RATE)
                    loss = self.loss(types, rows)
                    optimizer.zero_grad(set_to_none=True)
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimizer.step()
                    losses.append(loss.detach())
                    done += 1
                record = {"epoch": float(epoch), "loss": float(torch.stack(losses).mean())}
                history.append(record)
                if self.progress is not None:
                    self.progress(epoch, record["loss"])
                if self.validate is None or (epoch % _EVERY and epoch != o.epochs):
                    continue
                record["validation_mrr"] = found = self.validate()
                if found > best:
                    best, waited = found, 0
                    best_weights = {
                        k: v.detach().clone() for k, v in self.products.state_dict().items()
                    }
                elif (waited := waited + 1) >= _PATIENCE:
                    break
        finally:
            torch.random.set_rng_state(torch_rng)
        if best_weights is not None:
            self.products.load_state_dict(best_weights)
        return history

    def _batches(self, epoch: int) -> Iterator[tuple[EdgeType, Tensor]]:
        """Yield (edge type, hyperedges) of each step, all types mixed."""
        rng = np.random.default_rng([self.seed, epoch, 1])
        size, found = self.options.batch_size, []
        for types, edges in self.edges.items():
            order = torch.from_numpy(rng.permutation(len(edges))).to(self.device)
            found += [(types, rows) for rows in torch.split(order, size)]
        for k in rng.permutation(len(found)):
            yield found[k]

    def loss(self, types: EdgeType, rows: Tensor) -> Tensor:
        """Return the mean loss of a batch over all positions; each of them is asked for."""
        nodes = self.edges[types][rows]
        context = self.products.evidence.context_position(types)
        total, asked = self.products.evidence.weights.new_zeros(()), 0
        of_context = None
        for p in range(len(types)):
            loss = self._position_loss(types, rows, nodes, p)
            if p == context:
                of_context = loss
            else:
                total, asked = total + loss, asked + 1
        total = total / max(asked, 1)
        return total if of_context is None else total + of_context

    def _position_loss(self, types: EdgeType, rows: Tensor, nodes: Tensor, p: int) -> Tensor:
        products, context = self.products, self.products.evidence.context_position(types)
        target = nodes[:, p]
        z, _ = products.question(nodes, types, p, self.options.dropout)
        every = products.candidates(types, p)
        where, answers = self.answers[types, p].of_edges(rows)
        chosen, column, correction = self._candidates(types, p, target)
        logits = z @ (every if chosen is None else every[chosen]).T
        if p != context:
            logits = logits + products.evidence.of_candidates(
                nodes, types, p, column, logits.shape[1], (where, answers)
            )
        own = column[target]
        if p == context:  # other contexts that are known are no rivals
            other = answers != target[where]
            logits = logits.index_put(
                (where[other], column[answers[other]]), logits.new_tensor(-1e30)
            )
            return torch.nn.functional.cross_entropy(logits, own)
        place = column[answers]
        where, place = where[place >= 0], place[place >= 0]
        count = torch.bincount(where, minlength=len(nodes)).clamp(min=1)
        spread = logits.new_zeros(len(nodes)).index_add(0, where, logits[where, place]) / count
        hit = logits.gather(1, own[:, None])[:, 0]
        if correction is not None:
            corrected = (logits - correction).scatter(1, own[:, None], hit[:, None])
            return (torch.logsumexp(corrected, 1) - (hit + spread) / 2).mean()
        return (torch.logsumexp(logits, 1) - (hit + spread) / 2).mean()

    def _candidates(
        self, types: EdgeType, p: int, target: Tensor
    ) -> tuple[Tensor | None, Tensor, Tensor | None]:
        """Return (candidates or None for all, each node's column, log π or None)."""
        n, s = self.products.sizes[types[p]], self.options.candidates
        if not s or n <= 2 * (s + len(target)):
            return None, torch.arange(n, device=self.device), None
        taken = torch.zeros(n, dtype=torch.bool, device=self.device)
        taken[torch.randint(n, (s,), device=self.device)] = True
        taken[target] = True
        chosen = torch.nonzero(taken)[:, 0]
        column = torch.full((n,), -1, dtype=torch.int64, device=self.device)
        column[chosen] = torch.arange(len(chosen), device=self.device)
        share = self.shares[types, p][chosen]
        missed = (1 - 1 / n) ** s * (1 - share) ** len(target)
        return chosen, column, torch.log1p(-missed)
