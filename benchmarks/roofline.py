"""The bytes a wordnet step must move, and the bandwidth a GPU reaches: at most 3 times the floor.

For a batch of B hyperedges and T = 6 B tuples, node type t has b distinct nodes in it, whose rows
have z non-zeros in k distinct columns. With d numbers an embedding, h in the hidden layer, 4 bytes
a number and 8 for a non-zero's column and value, a step moves at least, summed over the types,

    encode             z (4d + 8) + 4bd       a row of W for each non-zero; X out
    its gradient       z (4d + 8) + 4bd       the same, the other way round
    decode, loss       z (4d + 8) + 4bd       a row of V for each non-zero; X in
    gradients in X, V  2 z (4d + 8) + 8bd     one pass each
    similarity         8 · 4 T h              N = 3 rows a tuple and L, forward and back
    optimizer          28 k (2d + 1)          W, V and c where touched: p, m, v in and out, g in

The floor is their sum over the bandwidth of a large copy on the same card. `dense Adam` is what an
optimizer would move that steps over every row. Steps are timed as training runs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._data import load, names
from benchmarks._measure import Timer, in_process
from benchmarks._options import LeftOut, need_cuda
from benchmarks._table import Row
from benchmarks._training import sampled_epoch, trainer_for
from dhne.training import Trainer

BATCH, LIMIT = 1024, 3.0


def run(quick: bool) -> dict[str, list[Row]]:
    need_cuda()
    here = names(quick)
    if not quick and "wordnet" not in here:
        raise LeftOut("wordnet is not here; name its directory in DHNE_DATA")
    name = here[0] if quick else "wordnet"
    found = in_process(__name__, "measure", name, "cuda", here=quick).value
    return {"bytes": bytes_rows(found), "bandwidth": [bandwidth_row(name, found)]}


def bytes_rows(found: dict[str, Any]) -> list[Row]:
    """A row for each part of a step."""
    moved = {**found["bytes"], "all": sum(found["bytes"].values())}
    rows: list[Row] = [
        {"part": part, "MB": b / 1e6, "ms at a copy's bandwidth": b / found["bandwidth"] * 1e3}
        for part, b in moved.items()
    ]
    return [*rows, {"part": "(dense Adam)", "MB": found["dense_adam"] / 1e6}]


def bandwidth_row(name: str, found: dict[str, Any]) -> Row:
    """What was reached."""
    total = sum(found["bytes"].values())
    floor = total / found["bandwidth"]
    return {
        "dataset": name,
        "batch": BATCH,
        "step ms": found["step"] * 1e3,
        "with negatives ms": found["with_negatives"] * 1e3,
        "floor ms": floor * 1e3,
        "times the floor": found["step"] / floor,
        "limit": LIMIT,
        "GB/s reached": total / found["step"] / 1e9,
        "GB/s of a copy": found["bandwidth"] / 1e9,
        "met": found["step"] / floor <= LIMIT,
    }


def measure(timer: Timer, name: str, device: str) -> dict[str, Any]:
    """Time steps at the benchmark's batch size and count what they must move."""
    network = load(name).train
    trainer = trainer_for(network, device=device, batch_size=BATCH)
    with timer:
        cost = sampled_epoch(trainer, 100)
    tables = sum(p.numel() for p in trainer.model.tables())
    return {
        "bytes": step_bytes(trainer),
        "dense_adam": 28 * tables,
        "step": cost.step,
        "with_negatives": cost.epoch / cost.num_batches,
        "bandwidth": copy_bandwidth(device),
    }


def step_bytes(trainer: Trainer) -> dict[str, int]:
    """Return the formulas' bytes for the first batch of an epoch."""
    inputs = next(iter(trainer.maker.epoch(trainer.seed, 0)))
    nodes, negatives = inputs[0], inputs[2]  # as `BatchMaker.assemble` takes them
    edges = trainer.maker.network.edge_set()
    tuples = np.concatenate([nodes.cpu().numpy(), negatives.cpu().numpy()])
    d = trainer.settings.sizes(edges.types[0])[0]
    h = trainer.model.similarity(edges.types).hidden_bias.shape[0]
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


def copy_bandwidth(device: str) -> float:
    """Return the bytes a second that a large copy reads and writes."""
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
