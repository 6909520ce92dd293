"""Several workers: equal losses, the data they send, and the memory of each.

``workers``: 1, 2 and 4 processes over gloo train a power-law network, each with its columns of the
tables. The losses of their first steps are compared with those of one worker (float64), and the
bytes that a step sums over workers with the formula

    2 d Σ_t (distinct nodes of type t) + dense weights + 2   numbers,

of which a worker sends 2 (W − 1) / W times as many in a ring. Drawing batches sums another
8 N + 4 bytes (8 N + 8 in float64) per hyperedge, for its nodes and weight, and one byte per draw of
a negative. Memory is a process's peak minus its memory before the network was created. The tables,
the adjacency, the hyperedges on the device and the keys of known ones fall as 1/W; each worker's
copy of the network, and the batch, do not. Workers that share one GPU use gloo instead of NCCL.

``a rank of eight``: one process acts as the first of eight workers, without the others (torch's
``fake`` process group): its memory and compute time are real, its results are not. In place of the
others' hyperedges it visits its own, which are every eighth of all. On a GPU, also
one worker over NCCL, whose sums are part of the recorded step. ``--huge`` adds the rank of eight of
10^9 hyperedges over 10^8 nodes on a GPU (`benchmarks._drawn` has the network). In its set-up these
go through the whole network, all in chunks: the check that all weights are 1 (on the host), the
entries of each node type and the keys of known hyperedges (four passes, host to device), and the
copy of every eighth hyperedge (on the host). Everything else has the size of the rank's share.

``computed``: not measured. t(W) = c / W + r + 2 (W − 1) / W · bytes / bandwidth, with c and r
fitted to the two measured steps above. The speed of gloo on two cores says nothing about a real
interconnect.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import torch
import torch.distributed as dist

from benchmarks._drawn import drawn_network
from benchmarks._measure import Timer, in_process
from benchmarks._options import devices, huge, large
from benchmarks._table import Row
from benchmarks._training import device_peak_mb, stepper, trainer_for, wait_for
from benchmarks.scale import network_of
from dhne.evaluation.peak_memory import peak_mb, reset_peak
from dhne.kernels import Table
from dhne.training.columns import Shards
from dhne.training.divided import DividedTrainer
from dhne.training.divided_batches import PositivesPart
from dhne.training.loop import Trainer
from dhne.workers import rank

ROOT = Path(__file__).resolve().parents[1]
BANDWIDTHS = {"NVLink": 450e9, "InfiniBand": 50e9, "Ethernet": 3e9}  # bytes per second and worker
RANKS = 8
HUGE = 10**9


def run(quick: bool) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {"workers": [], "a rank of eight": [], "computed": []}
    losses: dict[str, list[float]] = {}
    for device in devices():
        edges = 2000 if quick else 100_000
        for size in (1, 2) if quick else (1, 2, 4):
            tables["workers"].append(_workers(device, size, edges, 4 if quick else 20, losses))
        edges = 2000 if quick else _most_edges(device)
        rows = [_one(device, edges, kind, quick) for kind in _kinds(device)]
        tables["a rank of eight"] += rows
        tables["computed"] += _computed(rows)
        if huge() and (quick or device == "cuda"):
            edges = 3000 if quick else HUGE
            tables["a rank of eight"].append(_one(device, edges, "fake", quick, drawn=True))
    return tables


def _most_edges(device: str) -> int:
    if device == "cpu":
        return 10**6
    return 10**8 if large() else 10**7


def _kinds(device: str) -> list[str]:
    return ["alone", "fake"] if device == "cpu" else ["alone", "nccl", "fake"]


# -- groups over gloo ------------------------------------------------------------------------------


def _workers(device: str, size: int, edges: int, steps: int, losses: dict[str, list[float]]) -> Row:
    with TemporaryDirectory() as folder:
        command = ["torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
        given = ["-m", "benchmarks.distributed", device, str(edges), str(steps), folder]
        subprocess.run([sys.executable, "-m", *command, *given], cwd=ROOT, check=True)
        found = [json.loads((Path(folder) / str(rank)).read_text()) for rank in range(size)]
    first = found[0]
    expected = losses.setdefault(device, first["losses"])  # those of one worker, which runs first
    apart = max(abs(a - b) / abs(b) for a, b in zip(first["losses"], expected, strict=True))
    summed = first["summed"]
    return {
        "device": device,
        "workers": size,
        "hyperedges": edges,
        "losses differ by": f"{apart:.0e}",
        "limit": "1e-12",
        "summed MB per step": summed / 1e6,
        "formula MB": first["formula"] / 1e6 if size > 1 else 0.0,
        "sent MB per worker and step": 2 * (size - 1) / size * summed / 1e6,
        "summed B per drawn hyperedge": first["drawn"],
        "tables MB per worker": max(f["tables_mb"] for f in found),
        "adjacency MB per worker": max(f["adjacency_mb"] for f in found),
        "hyperedges and keys MB per worker": max(f["edges_mb"] for f in found),
        "peak MB per worker": max(f["memory_mb"] for f in found),
        "met": apart <= 1e-12 and (size == 1 or summed == first["formula"]),
    }


def work(device: str, edges: int, steps: int) -> dict[str, Any]:
    """Act as one worker: prepare, run some steps, and return their measurements."""
    reset_peak()
    before = peak_mb()
    network = network_of(edges)
    trainer = trainer_for(network, device=device, dtype="float64", kernels=device)
    assert isinstance(trainer, DividedTrainer)
    step, losses, formula, group = stepper(trainer), [], 0, trainer.group
    group.summed_bytes = stepped = 0
    for inputs in islice(trainer.maker.epoch(0, 0), steps):
        before_step = group.summed_bytes
        losses.append(float(step(inputs).sum()))  # type: ignore[arg-type]
        stepped += group.summed_bytes - before_step
        formula += _formula(trainer, inputs)
    gpu = device_peak_mb(device)
    return {
        "losses": losses,
        "summed": stepped / steps,
        "formula": formula / steps,
        "drawn": (group.summed_bytes - stepped) / edges,  # all are drawn before the first step
        "tables_mb": _tables_mb(trainer),
        "adjacency_mb": _adjacency_mb(trainer),
        "edges_mb": _edges_mb(trainer),
        "memory_mb": peak_mb() - before if gpu is None else gpu,
    }


def _formula(trainer: Trainer, inputs: Any) -> int:
    """Return the bytes that a step should sum over workers."""
    (drawn,) = inputs.groups
    numbers = 2
    for position, t in enumerate(drawn.types):
        width = trainer.model.autoencoder(t).encoder_table.shape[1]
        every = drawn.tuples[:, position], trainer.maker.network.num_nodes(t)
        numbers += 2 * len(trainer.kernels.distinct([every[0]], every[1]).nodes) * width
    numbers += sum(p.numel() for p in trainer.model.parameters() if not isinstance(p, Table))
    return numbers * trainer.maker.dtype.itemsize


def _tables_mb(trainer: Trainer) -> float:
    stepped = trainer.optimizer.stepped.values()
    mine = [s for s in stepped if isinstance(s.parameter, Table)]
    return sum(s.parameter.nbytes * (1 + len(s.moments)) for s in mine) / 2**20


def _adjacency_mb(trainer: Trainer) -> float:
    matrices = trainer.maker.sparse.values()
    return sum(m.indices.nbytes + m.values.nbytes for m in matrices) / 2**20


def _edges_mb(trainer: DividedTrainer) -> float:
    """Return the memory of this worker's hyperedges, and of the keys of those that it knows."""
    held = [e.nodes.nbytes + e.weights.nbytes for e in trainer.maker._edges.values()]
    known = trainer.maker.drawer._sampler.known
    return (sum(held) + sum(known.index(t).nbytes for t in known.edge_types)) / 2**20


