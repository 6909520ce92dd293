"""What a run of the benchmarks may vary: which devices, and whether to go to the largest sizes.

The options travel in the environment, because most measurements run in processes of their own.
"""

from __future__ import annotations

import os

DEVICE, LARGE = "DHNE_BENCH_DEVICE", "DHNE_BENCH_LARGE"
CHOICES = ("auto", "cpu", "cuda")


class LeftOut(Exception):  # noqa: N818 - nothing is wrong
    """There is nothing to measure here; says why."""


def devices() -> list[str]:
    """Return the devices to measure on: the one asked for, or all there are."""
    import torch

    asked = os.environ.get(DEVICE, "auto")
    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise LeftOut("torch finds no CUDA device here")
    if asked != "auto":
        return [asked]
    return ["cpu", "cuda"] if there else ["cpu"]


def need_cuda() -> None:
    """Leave a benchmark out where there is no CUDA device, or another one was asked for."""
    if "cuda" not in devices():
        raise LeftOut("it needs a CUDA device, and none was asked for or found")


def need_cpu() -> None:
    """Leave a benchmark of the CPU out where only the GPU was asked for."""
    if "cpu" not in devices():
        raise LeftOut("it measures the CPU, which was not asked for")


def large() -> bool:
    """Whether to go to sizes that take many minutes."""
    return bool(os.environ.get(LARGE))
