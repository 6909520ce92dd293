"""The released code's formulation of a training step, in torch: the reference for ratios.

For a batch of 16 hyperedges and 5 negatives each, every node's sparse adjacency row is turned into
a dense one, A ∈ R^{96 × n} for each position, and

    X = tanh(A W + b),   Â = sigmoid(X V + c),   L2 = mean(sign(A) ⊙ (A − Â)²)  over all n columns,
    S = sigmoid(w · tanh(U [X_1 … X_N] + b) + c),   loss = cross-entropy(S) + Σ_p L2_p,

is minimised by RMSprop at a rate of .01, updating all parameters in every step. A step costs O(n).
Negatives come from the library's own sampler, so that only the formulation differs.
"""

from __future__ import annotations

from functools import cache
from math import ceil
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks._data import load
from benchmarks._measure import Timer, in_process
from dhne.adjacency import adjacency
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, NegativeSampler

BATCH, NEGATIVES, DIM, RATE = 16, 5, 64, 0.01


class DenseModel(nn.Module):
    """One encoder and decoder per position, and a hidden layer over their embeddings."""

    def __init__(self, columns: list[int], dim: int = DIM) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(nn.Linear(n, dim) for n in columns)
        self.decoders = nn.ModuleList(nn.Linear(dim, n) for n in columns)
        self.hidden = nn.Linear(dim * len(columns), dim * len(columns))
        self.output = nn.Linear(dim * len(columns), 1)

    def loss(self, rows: list[Tensor], target: Tensor) -> Tensor:
        x = [torch.tanh(encode(a)) for encode, a in zip(self.encoders, rows, strict=True)]
        second = torch.zeros((), device=target.device)
        for decode, a, embedded in zip(self.decoders, rows, x, strict=True):
            fitted = torch.sigmoid(decode(embedded))
            second = second + (torch.sign(a) * (a - fitted) ** 2).mean()
        logits = self.output(torch.tanh(self.hidden(torch.cat(x, dim=1))))[:, 0]
        return functional.binary_cross_entropy_with_logits(logits, target) + second


class DenseTraining:
    """Steps of the dense formulation over the hyperedges of a network of one edge type."""

    def __init__(self, network: HyperNetwork, device: str) -> None:
        self.device, self.types = device, network.edge_set().types
        self.matrices = {t: a.matrix for t, a in adjacency(network, dtype=np.float32).items()}
        self.sampler = NegativeSampler(
            network, KnownEdges(network), per_positive=NEGATIVES, allow_fewer=True
        )
        self.rng = np.random.default_rng(0)
        self.edges = network.edge_set().nodes
        torch.manual_seed(0)
        model = DenseModel([self.matrices[t].shape[1] for t in self.types])
        self.model = model.to(device)
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=RATE, alpha=0.9, eps=1e-7)

    @property
    def steps_per_epoch(self) -> int:
        return ceil(len(self.edges) / BATCH)

    def step(self) -> None:
        edges = self.edges[self.rng.integers(len(self.edges), size=BATCH)]
        tuples = np.concatenate([edges, self.sampler.sample(edges, self.rng).nodes])
        rows = [
            torch.from_numpy(self.matrices[t][tuples[:, p]].toarray()).to(self.device)
            for p, t in enumerate(self.types)
        ]
        target = torch.zeros(len(tuples), device=self.device)
        target[: len(edges)] = 1
        self.optimizer.zero_grad()
        self.model.loss(rows, target).backward()
        self.optimizer.step()
        if self.device == "cuda":
            torch.cuda.synchronize()


class Dense(NamedTuple):
    """The cost of the dense formulation."""

    step: float
    steps_per_epoch: int
    epoch: float
    peak_rss_mb: float


@cache  # once per run: all ratios of a run use the same reference
def dense(name: str, device: str, quick: bool) -> Dense:
    """Time steps of the dense formulation on a dataset, in a separate process."""
    found = in_process(__name__, "measure", name, device, 0.1 if quick else 4.0, here=quick)
    return Dense(**found.value, peak_rss_mb=found.peak_rss_mb)


def measure(timer: Timer, name: str, device: str, seconds: float) -> dict[str, Any]:
    """Return the median step, over at least five steps and about `seconds` seconds."""
    training = DenseTraining(load(name).train, device)
    for _ in range(2):
        training.step()
    times: list[float] = []
    with timer:
        while len(times) < 5 or (sum(times) < seconds and len(times) < 500):
            start = perf_counter()
            training.step()
            times.append(perf_counter() - start)
    step = median(times)
    epoch = step * training.steps_per_epoch
    return {"step": step, "steps_per_epoch": training.steps_per_epoch, "epoch": epoch}
