"""Thread settings: how many threads run, and how long they spin before they sleep.

Compiled kernels and torch distribute their work over OpenMP threads, which wait for each other many
times per step. By default they spin for milliseconds. On an idle machine that is fastest, but next
to other processes a spinning thread uses the time that the thread it waits for would need. Here
they spin for some microseconds, which bridges the gap between two kernels, and then sleep. The
runtime reads the setting once, when torch or numba loads it, so ``import dhne`` sets environment
variables before that; if torch was imported first, `dhne.kernels.cpu_threads` does what is still
possible. Variables that the user has set take precedence.

The number of threads is the number of cores that the process may use: those of its CPU affinity,
limited by the CPU quota of its control group (containers). ``OMP_NUM_THREADS`` and
``NUMBA_NUM_THREADS`` override it.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

__all__ = ["available_cores", "cpu_quota", "prepare"]

# Iterations of the spin loop, about 15 to 50 µs; the default is 300,000 in GNU's runtime and 200 ms
# in Intel's and LLVM's.
_SPIN = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}
_WAITING = ("OMP_WAIT_POLICY", *_SPIN)


_NUMBERS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

# Whether torch had loaded the OpenMP runtime before `prepare` could configure it.
is_too_late = False
# The variables set by `prepare`, not by the user.
set_here: set[str] = set()


def prepare() -> None:
    """Set the environment variables for threads, unless the user has set them.

    The number of threads is set only if a quota makes it smaller than the runtimes' default.
    """
    global is_too_late  # noqa: PLW0603 - a process has one environment
    if not any(name in os.environ for name in _WAITING):
        is_too_late = "torch" in sys.modules
        set_here.update(_SPIN)
        os.environ.update(_SPIN)
    cores = available_cores()
    if cores < _cores_in_sight():
        for name in _NUMBERS:
            if name not in os.environ and not {"torch", "numba"} & set(sys.modules):
                set_here.add(name)
                os.environ[name] = str(cores)


def available_cores(root: str | Path = "/") -> int:
    """Return how many cores this process may use: its affinity, limited by its CPU quota.

    The workers that torchrun starts on a machine share its cores. `root` is the root of the
    system's files.
    """
    cores, quota = _cores_in_sight(), cpu_quota(root)
    if quota is not None:
        cores = min(cores, math.ceil(quota))
    sharing = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return max(1, cores // max(1, int(sharing) if sharing.isdigit() else 1))


def _cores_in_sight() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_quota(root: str | Path = "/") -> float | None:
    """Return this process's CPU quota in cores, as set by its control groups; None if unlimited.

    A group's limit applies to all nested groups, so the smallest one on the path counts.
    """
    root = Path(root)
    found = [
        quota
        for kind, group in _groups(root / "proc/self/cgroup")
        for base in _bases(root, kind)
        for folder in (base / group, *(base / group).parents)
        if folder.is_relative_to(base) and (quota := _quota_of(folder)) is not None
    ]
    return min(found, default=None)


def _groups(file: Path) -> list[tuple[str, str]]:
    """Return (controllers, path) of the process's groups; controllers are "" in version 2."""
    lines = [line.split(":", 2) for line in _read(file).splitlines()]
    return [
        (line[1], line[2].lstrip("/"))
        for line in lines
        if len(line) == 3 and (not line[1] or "cpu" in line[1].split(","))
    ]


def _bases(root: Path, kind: str) -> list[Path]:
    """Return the possible mount points of a hierarchy of groups."""
    base = root / "sys/fs/cgroup"
    return [base, base / "unified"] if not kind else [base / "cpu", base / kind]


def _quota_of(folder: Path) -> float | None:
    """Return the quota of one group, in cores."""
    quota, _, period = _read(folder / "cpu.max").partition(" ")  # version 2
    if not quota:
        quota = _read(folder / "cpu.cfs_quota_us")  # version 1
        period = _read(folder / "cpu.cfs_period_us")
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max", or nothing
        return None
    return share if share > 0 else None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
