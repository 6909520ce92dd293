"""Training, per dataset and backend: hyperedges per second, milliseconds by part, peak memory.

An epoch is compared with one of the dense formulation in the same run (``dense_reference``): at
least 400 times faster on wordnet, 150 on MovieLens, 100 on drug, 5 on GPS. A step with a batch of
1,024 hyperedges is compared with a dense step with 16: a fifth of it on wordnet; on a GPU, 1 ms.
Everything uses the defaults of ``DHNE()``. Each backend runs in a separate process; for the slow
reference backend a few steps are timed and an epoch is extrapolated. "cpu, whole rows" is the CPU
backend without sampling of long rows in gradients.
"""

from __future__ import annotations

from typing import Any

from benchmarks._data import load, names
from benchmarks._dense import Dense, dense
from benchmarks._measure import Measured, Timer, in_process
from benchmarks._options import devices
from benchmarks._parts import step_parts
from benchmarks._table import Row
from benchmarks._training import device_peak_mb, epoch_seconds, sampled_epoch, trainer_for

FASTER = {"wordnet": 400, "movielens": 150, "drug": 100, "gps": 5}
BATCH = 1024
STEP_RATIO, STEP_MS = {"wordnet": 1 / 5}, {"wordnet": 1.0}  # on the CPU, on the GPU
WHOLE = "cpu, whole rows"
BACKENDS = {"cpu": ("cpu", WHOLE, "reference"), "cuda": ("cuda",)}


def run(quick: bool) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {"epochs": [], "parts": [], "steps": []}
    for name in names(quick):
        for device in devices():
            reference = dense(name, device, quick)
            for backend in BACKENDS[device]:
                found = _measured(name, device, backend, None, quick)
                tables["epochs"].append(_epoch_row(name, backend, found, reference))
                if backend not in ("cpu", "cuda"):
                    continue
                about = {"dataset": name, "backend": backend}
                tables["parts"].append(about | found.value["parts"])
                if found.value["batch"] != BATCH:
                    found = _measured(name, device, backend, BATCH, quick)
                tables["steps"].append(_step_row(name, device, found, reference))
    return tables


def _measured(name: str, device: str, backend: str, batch: int | None, quick: bool) -> Measured:
    return in_process(__name__, "measure", name, device, backend, batch, quick, here=quick)


def _epoch_row(name: str, backend: str, found: Measured, reference: Dense) -> Row:
    ours = found.value
    faster = reference.epoch / ours["epoch"]
    target = FASTER.get(name) if backend == "cpu" else None
    return {
        "dataset": name,
        "backend": backend,
        "batch": ours["batch"],
        "hyperedges/s": ours["edges"] / ours["epoch"],
        "step ms": ours["epoch"] / ours["steps"] * 1e3,
        "epoch s": ours["epoch"],
        "dense epoch s": reference.epoch,
        "times faster": faster,
        "target": target,
        "met": None if target is None else faster >= target,
        "peak MiB": found.peak_rss_mb,
        "peak GPU MiB": ours["gpu_mb"],
    }


def _step_row(name: str, device: str, found: Measured, reference: Dense) -> Row:
    ours = found.value
    step = ours["epoch"] / ours["steps"]
    ratio = step / reference.step
    row = {
        "dataset": name,
        "device": device,
        "batch": ours["batch"],
        "step ms": step * 1e3,
        "dense step ms": reference.step * 1e3,
        "ratio": ratio,
    }
    if device == "cpu":
        target = STEP_RATIO.get(name)
        return row | {"target": target, "met": None if target is None else ratio <= target}
    limit = STEP_MS.get(name)
    return row | {"target ms": limit, "met": None if limit is None else step * 1e3 <= limit}


def measure(
    timer: Timer, name: str, device: str, backend: str, batch: int | None, quick: bool
) -> dict[str, Any]:
    """Train on a dataset for a few epochs and return the cost of one."""
    network = load(name).train
    params: dict[str, Any] = {"device": device, "batch_size": batch, "kernels": backend}
    if backend == WHOLE:
        params |= {"kernels": "cpu", "row_sample": 0}
    trainer = trainer_for(network, **params)
    parts = {}
    with timer:
        if backend == "reference":
            seconds = sampled_epoch(trainer, 3).epoch
        else:
            seconds = epoch_seconds(trainer, seconds=0.2 if quick else 2.0)
            parts = step_parts(trainer) if backend != WHOLE else {}
    return {
        "batch": trainer.settings.batch_size,
        "edges": network.num_edges(),
        "steps": trainer.maker.num_batches,
        "epoch": seconds,
        "parts": parts,
        "gpu_mb": device_peak_mb(device),
    }
