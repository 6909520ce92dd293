"""Seconds per training batch as the network grows.

The generated network has n nodes (three types, n/3 each), power-law degrees and five hyperedges per
node, at most a hundred thousand. The method is fitted with a fixed batch size and without
validation. Its epochs are timed, except for the first, in which kernels are compiled.
"""

from __future__ import annotations

from math import ceil
from time import perf_counter

from dhne.datasets import power_law
from dhne.estimator import DHNE
from dhne.evaluation import Record, SeedResult
from dhne.evaluation.peak_memory import peak_mb, reset_peak
from dhne.evaluation.results import environment
from dhne.files.plain_json import plain
from dhne.methods import make_method
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.callbacks import Callback, Progress

from .jobs import Job

BATCH = 512
EDGES_PER_NODE = 5
_MOST_EDGES = 100_000  # an epoch over some of the hyperedges is enough to time a batch
_LEAST_BATCHES = 50  # timed ones


class EpochClock(Callback):
    """Times epochs; `seconds` has those after the first."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._ended: float | None = None

    def on_epoch_end(self, progress: Progress) -> None:
        """Record the time since the last epoch ended."""
        now = perf_counter()
        if self._ended is not None:
            self.seconds.append(now - self._ended)
        self._ended = now


def training_time(job: Job) -> Record:
    """Return the record of a timing job: metrics ``nodes`` and ``seconds_per_batch``."""
    assert job.nodes is not None
    network = generated(job.nodes, job.seed)
    batches = ceil(network.num_edges() / BATCH)
    epochs = 1 + ceil(_LEAST_BATCHES / batches)
    settings = {"epochs": epochs, "batch_size": BATCH, "validation": 0.0, **dict(job.params)}
    method = make_method(
        job.method, seed=job.seed, dim=job.dim, device=job.device, settings=settings
    )
    assert isinstance(method, DHNE)
    clock = EpochClock()
    reset_peak()
    start = perf_counter()
    method.fit(network, callbacks=[clock])
    seconds = {"fit": perf_counter() - start, "evaluate": 0.0}
    metrics = {
        "nodes": float(network.num_nodes()),
        "seconds_per_batch": sum(clock.seconds) / len(clock.seconds) / batches,
    }
    config = {"batch_size": BATCH, "edges": network.num_edges()} | environment()
    result = SeedResult(job.seed, metrics, seconds, peak_mb())
    return Record(
        job.task,
        job.dataset,
        job.protocol,
        job.method,
        (result,),
        plain(config, finite=True, other=repr),
    )


def generated(nodes: int, seed: int) -> HyperNetwork:
    """Return the network whose training is timed."""
    each = max(nodes // 3, 2)
    edges = min(EDGES_PER_NODE * nodes, _MOST_EDGES)
    return power_law(edges, (each, each, each), clusters=min(20, each), seed=seed)