# -- one rank --------------------------------------------------------------------------------------


def _one(device: str, edges: int, kind: str, quick: bool, *, drawn: bool = False) -> Row:
    steps = 4 if quick else 20
    found = in_process(__name__, "measure", edges, device, kind, steps, drawn, here=False).value
    workers = RANKS if kind == "fake" else 1
    return {"device": device, "hyperedges": edges, "group": kind, "workers": workers, **found}


def measure(
    timer: Timer, edges: int, device: str, kind: str, steps: int, drawn: bool = False
) -> Row:
    """Prepare the part of one rank and time some of its steps.

    `drawn` draws the network on the device.
    """
    reset_peak()
    before = peak_mb()
    network = drawn_network(edges, device) if drawn else network_of(edges)
    _join(kind)
    start = perf_counter()
    trainer = trainer_for(network, device=device, kernels=device, row_sample=0)
    setup = perf_counter() - start
    if kind == "fake":
        _visit_own_hyperedges(trainer)
    step, inputs = stepper(trainer), list(islice(trainer.maker.epoch(0, 0), steps + 4))
    for given in inputs[:4]:
        step(given)  # type: ignore[arg-type]
    wait_for(trainer)
    with timer:
        for given in inputs[4:]:
            step(given)  # type: ignore[arg-type]
        wait_for(trainer)
    gpu = device_peak_mb(device)
    return {
        "set-up s": setup,
        "step ms": timer.seconds / max(len(inputs) - 4, 1) * 1e3,
        "tables MB": _tables_mb(trainer),
        "peak GiB": (peak_mb() - before) / 1024,
        "peak GPU GiB": None if gpu is None else gpu / 1024,
        "summed MB per step": _formula(trainer, inputs[0]) / 1e6,
    }


