"""Set-up: the seconds from a network to the first batch, part by part.

Power-law networks of 10^6 and 10^7 hyperedges over a tenth as many nodes, with the defaults of
``DHNE()`` and with the preset ``plus`` (without products). ``--large`` adds 10^8 hyperedges on a
GPU, the default alone, which may take at most 60 s. The parts are the adjacency, the sorted keys of
known hyperedges, the model with its initial values, the counts of evidence, the hyperedges on the
device with what is the same in every epoch, and the optimizer's state; "rest" is everything else.
The peaks are those of set-up alone: on a GPU torch's own count, in main memory the process's peak
minus its memory with the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from time import perf_counter
from typing import Any
from unittest.mock import patch

import torch

from benchmarks._measure import Timer, in_process
from benchmarks._options import devices, large
from benchmarks._table import Row
from benchmarks._training import device_peak_mb, trainer_for, wait_for, warm_up
from benchmarks.scale import network_of
from dhne.evaluation.peak_memory import peak_mb, reset_peak
from dhne.training.assembly import Blueprint
from dhne.training.batches import BatchMaker
from dhne.training.optimizers import Optimizer

SIZES, LARGE = (10**6, 10**7), 10**8
LIMIT = 60.0  # seconds, at the largest size
PRESETS: dict[str, dict[str, Any]] = {"default": {}, "plus": {"preset": "plus", "products": False}}
PARTS = {
    "adjacency": (Blueprint, "whole_adjacency"),
    "keys": (Blueprint, "known"),
    "evidence": (Blueprint, "evidence"),
    "model": (Blueprint, "build_drawn"),
    "hyperedges": (BatchMaker, "positives"),
    "optimizer": (Optimizer, "__init__"),
}


def run(quick: bool) -> list[Row]:
    rows = []
    for device in devices():
        sizes = (2000,) if quick else SIZES + (LARGE,) * (device == "cuda" and large())
        for edges in sizes:
            for preset in PRESETS if edges != LARGE else ("default",):
                found = in_process(__name__, "measure", edges, device, preset, here=quick).value
                limit = LIMIT if edges == LARGE else None
                met = {} if limit is None else {"limit s": limit, "met": found["set-up s"] <= limit}
                start = {"device": device, "hyperedges": edges, "preset": preset}
                rows.append({**start, **found, **met})
    return rows


def measure(timer: Timer, edges: int, device: str, preset: str) -> dict[str, Any]:
    """Generate a network and prepare training."""
    warm_up(device)
    network = network_of(edges)
    reset_peak()
    before = peak_mb()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    parts: dict[str, float] = {}
    with timer, _timed(device, parts):
        start = perf_counter()
        wait_for(trainer_for(network, device=device, **PRESETS[preset]))
        total = perf_counter() - start
    gpu = device_peak_mb(device)
    return {
        "set-up s": total,
        **{f"{name} s": parts.get(name, 0.0) for name in PARTS},
        "rest s": total - sum(parts.values()),
        "peak GiB": (peak_mb() - before) / 1024,
        "peak GPU GiB": None if gpu is None else gpu / 1024,
    }


@contextmanager
def _timed(device: str, parts: dict[str, float]) -> Iterator[None]:
    """Add up the seconds of each part, waiting for the device after it."""

    def timed(name: str, part: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(part)
        def run_part(*arguments: Any, **others: Any) -> Any:
            start = perf_counter()
            found = part(*arguments, **others)
            if device == "cuda":
                torch.cuda.synchronize()
            parts[name] = parts.get(name, 0.0) + perf_counter() - start
            return found

        return run_part

    with ExitStack() as stack:
        for name, (owner, method) in PARTS.items():
            whole = timed(name, getattr(owner, method))
            stack.enter_context(patch.object(owner, method, whole))
        yield
