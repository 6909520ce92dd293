"""What evidence and leave-one-out cost: a step of the preset "plus" takes at most 1.5 plain ones.

Epochs of ``DHNE(preset="plus")`` and of ``DHNE()`` run in turns, in one process, on the same
batches; the seconds are the best of each, over the steps.
"""

from __future__ import annotations

from typing import Any

from benchmarks._data import load, names
from benchmarks._measure import Timer, in_process, side_by_side
from benchmarks._options import devices
from benchmarks._table import Row
from benchmarks._training import run_epoch, trainer_for

LIMIT = 1.5


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for name in names(quick):
        for device in devices():
            repeats = 2 if quick else 5
            found = in_process(__name__, "measure", name, device, repeats, here=quick).value
            ratio = found["plus"] / found["plain"]
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


def measure(timer: Timer, name: str, device: str, repeats: int) -> dict[str, Any]:
    """Return the seconds of a step, plain and plus."""
    network = load(name).train
    plain = trainer_for(network, device=device)
    plus = trainer_for(network, device=device, preset="plus", batch_size=plain.settings.batch_size)
    for trainer in (plain, plus):
        run_epoch(trainer)
    with timer:
        seconds = side_by_side(lambda: run_epoch(plain), lambda: run_epoch(plus), repeats=repeats)
    steps = plain.maker.num_batches
    return {"plain": seconds[0] / steps, "plus": seconds[1] / steps}
