"""Options of a benchmark run: the devices, and whether to include the largest sizes.

They are passed through the environment, because most measurements run in separate processes.
"""

from __future__ import annotations

import os

DEVICE, LARGE, HUGE = "DHNE_BENCH_DEVICE", "DHNE_BENCH_LARGE", "DHNE_BENCH_HUGE"
CHOICES = ("auto", "cpu", "cuda")


class LeftOut(Exception):  # noqa: N818 - nothing is wrong
    """There is nothing to measure; the message gives the reason."""


def devices() -> list[str]:
    """Return the devices to measure on: the requested one, or all available."""
    import torch

    asked = os.environ.get(DEVICE, "auto")
    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise LeftOut("torch finds no CUDA device here")
    if asked != "auto":
        return [asked]
    return ["cpu", "cuda"] if there else ["cpu"]


def need_cuda() -> None:
    """Skip a benchmark if there is no CUDA device, or another device was requested."""
    if "cuda" not in devices():
        raise LeftOut("it needs a CUDA device, and none was requested or found")


def need_cpu() -> None:
    """Skip a CPU benchmark if only the GPU was requested."""
    if "cpu" not in devices():
        raise LeftOut("it measures the CPU, which was not requested")


def large() -> bool:
    """Whether to include sizes that take many minutes."""
    return bool(os.environ.get(LARGE))


def huge() -> bool:
    """Whether to include one worker's part of 10^9 hyperedges."""
    return bool(os.environ.get(HUGE))