def _visit_own_hyperedges(trainer: Trainer) -> None:
    """Have every hyperedge of an epoch be one that this worker has, as the others give nothing."""
    edges = trainer.maker._edges
    for types, part in edges.items():
        assert isinstance(part, PositivesPart)
        edges[types] = replace(part, shards=_Own(0, 1, len(part.nodes)))


@dataclass(frozen=True)
class _Own(Shards):
    """Takes every hyperedge for one of those that this worker has."""

    held: int

    def owns(self, ids: Any) -> Any:
        return ids >= 0

    def local(self, ids: Any) -> Any:
        return ids % self.held


def _join(kind: str) -> None:
    if kind == "fake":
        from torch.testing._internal.distributed.fake_pg import FakeStore

        dist.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())
    elif kind == "nccl":
        torch.cuda.set_device(0)
        store = dist.HashStore()
        dist.init_process_group("cpu:gloo,cuda:nccl", rank=0, world_size=1, store=store)


def _computed(rows: list[Row]) -> list[Row]:
    """Return extrapolated steps per second, from those of one process and of a rank of eight."""
    alone, rank = rows[0]["step ms"], rows[-1]["step ms"]
    divided = max(alone - rank, 0.0) * RANKS / (RANKS - 1)
    replicated = max(alone - divided, 0.0)
    made = []
    for network, bandwidth in BANDWIDTHS.items():
        for workers in (4, 8, 16, 64):
            sent = 2 * (workers - 1) / workers * rows[0]["summed MB per step"] * 1e6
            talk = sent / bandwidth * 1e3
            step = divided / workers + replicated + talk
            made.append(
                {
                    "device": rows[0]["device"],
                    "hyperedges": rows[0]["hyperedges"],
                    "network": network,
                    "workers": workers,
                    "divided ms": divided / workers,
                    "replicated ms": replicated,
                    "sending ms": talk,
                    "computed step ms": step,
                    "computed speed-up": alone / step,
                }
            )
    return made


if __name__ == "__main__":
    found = work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    (Path(sys.argv[4]) / str(rank())).write_text(json.dumps(found))
