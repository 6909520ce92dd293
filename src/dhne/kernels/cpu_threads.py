"""The threads of compiled kernels: as many as there are cores, one where two do not pay.

Bits depend on how many pieces the work is cut into, not on how many threads do them, so that a
small step is cut like a large one but done by one thread.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numba
import torch

from dhne import threads

__all__ = ["few_threads_for", "num_pieces", "settle"]

FEW = 8192  # nodes named in a step, below which waking a second thread costs more than it saves
_now = threading.local()
_settled = threading.Lock()


def settle() -> None:
    """Make up for a call of `dhne.threads.prepare` that came after numba or torch was loaded."""
    if not _settled.acquire(blocking=False):
        return
    cores = threads.available_cores()
    if "NUMBA_NUM_THREADS" not in os.environ and cores < numba.get_num_threads():
        numba.set_num_threads(cores)
    if "OMP_NUM_THREADS" not in os.environ and cores < torch.get_num_threads():
        torch.set_num_threads(cores)
    if threads.is_too_late and min(cores, torch.get_num_threads()) > 1:
        _crowd()


def _crowd() -> None:
    """Keep a second team of threads, asleep, so that waiting threads sleep soon.

    GNU's runtime lets threads spin only shortly once there are more of them than cores. This is
    for a process that loaded torch before this package, when its settings can no longer be changed.
    """
    begun = threading.Event()

    def hold() -> None:
        torch.ones(2**17).mul_(2)  # long enough for torch to share it out
        begun.set()
        threading.Event().wait()

    threading.Thread(target=hold, name="dhne-crowd", daemon=True).start()
    begun.wait()


def num_pieces() -> int:
    """Return how many pieces kernels cut their work into: one for each thread that may be used."""
    pieces: int | None = getattr(_now, "pieces", None)
    return numba.get_num_threads() if pieces is None else pieces


@contextmanager
def few_threads_for(nodes: int) -> Iterator[None]:
    """Let one thread do all pieces of a step that names few nodes."""
    if nodes >= FEW or getattr(_now, "pieces", None) is not None:
        yield
        return
    _now.pieces = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(_now.pieces)
        _now.pieces = None
