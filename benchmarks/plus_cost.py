"""The cost of evidence and leave-one-out: a "plus" step takes at most 1.5 times a plain one.

Epochs of ``DHNE(preset="plus")`` and of ``DHNE()`` run in turns, in one process, on the same
batches. Each turn gives a ratio, so that both run under the same conditions; the table has the
median of the turns.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks._data import load, names
from benchmarks._measure import Timer, in_process
from benchmarks._options import devices
from benchmarks._table import Row
from benchmarks._training import run_epoch, trainer_for

LIMIT = 1.5


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for name in names(quick):
        for device in devices():
            turns = 2 if quick else 9
            found = in_process(__name__, "measure", name, device, turns, here=quick).value
            ratio = found["ratio"]
            rows.append(
                {
                    "dataset": name,
                    "device": device,
                    "plain step ms": found["plain"] * 1e3,
                    "plus step ms": found["plus"] * 1e3,
                    "ratio": ratio,
                    "limit": LIMIT,
                    "met": ratio <= LIMIT,
                }
            )
    return rows


def measure(timer: Timer, name: str, device: str, turns: int) -> dict[str, Any]:
    """Return the seconds per step, plain and plus, and their ratio."""
    network = load(name).train
    plain = trainer_for(network, device=device)
    plus = trainer_for(network, device=device, preset="plus", batch_size=plain.settings.batch_size)
    for trainer in (plain, plus):
        run_epoch(trainer)
    with timer:
        seconds = [(run_epoch(plain), run_epoch(plus)) for _ in range(turns)]
    steps = plain.maker.num_batches
    return {
        "plain": median(a for a, _ in seconds) / steps,
        "plus": median(b for _, b in seconds) / steps,
        "ratio": median(b / a for a, b in seconds),
    }
