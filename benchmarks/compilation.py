"""Startup: `import dhne` in under 1.5 seconds, and the cost of compiling in the first `fit`.

The import runs five times in fresh processes; the median counts, and torch, numba and matplotlib
must not be imported. A small network (2,000 hyperedges, 5 epochs) is then fitted twice in a fresh
process, first with an empty numba cache, then in another process with the cache that the first one
left.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks._measure import Timer, in_process
from benchmarks._options import need_cpu
from benchmarks._table import Row
from dhne import DHNE
from dhne.datasets import power_law

LIMIT = 1.5
HEAVY = ("torch", "numba", "matplotlib")
_IMPORT = f"""
import sys, time
start = time.perf_counter()
import dhne
seconds = time.perf_counter() - start
print(seconds, *(name for name in {HEAVY!r} if name in sys.modules))
"""


def run(quick: bool) -> dict[str, list[Row]]:
    need_cpu()
    return {"import": [import_row(2 if quick else 5)], "first fit": list(fits(quick))}


def import_row(repeats: int) -> Row:
    """Import in fresh processes."""
    answers = []
    for _ in range(repeats):
        command = [sys.executable, "-c", _IMPORT]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answers.append(done.stdout.split())
    seconds = median(float(a[0]) for a in answers)
    brought = sorted({name for a in answers for name in a[1:]})
    return {
        "what": "import dhne",
        "seconds": seconds,
        "limit": LIMIT,
        "brings torch, numba or matplotlib": ", ".join(brought) or "none",
        "met": seconds < LIMIT and not brought,
    }


def fits(quick: bool) -> list[Row]:
    """Fit in a process without compiled kernels, then in one that loads them from disk."""
    if quick:
        return [_row("warm", in_process(__name__, "measure", here=True).value)]
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            found = [in_process(__name__, "measure").value for _ in range(2)]
        finally:
            del os.environ["NUMBA_CACHE_DIR"]
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before
    return [_row(*each) for each in zip(("cold", "warm"), found, strict=True)]


def _row(start: str, seconds: list[float]) -> Row:
    return {
        "start": start,
        "first fit s": seconds[0],
        "second fit s": seconds[1],
        "compiling or loading s": seconds[0] - seconds[1],
    }


def measure(timer: Timer) -> list[float]:
    """Return the seconds of two fits, one after the other."""
    network = power_law(2000, (200, 100, 20), clusters=10, seed=0)
    seconds = []
    for _ in range(2):
        with timer:
            DHNE(device="cpu", epochs=5).fit(network)
        seconds.append(timer.seconds)
    return seconds
