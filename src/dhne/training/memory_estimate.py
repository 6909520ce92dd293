"""An estimate of the memory a training needs, before it starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from dhne.errors import MemoryLimitError
from dhne.hyperparameters import Settings
from dhne.model.device_entries import DeviceEntries
from dhne.model.evidence import counted_pairs
from dhne.model.row_encoding import RowEncoding
from dhne.network.hypernetwork import HyperNetwork
from dhne.workers import local_size

from .columns import NUM_SHARDS
from .leave_one_out import MOST_TAKEN
from .optimizers import MOMENTS

_PER_EDGE = 32  # bytes: a key, up to 16 marks for finding it, and the place in an epoch's order


class TrainingBytes(NamedTuple):
    """Bytes needed by training: the part that workers divide, and the part that each needs."""

    divided: float
    own: float

    @property
    def total(self) -> float:
        """The sum of both."""
        return self.divided + self.own

    def workers(self, now: int, free: float) -> int | None:
        """Return how many workers with `free` bytes each would suffice, if `now` are too few.

        None if no number would suffice.
        """
        room = free - self.own
        if room <= 0:
            return None
        enough = max(math.ceil(now * self.divided / room), now + 1)
        return enough if enough <= NUM_SHARDS else None


def training_bytes(
    network: HyperNetwork,
    encodings: Mapping[str, RowEncoding],
    settings: Settings,
    weights: int,
    itemsize: int = 4,
    workers: int = 1,
) -> TrainingBytes:
    """Return an estimate of the bytes that training needs: weights, their state, rows and a batch.

    Divided among workers: the model's `weights` (their number) with one gradient and the
    optimizer's moments, a copy for the best epoch or the mean of the last ones, the adjacency rows,
    and the hyperedges with what leaves each out, their keys and, in a single process, an epoch's
    order and a shuffled copy. Needed by each: the counts of evidence with their hash table, and one
    batch's tuples. `weights` and `encodings` are a worker's own, `network` is the whole.
    """
    copies = 2 + MOMENTS[settings.optimizer] + bool(settings.validation or settings.averaging)
    rows = sum(r.num_entries for r in encodings.values())
    edges = sum(e.nodes.nbytes + e.weights.nbytes for e in network.edge_sets)
    counts = 0.0
    if settings.evidence:  # three counts per pair, and the degrees
        widths = ((e, 3 * len(counted_pairs(e.types)) + e.length) for e in network.edge_sets)
        edges += sum(len(e) * width * itemsize for e, width in widths)
        counts = sum(r.over_all_columns(r.num_entries) for r in encodings.values()) * 46
    members = sum(len(e) * e.length for e in network.edge_sets)
    if settings.leave_one_out:  # one entry per pair of nodes, up to a limit
        longest = max(e.length for e in network.edge_sets)
        edges += members * min(longest - 1, MOST_TAKEN) * itemsize
    # A batch has tuples of all lengths in proportion.
    length = members / max(network.num_edges(), 1)
    width = max(settings.sizes(t)[-1] for t in encodings) * length
    edges = (1 if workers > 1 else 2) * edges + _PER_EDGE * network.num_edges()
    tuples = (settings.batch_size or 1) * (1 + settings.negatives)
    return TrainingBytes(
        weights * copies * itemsize + rows * 12 + edges / workers,
        counts + 6 * tuples * width * itemsize,
    )


def count_weights(build: Callable[[], nn.Module]) -> int:
    """Return the number of a model's weights, without allocating them."""
    try:
        with torch.device("meta"):  # shapes without memory
            numbers: list[int] = [p.numel() for p in build().parameters()]
            return sum(numbers)
    except RuntimeError:  # more than torch can count
        return 2**60


def bytes_on_device(encodings: Mapping[str, RowEncoding]) -> int:
    """Return the bytes of rows that are on a device already."""
    entries = (r.adjacency.entries for r in encodings.values())
    return sum(e.nbytes for e in entries if isinstance(e, DeviceEntries))


@contextmanager
def memory_errors(device: torch.device) -> Iterator[None]:
    """Raise `MemoryLimitError` if a GPU has too little memory for what is built within."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise MemoryLimitError(
            f"the adjacency does not fit in the free memory of {device}; use several workers "
            "(torchrun), device='cpu', or a smaller network"
        ) from None


def check_fits(
    needed: TrainingBytes, device: torch.device, workers: int = 1, *, held: int = 0
) -> None:
    """Raise `MemoryLimitError` if `needed` bytes are not free on the device.

    `workers` is the number of workers; those on the CPUs of one machine share its memory. Of
    what is needed, `held` bytes are on the device already.
    """
    free = _free(device)
    if free is None:
        return
    free += held
    if device.type == "cpu":
        free //= local_size()
    if needed.total <= free:
        return
    enough = needed.workers(workers, free)
    more = "more workers would not help, as each needs "
    more += f"{needed.own / 2**30:.1f} GiB for itself"
    if enough is not None:
        more = f"{enough} workers with this much memory each would suffice (torchrun)"
    raise MemoryLimitError(
        f"training would take about {needed.total / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are "
        f"free on {device}; use a smaller dim or hidden layer, an optimizer with less state "
        f"(sgd), or a smaller network; {more}"
    )


def _free(device: torch.device) -> int | None:
    if device.type == "cuda":  # torch keeps freed memory for later
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + kept
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
