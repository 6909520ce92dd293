"""Time, and memory at its peak: side by side in one process, or each in a process of its own."""

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
    """Return the best time of each function in seconds, taken in turns so that all see the same."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


class Measured(NamedTuple):
    """What a function took in a process of its own, and what it returned (plain data)."""

    seconds: float
    peak_rss_mb: float
    value: Any


class Timer:
    """Times the part of a function that matters; given to functions run by `in_process`."""

    seconds = 0.0

    def __enter__(self) -> Timer:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start


def in_process(
    module: str, function: str, *arguments: Any, repeats: int = 1, here: bool = False
) -> Measured:
    """Run ``function(timer, *arguments)`` of a module in fresh processes; return the quickest.

    Arguments and result are plain data. Only what stands in ``with timer:`` is timed; memory is the
    process's peak, everything included. With `here` it runs once in this process, for trying out:
    it begins at once, but its memory is not its own.
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
    """Return the most memory this process has held, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # unlike getrusage, this does not begin with what the parent held
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
