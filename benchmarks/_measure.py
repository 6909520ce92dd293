"""Measurement of time and peak memory: in turns in one process, or in separate processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple


def side_by_side(*functions: Callable[[], Any], repeats: int = 10) -> list[float]:
    """Return the best time of each function in seconds; they run in turns, for equal conditions."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


class Measured(NamedTuple):
    """Time and memory of a function in a separate process, and its result (plain data)."""

    seconds: float
    peak_rss_mb: float
    value: Any


class Timer:
    """Times the relevant part of a function; passed to functions run by `in_process`."""

    seconds = 0.0

    def __enter__(self) -> Timer:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start


def in_process(
    module: str, function: str, *arguments: Any, repeats: int = 1, here: bool = False
) -> Measured:
    """Run ``function(timer, *arguments)`` of a module in fresh processes; return the fastest.

    Arguments and result are plain data. Only the body of ``with timer:`` is timed; memory is the
    peak of the whole process. With `here` it runs once in this process, for quick runs: it starts
    immediately, but its memory is shared with everything else.
    """
    if here:
        return _measured(module, function, json.loads(json.dumps(arguments)))
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-m", "benchmarks._measure", module, function]
        root = Path(__file__).resolve().parents[1]
        done = subprocess.run(
            [*command, json.dumps(arguments)], capture_output=True, text=True, cwd=root, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{module}.{function} failed:\n{done.stderr}")
        runs.append(Measured(**json.loads(done.stdout.splitlines()[-1])))
    return min(runs)._replace(peak_rss_mb=max(r.peak_rss_mb for r in runs))


def peak_rss_mb() -> float:
    """Return the peak memory of this process, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # unlike getrusage, this does not start from the parent's memory
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _measured(module: str, function: str, arguments: list[Any]) -> Measured:
    timer = Timer()
    value = getattr(import_module(module), function)(timer, *arguments)
    return Measured(timer.seconds, peak_rss_mb(), value)


def _child(module: str, function: str, arguments: str) -> None:
    print(json.dumps(_measured(module, function, json.loads(arguments))._asdict()))


if __name__ == "__main__":
    _child(*sys.argv[1:])
