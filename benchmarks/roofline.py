"""The bytes a wordnet step must move, and the bandwidth a GPU reaches: at most 3 times the floor.

In a batch of B hyperedges and T = 6 B tuples, node type t has b distinct nodes, whose rows have z
non-zeros in k distinct columns. With embeddings of size d, a hidden layer of size h, 4 bytes per
number and 8 for a non-zero's column and value, a step moves at least, summed over the types,

    encode             z (4d + 8) + 4bd       one row of W per non-zero; X out
    its gradient       z (4d + 8) + 4bd       the same, in reverse
    decode, loss       z (4d + 8) + 4bd       one row of V per non-zero; X in
    gradients in X, V  2 z (4d + 8) + 8bd     one pass each
    similarity         8 · 4 T h              N = 3 rows per tuple and L, forward and back
    optimizer          28 k (2d + 1)          W, V and c where touched: p, m, v in and out, g in

The floor is their sum divided by the bandwidth of a large copy on the same card. The limit of 3
refers to a looser floor: five passes over all non-zeros of all matrices, and Adam over every row
(1.3 GB on wordnet). Steps are timed as they run in training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._data import load, names
from benchmarks._measure import Timer, in_process
from benchmarks._options import LeftOut, need_cuda
from benchmarks._table import Row
from benchmarks._training import sampled_epoch, trainer_for
from dhne.training.loop import Trainer

BATCH, LIMIT = 1024, 3.0


def run(quick: bool) -> dict[str, list[Row]]:
    need_cuda()
    here = names(quick)
    if not quick and "wordnet" not in here:
        raise LeftOut("wordnet was not found; set DHNE_DATA to its directory")
    name = here[0] if quick else "wordnet"
    found = in_process(__name__, "measure", name, "cuda", here=quick).value
    return {"bytes": bytes_rows(found), "bandwidth": bandwidth_rows(name, found)}


def bytes_rows(found: dict[str, Any]) -> list[Row]:
    """One row per part of a step, and the bytes of passes over everything."""
    moved = {**found["bytes"], "all": sum(found["bytes"].values()), **found["everything"]}
    return [
        {"part": part, "MB": b / 1e6, "ms at a copy's bandwidth": b / found["bandwidth"] * 1e3}
        for part, b in moved.items()
    ]


def bandwidth_rows(name: str, found: dict[str, Any]) -> list[Row]:
    """The bandwidth reached, against each floor."""
    rows: list[Row] = []
    floors = {"what the batch touches": found["bytes"], "everything": found["everything"]}
    for what, parts in floors.items():
        moved = sum(parts.values())
        ratio = found["step"] * found["bandwidth"] / moved
        limit = LIMIT if what == "everything" else None
        rows.append(
            {
                "dataset": name,
                "batch": BATCH,
                "step ms": found["step"] * 1e3,
                "with negatives ms": found["with_negatives"] * 1e3,
                "floor": what,
                "floor ms": moved / found["bandwidth"] * 1e3,
                "times the floor": ratio,
                "limit": limit,
                "GB/s reached": moved / found["step"] / 1e9,
                "GB/s of a copy": found["bandwidth"] / 1e9,
                "met": None if limit is None else ratio <= limit,
            }
        )
    return rows


def measure(timer: Timer, name: str, device: str) -> dict[str, Any]:
    """Time steps at the benchmark's batch size and count the bytes they must move."""
    network = load(name).train
    trainer = trainer_for(network, device=device, batch_size=BATCH)
    with timer:
        cost = sampled_epoch(trainer, 100)
    return {
        "bytes": step_bytes(trainer),
        "everything": whole_bytes(trainer),
        "step": cost.step,
        "with_negatives": cost.epoch / cost.num_batches,
        "bandwidth": copy_bandwidth(device),
    }


def step_bytes(trainer: Trainer) -> dict[str, int]:
    """Return the bytes by the formulas for the first batch of an epoch."""
    inputs = next(iter(trainer.maker.epoch(trainer.seed, 0)))
    edges = trainer.maker.network.edge_set()
    tuples = inputs.groups[0].tuples.cpu().numpy()
    d = trainer.settings.sizes(edges.types[0])[0]
    h = trainer.model.similarity(edges.types).width
    rows = non_zeros = touched = 0
    for t in set(edges.types):
        positions = [p for p, other in enumerate(edges.types) if other == t]
        ids = np.unique(tuples[:, positions])
        sparse = trainer.maker.sparse[t]
        indptr, indices = sparse.indptr.cpu().numpy(), sparse.indices.cpu().numpy()
        here = np.zeros(len(indptr) - 1, dtype=bool)
        here[ids] = True
        columns = indices[np.repeat(here, np.diff(indptr))]
        rows, non_zeros = rows + len(ids), non_zeros + len(columns)
        touched += len(np.unique(columns))
    one_pass = non_zeros * (4 * d + 8) + 4 * rows * d
    return {
        "encode": one_pass,
        "its gradient": one_pass,
        "decode, loss": one_pass,
        "gradients in X, V": 2 * one_pass,
        "similarity": 8 * 4 * len(tuples) * h,
        "optimizer": 28 * touched * (2 * d + 1),
    }


def whole_bytes(trainer: Trainer) -> dict[str, int]:
    """Return the bytes of five passes over all non-zeros, and of Adam over every row."""
    non_zeros = sum(len(s.indices) for s in trainer.maker.sparse.values())
    tables = trainer.model.tables()
    d = tables[0].shape[1]
    return {
        "(five passes over all non-zeros)": 5 * non_zeros * (4 * d + 8),
        "(Adam over every row)": 28 * sum(p.numel() for p in tables),
    }


def copy_bandwidth(device: str) -> float:
    """Return the bytes per second that a large copy reads and writes."""
    import torch

    big = torch.zeros(2**28 if device == "cuda" else 2**22, device=device)
    other = torch.empty_like(big)
    for _ in range(3):
        other.copy_(big)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(10):
        other.copy_(big)
    end.record()
    end.synchronize()
    return 10 * 2 * big.nbytes / (begin.elapsed_time(end) / 1e3)
