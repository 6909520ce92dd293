"""Seconds a batch of training takes, as the network grows.

A network of n nodes (three types, n/3 each) with power-law degrees and five hyperedges a node, a
hundred thousand at most, is generated. The method is fitted for one epoch and for three, with the
same batch size and without validation. The difference, over the batches of two epochs, is free of
what happens once: building the adjacency, compiling kernels.
"""

from __future__ import annotations

from math import ceil
from time import perf_counter

from dhne.datasets import power_law
from dhne.evaluation import Record, SeedResult
from dhne.evaluation.memory import peak_mb, reset_peak
from dhne.evaluation.methods import make_method
from dhne.evaluation.results import environment, plain
from dhne.network import HyperNetwork

from .jobs import Job

BATCH = 512
EDGES_PER_NODE = 5
_MOST_EDGES = 100_000  # an epoch of a part of the hyperedges is enough to time a batch


def training_time(job: Job) -> Record:
    """Return the record of a timing job: metrics ``nodes`` and ``seconds_per_batch``."""
    assert job.nodes is not None
    network = generated(job.nodes, job.seed)
    reset_peak()
    _fit(job, network, epochs=1)  # compiles what is compiled
    one, three = _fit(job, network, epochs=1), _fit(job, network, epochs=3)
    batches = ceil(network.num_edges() / BATCH)
    metrics = {
        "nodes": float(network.num_nodes()),
        "seconds_per_batch": max(three - one, 0.0) / (2 * batches),
    }
    seconds = {"fit": one + three, "evaluate": 0.0}
    config = {"batch_size": BATCH, "edges": network.num_edges()} | environment()
    result = SeedResult(job.seed, metrics, seconds, peak_mb())
    return Record(job.task, job.dataset, job.protocol, job.method, (result,), plain(config))


def generated(nodes: int, seed: int) -> HyperNetwork:
    """Return the network whose training is timed."""
    each = max(nodes // 3, 2)
    edges = min(EDGES_PER_NODE * nodes, _MOST_EDGES)
    return power_law(edges, (each, each, each), clusters=min(20, each), seed=seed)


def _fit(job: Job, network: HyperNetwork, epochs: int) -> float:
    settings = {"epochs": epochs, "batch_size": BATCH, "validation": 0.0, **dict(job.params)}
    method = make_method(
        job.method, seed=job.seed, dim=job.dim, device=job.device, settings=settings
    )
    start = perf_counter()
    method.fit(network)
    return perf_counter() - start
