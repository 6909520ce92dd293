"""The cost of "plus": a step takes at most 3 times a plain one, a whole training at most 4 times.

For the steps, epochs of ``DHNE(preset="plus")`` and of ``DHNE()`` run in turns, in one process, on
the same batches. The trainings are whole fits with the defaults of each, in turns too: products, if
the preset has them, are included, with the choice of their weight. Each turn gives a ratio, so that
both run under the same conditions; the tables have the medians.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from benchmarks._data import DATASETS, load, names
from benchmarks._measure import Timer, in_process
from benchmarks._options import devices
from benchmarks._table import Row
from benchmarks._training import run_epoch, trainer_for, warm_up
from dhne import DHNE

STEP_LIMIT, TRAINING_LIMIT = 3.0, 4.0
WHOLE = (*DATASETS, "kinships", "umls")  # products matter most in the last two


def run(quick: bool) -> dict[str, list[Row]]:
    return {
        "step": _rows("step", names(quick), STEP_LIMIT, "ms", turns=2 if quick else 9, quick=quick),
        "training": _rows(
            "training",
            names(quick, WHOLE),
            TRAINING_LIMIT,
            "s",
            turns=1 if quick else 3,
            quick=quick,
        ),
    }


def _rows(
    what: str, datasets: list[str], limit: float, unit: str, *, turns: int, quick: bool
) -> list[Row]:
    rows: list[Row] = []
    for name in datasets:
        for device in devices():
            found = in_process(__name__, what, name, device, turns, here=quick).value
            ratio = found["ratio"]
            scale = 1e3 if unit == "ms" else 1.0
            rows.append(
                {
                    "dataset": name,
                    "device": device,
                    f"plain {what} {unit}": found["plain"] * scale,
                    f"plus {what} {unit}": found["plus"] * scale,
                    "ratio": ratio,
                    "limit": limit,
                    "met": ratio <= limit,
                }
            )
    return rows


def step(timer: Timer, name: str, device: str, turns: int) -> dict[str, Any]:
    """Return the seconds per step, plain and plus, and their ratio."""
    network = load(name).train
    plain = trainer_for(network, device=device)
    plus = trainer_for(network, device=device, preset="plus", batch_size=plain.settings.batch_size)
    for trainer in (plain, plus):
        run_epoch(trainer)
    with timer:
        seconds = [(run_epoch(plain), run_epoch(plus)) for _ in range(turns)]
    steps = plain.maker.num_batches
    return {k: v / steps if k != "ratio" else v for k, v in _medians(seconds).items()}


def training(timer: Timer, name: str, device: str, turns: int) -> dict[str, Any]:
    """Return the seconds of a whole training, plain and plus, and their ratio."""
    network = load(name).train
    warm_up(device)
    for preset in ("default", "plus"):  # compiles what is not compiled yet
        DHNE(preset=preset, epochs=1, ranking_epochs=1, device=device).fit(network)
    with timer:
        seconds = [
            tuple(_fit(network, p, device) for p in ("default", "plus")) for _ in range(turns)
        ]
    return _medians(seconds)


def _fit(network: Any, preset: str, device: str) -> float:
    start = perf_counter()
    DHNE(preset=preset, device=device).fit(network)
    return perf_counter() - start


def _medians(seconds: list[Any]) -> dict[str, float]:
    return {
        "plain": median(a for a, _ in seconds),
        "plus": median(b for _, b in seconds),
        "ratio": median(b / a for a, b in seconds),
    }
