"""What each worker of a test does: ``python -m tests.training.divided_work FOLDER``.

The first leaves whole weights and losses of every case in FOLDER, every worker digests of its
dense weights and of its first batches, and the bytes that it holds. One more case is interrupted,
with 4 workers and with 2, and finished by 1.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dhne.answers import scorer
from dhne.datasets import power_law
from dhne.hyperparameters.presets import resolve_settings
from dhne.kernels import get_kernels
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary
from dhne.storage import ShardCheckpoints
from dhne.training.assembly import Blueprint
from dhne.training.divided import DividedTrainer, prepare_divided
from dhne.workers import Group, join

ROOT = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu")
TRIPLES = power_law(600, nodes=(150, 80, 20), clusters=4, seed=0)


def mixed() -> HyperNetwork:
    """Sets of 2 to 5 nodes, ordered pairs, and a single triple, fewer than there are workers."""
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 70, (60, 2)), axis=0)
    edge_sets = [
        EdgeSet.build(("person", "topic"), pairs),
        EdgeSet.build(("person", "topic", "year"), np.array([[1, 1, 0]])),
    ]
    for n in (2, 3, 5):
        rows = np.array([rng.permutation(90)[:n] for _ in range(40)])
        edge_sets.append(EdgeSet.build(("person",) * n, rows, ordered=False))
    sizes = {"person": 90, "topic": 70, "year": 2}
    names = {t: Vocabulary.of_size(n, node_type=t) for t, n in sizes.items()}
    return HyperNetwork(names, edge_sets)


def dense() -> HyperNetwork:
    """Nearly every pair is a hyperedge, so most negatives are chosen from a list."""
    pairs = np.stack(np.divmod(np.arange(49), 7), axis=1)
    return HyperNetwork.from_arrays({("person", "topic"): pairs[pairs.sum(axis=1) % 11 != 4]})


NETWORKS = {"mixed": mixed, "dense": dense}

CASES: dict[str, dict[str, Any]] = {
    "default": {"kernels": "cpu", "averaging": 1.0},
    "plus": {"preset": "plus", "kernels": "cpu", "validation": 0.1},
    "layers": {"kernels": "reference", "encoder_layers": (12,), "optimizer": "rmsprop"},
    "dense": {"kernels": "reference", "network": "dense", "epochs": 6},
    "mixed": {"preset": "plus", "kernels": "reference", "network": "mixed"},
    # Adam would divide rounding errors by themselves where a gradient is nearly 0.
    "step": {
        "kernels": "reference",
        "optimizer": "sgd",
        "dtype": "float32",
        "batch_size": 600,
        "epochs": 1,
    },
}


def blueprint(case: dict[str, Any]) -> Blueprint:
    """Return the blueprint of a case; rows are not sampled, as workers do not."""
    network = NETWORKS[case["network"]]() if "network" in case else TRIPLES
    given = {"dim": 8, "epochs": 2, "batch_size": 16, "products": False, **case, "row_sample": 0}
    settings = resolve_settings(case.get("preset"), given)
    dtype = getattr(torch, case.get("dtype", "float64"))
    return Blueprint.of(network, settings, seed=3, dtype=dtype)


def part(name: str, group: Group, **options: Any) -> DividedTrainer:
    """Return a worker's part of the training of a case."""
    case = CASES[name]
    kernels = get_kernels(case["kernels"], CPU)
    return prepare_divided(blueprint(case), group, kernels, CPU, seed=3, **options)


class Interrupted(Exception):  # noqa: N818 - nothing is wrong
    """A training was stopped on purpose."""


def interrupt(trainer: DividedTrainer, step: int) -> None:
    """Have a training stop after so many steps."""
    go_on = trainer._after_batch

    def after_batch(number: int) -> None:
        go_on(number)
        if trainer.optimizer.steps == step:
            raise Interrupted

    trainer._after_batch = after_batch  # type: ignore[method-assign]


STOPS = {4: 20, 2: 58}  # by the number of workers: within the first epoch, and the second


def go_on_with(group: Group, folder: Path) -> None:
    """Go on with the interrupted case, up to where this number of workers stops."""
    shards = ShardCheckpoints(folder / "checkpoints")
    trainer = part("default", group, shards=shards, checkpoint_seconds=0)
    if group.size in STOPS:
        interrupt(trainer, STOPS[group.size])
    try:
        trainer.run()
    except Interrupted:
        return
    keep(trainer, folder / "interrupted.npz")


def keep(trainer: DividedTrainer, file: Path) -> None:
    """Leave whole weights and losses in a file, from the first worker."""
    weights = {k: v.numpy() for k, v in trainer.whole_weights().items()}
    if weights:
        losses = [r["loss"] for r in trainer.progress.history]
        np.savez(file, losses=np.array(losses), **weights)


def dense_digest(trainer: DividedTrainer) -> str:
    """Return a digest of the weights that every worker has, and of their moments."""
    found = hashlib.sha256()
    for key, tensor in sorted(trainer._state().items()):
        if trainer._part_of(key) is None:
            found.update(key.encode() + tensor.contiguous().numpy().tobytes())
    return found.hexdigest()


def batches_digest(trainer: DividedTrainer) -> str:
    """Return a digest of the tuples of the first epoch, negatives included."""
    found = hashlib.sha256()
    for inputs in trainer.maker.epoch(3, 0):
        for group in inputs.groups:
            found.update(group.tuples.numpy().tobytes() + group.valid.numpy().tobytes())
        for family in inputs.families:
            found.update(family.nodes.numpy().tobytes() + family.valid.numpy().tobytes())
    return found.hexdigest()


def held_bytes(trainer: DividedTrainer) -> dict[str, int]:
    """Return the bytes of what a worker keeps for training, by what it is."""
    maker = trainer.maker
    forms = [*maker._edges.values(), *(f for family in maker._families for f in family.forms)]
    known = maker.drawer._sampler.known
    rows = [row.adjacency.matrix for row in trainer.rows.values()]
    return {
        "hyperedges": sum(x.nbytes for f in forms for x in (f.nodes, f.weights, f.counts, f.taken)),
        "keys": sum(known.index(t).keys.nbytes for t in known.edge_types),
        "adjacency": sum(m.data.nbytes + m.indices.nbytes for m in rows),
        "tables": sum(t.nbytes for t in trainer.model.tables()),
    }


def work(folder: Path) -> None:
    """Do everything, as one worker; embeddings of all nodes are made in many small pieces."""
    scorer._ROWS, scorer._NON_ZEROS = 16, 64
    group = join("cpu")
    assert group is not None
    found: dict[str, dict[str, Any]] = {}
    for name in CASES:
        trainer = part(name, group)
        found[name] = {"batches": batches_digest(trainer), "held": held_bytes(trainer)}
        trainer.run()
        keep(trainer, folder / f"{name}-{group.size}.npz")
        found[name]["dense"] = dense_digest(trainer)
    (folder / f"found-{group.size}-{group.rank}.json").write_text(json.dumps(found))
    go_on_with(group, folder)


def environment(rank: int, size: int, port: int) -> dict[str, str]:
    """Return what torchrun tells a worker."""
    mine = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size}
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return {**os.environ, **{k: str(v) for k, v in mine.items()}, **address, **threads}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def start(size: int, *command: str) -> list[subprocess.Popen[str]]:
    """Start so many workers with a command."""
    port = free_port()
    return [
        subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment(rank, size, port),
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


if __name__ == "__main__":
    work(Path(sys.argv[1]))
