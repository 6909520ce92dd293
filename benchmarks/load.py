"""A training step on an idle machine and next to two busy processes, by thread wait policy.

Next to two busy processes a step takes at most twice as long as its fair share of the cores allows:
with C threads on C cores, (C + 2) / C times an idle step. On an idle machine it takes at most 1.1
times as long as with the runtime's default wait policy, which is fastest there. Every measurement
runs in a separate process; the settings, idle and busy, take turns, and the fastest round counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from time import perf_counter

from benchmarks._data import SMALL, load
from benchmarks._measure import Timer, in_process
from benchmarks._options import need_cpu
from benchmarks._table import Row
from dhne.threads import available_cores

BUSY = 2  # processes
MOST_BUSY, MOST_IDLE = 2.0, 1.1
DATASETS = ("gps", "drug")
OURS, RUNTIME = "as dhne sets it", "runtime's default"
# Environment variables for the wait policy; empty: as this package sets them.
SETTINGS: dict[str, dict[str, str]] = {
    OURS: {},
    RUNTIME: {"GOMP_SPINCOUNT": "300000", "KMP_BLOCKTIME": "200"},
    "spin 100": {"GOMP_SPINCOUNT": "100"},
    "spin 10,000": {"GOMP_SPINCOUNT": "10000"},
    "sleep at once": {"OMP_WAIT_POLICY": "PASSIVE"},
    "one thread": {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
}
_VARIABLES = {name for setting in SETTINGS.values() for name in setting}


def run(quick: bool) -> list[Row]:
    need_cpu()
    settings = {k: SETTINGS[k] for k in (OURS, RUNTIME)} if quick else SETTINGS
    seconds, rounds = (0.2, 1) if quick else (4.0, 3)
    rows = []
    for name in (SMALL,) if quick else DATASETS:
        in_process(__name__, "steps", name, 0.0)  # compiles
        found: dict[tuple[str, bool], float] = {}
        for _ in range(rounds):
            for setting, variables in settings.items():
                for busy in (False, True):
                    with _environment(variables), _busy_processes(BUSY if busy else 0):
                        ms = 1e3 * in_process(__name__, "steps", name, seconds).value
                    found[setting, busy] = min(ms, found.get((setting, busy), ms))
        rows += [_row(name, setting, found) for setting in settings]
    return rows


def _row(name: str, setting: str, found: dict[tuple[str, bool], float]) -> Row:
    cores = available_cores()
    fair = found[OURS, False] * (cores + BUSY) / cores
    to_idle, to_fair = found[setting, False] / found[RUNTIME, False], found[setting, True] / fair
    row: Row = {
        "dataset": name,
        "threads wait": setting,
        "idle ms": found[setting, False],
        "busy ms": found[setting, True],
        "idle ratio": to_idle,
        "times fair share": to_fair,
    }
    if setting == OURS:
        row |= {"met": to_idle <= MOST_IDLE and to_fair <= MOST_BUSY}
    return row


def steps(timer: Timer, name: str, seconds: float) -> float:
    """Return the mean seconds per training step, measured over `seconds` seconds."""
    from benchmarks._training import stepper, trainer_for

    trainer = trainer_for(load(name).train, device="cpu", random_state=0)
    step, batches = stepper(trainer), list(islice(trainer.maker.epoch(trainer.seed, 0), 50))
    for inputs in batches[:5]:
        step(inputs)
    number, begin = 0, perf_counter()
    with timer:
        for inputs in cycle(batches):
            step(inputs)
            number += 1
            if perf_counter() - begin >= seconds:
                break
    return timer.seconds / number


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Start processes with these variables and no others for the wait policy."""
    before = dict(os.environ)
    for name in _VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _busy_processes(number: int) -> Iterator[None]:
    """Run this many busy processes."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
