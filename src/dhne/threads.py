"""Threads that do not get in the way: how many there are, and how soon they sleep.

Compiled kernels and torch share their work out over OpenMP threads, which wait for each other many
times in every step. By default they wait without sleeping, for milliseconds: on an idle machine
that is quickest, but beside other processes a thread then burns the time that the one it waits for
would need. Here they spin for some microseconds, which bridges the gap between two kernels, and
then sleep. The runtime reads this once, when torch or numba loads it, so ``import dhne`` says it in
the environment before; if torch came first, `dhne.kernels.cpu_threads` does what can still be
done. Whoever sets one of the variables is obeyed.

There are as many threads as cores that the process may use: those of its affinity, and no more than
the CPU quota of its control group (containers) pays for. ``OMP_NUM_THREADS`` and
``NUMBA_NUM_THREADS`` are obeyed where they are set.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

__all__ = ["available_cores", "cpu_quota", "prepare"]

# Turns of the waiting loop, about 15 to 50 µs; GNU's runtime waits 300,000 by default, and Intel's
# and LLVM's 200 ms.
_SPIN = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}
_WAITING = ("OMP_WAIT_POLICY", *_SPIN)


_NUMBERS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

# Whether torch had loaded the OpenMP runtime, which was not told how to wait, before `prepare`.
is_too_late = False
# The variables that `prepare` has set, and not the user.
set_here: set[str] = set()


def prepare() -> None:
    """Say in the environment how many threads there are and how they wait, unless the user has.

    Their number is said only where a quota makes it less than the runtimes would find.
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

    The workers that torchrun starts on a machine share its cores. `root` is where the system's
    files are looked for.
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
    """Return the cores' worth of time that control groups grant this process, None if all.

    A group's limit holds for all groups within it, so the least on the way up counts.
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
    """Return (controllers, path) of the process's groups; controllers are "" for version 2."""
    lines = [line.split(":", 2) for line in _read(file).splitlines()]
    return [
        (line[1], line[2].lstrip("/"))
        for line in lines
        if len(line) == 3 and (not line[1] or "cpu" in line[1].split(","))
    ]


def _bases(root: Path, kind: str) -> list[Path]:
    """Return where a hierarchy of groups may be mounted."""
    base = root / "sys/fs/cgroup"
    return [base, base / "unified"] if not kind else [base / "cpu", base / kind]


def _quota_of(folder: Path) -> float | None:
    """Return the cores' worth of time of one group."""
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
