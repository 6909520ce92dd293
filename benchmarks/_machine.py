"""The machine and the library versions of a benchmark run."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_LIBRARIES = ("dhne", "torch", "triton", "numba", "numpy", "scipy")


def machine() -> dict[str, Any]:
    """Return the machine and versions of this run, as plain data."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "cpu": _cpu(),
        "memory_gib": _memory(),
        "threads": {k: v for k, v in os.environ.items() if k.endswith("_NUM_THREADS")},
        **_gpu(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _LIBRARIES if _version(name)},
        "date": datetime.now(UTC).date().isoformat(),
    }


def sentence(found: dict[str, Any]) -> str:
    """Describe the machine in one line.

    Examples
    --------
    >>> sentence({"cores": 2, "cpu": "A CPU", "memory_gib": 24, "python": "3.12.1"})
    '2 cores (A CPU), 24 GiB, Python 3.12.1'
    """
    cpu = found.get("cpu")
    parts = [f"{found.get('cores')} cores" + (f" ({cpu})" if cpu else "")]
    if found.get("memory_gib"):
        parts.append(f"{found['memory_gib']:.0f} GiB")
    if found.get("gpu"):
        parts.append(f"{found['gpu']} ({found['gpu_gib']:.0f} GiB)")
    parts.append(f"Python {found.get('python')}")
    parts += [f"{name} {version}" for name, version in found.get("versions", {}).items()]
    parts += [f"{k}={v}" for k, v in found.get("threads", {}).items()]
    return ", ".join(parts)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), "")


def _memory() -> float | None:
    try:
        first = Path("/proc/meminfo").read_text().splitlines()[0]
    except OSError:
        return None
    return round(int(first.split()[1]) / 2**20, 1)


def _gpu() -> dict[str, Any]:
    import torch

    if not torch.cuda.is_available():
        return {}
    about = torch.cuda.get_device_properties(0)
    return {"gpu": about.name, "gpu_gib": round(about.total_memory / 2**30, 1)}


def _version(name: str) -> str | None:
    if name == "dhne":
        import dhne

        return dhne.__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
