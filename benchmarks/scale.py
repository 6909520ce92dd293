"""Scaling: time and memory per hyperedge stay constant as networks grow.

Power-law networks of 10^5, 10^6 and 10^7 hyperedges over a tenth as many nodes, trained with the
defaults of ``DHNE()``; each in a separate process. From the smallest to the largest, the time per
hyperedge of an epoch may grow by a factor of 1.5 and the memory per hyperedge by 1.2; 10^7
hyperedges fit in 12 GiB. The time is that of drawing a whole epoch and of the first steps, divided
by their hyperedges. The table also shows the work: the number of non-zeros in the rows of a batch's
distinct nodes, and the minimum that a step must move, namely one row of W per non-zero, one row of
V per decoded non-zero, and for the columns touched both rows and their moments, read and written.
Memory is the process's peak (on a GPU, that of the card) minus its memory before the network was
created. ``--large`` adds 10^8 hyperedges over 10^7 nodes on a GPU, if it has enough memory.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from benchmarks._measure import Measured, Timer, in_process
from benchmarks._options import devices, large
from benchmarks._table import Row
from benchmarks._training import device_peak_mb, sampled_epoch, trainer_for, warm_up
from dhne.datasets import power_law
from dhne.evaluation.peak_memory import peak_mb, reset_peak
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.loop import Trainer

SIZES = (10**5, 10**6, 10**7)
LARGE, LARGE_GIB = 10**8, 80
SHARES = (0.6, 0.3, 0.1)  # of the nodes, by type
TIME_LIMIT, MEMORY_LIMIT, LIMIT_GIB = 1.5, 1.2, 12
STEPS = 40


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for device in devices():
        sizes = (2000, 8000) if quick else SIZES + (LARGE,) * _has_room(device)
        smallest = None
        for edges in sizes:
            steps = 20 if quick else STEPS
            found = in_process(__name__, "measure", edges, device, steps, here=quick)
            row = _row(edges, device, found)
            smallest = smallest or row
            rows.append(row | _growth(row, smallest))
    return rows


def _has_room(device: str) -> bool:
    if device != "cuda" or not large():
        return False
    free = torch.cuda.mem_get_info()[0] / 2**30
    if free < LARGE_GIB:
        print(f"  10^8 hyperedges are skipped: {free:.0f} of {LARGE_GIB} GiB are free")
    return free >= LARGE_GIB


def _row(edges: int, device: str, found: Measured) -> Row:
    ours = found.value
    return {
        "device": device,
        "hyperedges": edges,
        "nodes": edges // 10,
        "batch": ours["batch"],
        "set-up s": ours["setup"],
        "epoch s": ours["epoch"],
        "non-zeros per hyperedge": ours["entries"],
        "KiB per hyperedge": ours["kib"],
        "µs per hyperedge": ours["epoch"] / edges * 1e6,
        "bytes per hyperedge": ours["memory_mb"] * 2**20 / edges,
        "peak GiB": found.peak_rss_mb / 1024,
        "peak GPU GiB": None if ours["gpu_mb"] is None else ours["gpu_mb"] / 1024,
    }


def _growth(row: Row, smallest: Row) -> Row:
    if row is smallest:
        return {}
    time = row["µs per hyperedge"] / smallest["µs per hyperedge"]
    memory = row["bytes per hyperedge"] / max(smallest["bytes per hyperedge"], 1)
    fits = row["device"] != "cpu" or row["peak GiB"] <= LIMIT_GIB
    return {
        "time ratio": time,
        "time limit": TIME_LIMIT,
        "memory ratio": memory,
        "memory limit": MEMORY_LIMIT,
        "limit GiB": LIMIT_GIB if row["device"] == "cpu" else None,
        "met": time <= TIME_LIMIT and memory <= MEMORY_LIMIT and fits,
    }


def measure(timer: Timer, edges: int, device: str, steps: int) -> dict[str, Any]:
    """Generate a network, prepare training and run part of an epoch."""
    warm_up(device)
    reset_peak()
    before = peak_mb()
    network = network_of(edges)
    start = perf_counter()
    trainer = trainer_for(network, device=device)
    setup = perf_counter() - start
    with timer:
        cost = sampled_epoch(trainer, steps)
    gpu = device_peak_mb(device)
    memory = peak_mb() - before if gpu is None else gpu
    return {
        "batch": trainer.settings.batch_size,
        "setup": setup,
        "epoch": cost.epoch,
        **work(trainer),
        "memory_mb": memory,
        "gpu_mb": gpu,
    }


def network_of(edges: int) -> HyperNetwork:
    """Return a power-law network of this many hyperedges over a tenth as many nodes."""
    nodes = nodes_of(edges)
    return power_law(edges, nodes, clusters=min(50, *nodes), seed=0)


def nodes_of(edges: int) -> list[int]:
    """Return the number of nodes of each type: a tenth as many in all as hyperedges."""
    return [max(20, int(edges // 10 * share)) for share in SHARES]


def work(trainer: Trainer) -> dict[str, float]:
    """Return the non-zeros that a batch reads and the KiB that it moves, per hyperedge."""
    (drawn,) = next(trainer.maker.epoch(0, 0)).groups
    entries = moved = 0
    for position, node_type in enumerate(trainer.maker.network.node_types):
        nodes = drawn.tuples[:, position].unique()
        matrix = trainer.maker.sparse[node_type]
        degrees = matrix.indptr.diff()[nodes]
        taken = degrees.clamp(max=trainer.maker.row_sample or int(degrees.max()))
        touched = len(matrix.indices[_evenly(matrix.indptr[nodes], degrees, taken)].unique())
        row = trainer.model.autoencoder(node_type).encoder_table[0].nbytes
        entries += int(degrees.sum())
        # one row of W, one of V; of both tables, read and written, with moments
        moved += row * int(degrees.sum() + taken.sum() + 2 * 2 * 3 * touched)
    m = len(drawn.edges)
    return {"entries": entries / m, "kib": moved / m / 1024}


def _evenly(first: Tensor, degrees: Tensor, taken: Tensor) -> Tensor:
    """Return the positions of an even sample of each row's entries."""
    ends = taken.cumsum(0)
    number = torch.arange(int(ends[-1]), device=first.device)
    number -= (ends - taken).repeat_interleave(taken)
    step = (degrees / taken.clamp(min=1)).repeat_interleave(taken)
    return first.repeat_interleave(taken) + (number * step).long()
