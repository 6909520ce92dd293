"""How much memory a training will take, said before it is begun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import nn

from dhne.errors import MemoryLimitError
from dhne.hyperparameters import Settings
from dhne.model.evidence import counted_pairs
from dhne.model.row_encoding import RowEncoding
from dhne.network.hypernetwork import HyperNetwork

from .leave_one_out import MOST_TAKEN
from .optimizers import MOMENTS


def training_bytes(
    network: HyperNetwork,
    encodings: Mapping[str, RowEncoding],
    settings: Settings,
    weights: int,
    itemsize: int = 4,
) -> int:
    """Return an estimate of the bytes that training takes: weights, their state, rows and a batch.

    The model's `weights` (how many numbers they are) with one gradient and the optimizer's moments,
    the best epoch's copy where there is validation, the adjacency rows, the counts of evidence with
    their hash table, the hyperedges and what leaves each out, and one batch's tuples.
    """
    copies = 2 + MOMENTS[settings.optimizer] + (1 if settings.validation else 0)
    rows = sum(int(r.adjacency.matrix.nnz) for r in encodings.values())
    entry = 12 + (46 if settings.evidence else 0)
    edges = sum(e.nodes.nbytes + e.weights.nbytes for e in network.edge_sets)
    if settings.evidence:  # three counts per pair, and the degrees
        widths = ((e, 3 * len(counted_pairs(e.types)) + e.length) for e in network.edge_sets)
        edges += sum(len(e) * width * itemsize for e, width in widths)
    if settings.leave_one_out:  # for each node an entry for each other one, up to a bound
        longest = max(e.length for e in network.edge_sets)
        members = sum(len(e) * e.length for e in network.edge_sets)
        edges += members * min(longest - 1, MOST_TAKEN) * itemsize
    # A batch has tuples of every length in their proportion.
    length = sum(len(e) * e.length for e in network.edge_sets) / max(network.num_edges(), 1)
    width = max(settings.sizes(t)[-1] for t in encodings) * length
    tuples = (settings.batch_size or 1) * (1 + settings.negatives)
    batch = int(6 * tuples * width * itemsize)
    return weights * copies * itemsize + rows * entry + 3 * edges + batch


def count_weights(build: Callable[[], nn.Module]) -> int:
    """Return how many numbers a model's weights are, without making them."""
    try:
        with torch.device("meta"):  # shapes without memory
            numbers: list[int] = [p.numel() for p in build().parameters()]
            return sum(numbers)
    except RuntimeError:  # more than torch can count
        return 2**60


def check_fits(needed: int, device: torch.device) -> None:
    """Raise `MemoryLimitError` if `needed` bytes are not free on the device."""
    free = _free(device)
    if free is not None and needed > free:
        raise MemoryLimitError(
            f"training would take about {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are "
            f"free on {device}; use a smaller dim or hidden layer, an optimizer with less state "
            "(sgd), or a smaller network"
        )


def _free(device: torch.device) -> int | None:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
