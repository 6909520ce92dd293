"""The time of each part of a step, measured from outside.

On the CPU the methods that make up a step are wrapped with a stopwatch; the time of each part
excludes calls to other parts. On a GPU the host cannot time the parts of a recorded step: there the
profiler reports the time of each kernel, and the kernel names identify the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from itertools import islice
from time import perf_counter
from typing import Any
from unittest.mock import patch

import torch

from benchmarks._training import run_epoch, stepper, wait_for
from dhne.model.evidence import PairEvidence
from dhne.model.joint import NodeAutoencoder
from dhne.model.similarities import Similarity
from dhne.training.batches import BatchMaker
from dhne.training.loop import Trainer
from dhne.training.optimizers import Optimizer

# Methods wrapped on the CPU: (part, class, method).
_METHODS = (
    ("batching", BatchMaker, "assemble"),
    ("evidence", PairEvidence, "features"),
    ("encode", NodeAutoencoder, "encode"),
    ("decode", NodeAutoencoder, "reconstruction"),
    ("similarity", Similarity, "logits"),
    ("backward", torch.Tensor, "backward"),
    ("optimizer", Optimizer, "step"),
)
# Parts of GPU kernels: the first part with one of its words in the kernel's name.
_KERNELS = (
    ("optimizer", ("update", "adam")),
    ("evidence", ("count", "evidence")),
    ("decode", ("reconstruct", "decode")),
    ("encode backward", ("table_gradient",)),
    ("encode", ("encode",)),
    ("similarity", ("scatter", "gather", "gemm", "gemv", "tanh", "cutlass", "similar")),
    ("batching", ("sort", "scan", "radix", "search", "histogram", "index", "arange", "piece")),
    ("clearing, copying", ("memset", "memcpy", "fill", "copy", "cat")),
)


class Stopwatch:
    """Adds up seconds by part; a part's clock pauses while it calls another part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        now = perf_counter()
        if self._running:
            part = self._running[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        self._switch()
        self._running.append(part)
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def wrap(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.timing(part):
                return function(*arguments, **options)

        return timed


@contextmanager
def watching(watch: Stopwatch) -> Iterator[None]:
    """Wrap the methods of a step, and the drawing of negatives, within this context."""
    draw = BatchMaker.epoch

    def epoch(*arguments: Any) -> Iterator[Any]:
        batches = draw(*arguments)
        while True:
            with watch.timing("negatives"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    with ExitStack() as stack:
        stack.enter_context(patch.object(BatchMaker, "epoch", epoch))
        for part, cls, name in _METHODS:
            wrapped = watch.wrap(part, getattr(cls, name))
            stack.enter_context(patch.object(cls, name, wrapped))
        yield


def step_parts(trainer: Trainer) -> dict[str, float]:
    """Return milliseconds per step by part; `total` is their sum."""
    found = (_on_gpu if trainer.maker.device.type == "cuda" else _on_cpu)(trainer)
    return {**found, "total": sum(found.values())}


def _on_cpu(trainer: Trainer) -> dict[str, float]:
    watch = Stopwatch()
    with watching(watch), watch.timing("other"):
        run_epoch(trainer)
    order = ["negatives", *(part for part, _, _ in _METHODS), "other"]
    steps = trainer.maker.num_batches
    return {p: watch.seconds[p] / steps * 1e3 for p in order if p in watch.seconds}


def _on_gpu(trainer: Trainer, steps: int = 50) -> dict[str, float]:
    step, maker = stepper(trainer), trainer.maker
    start = perf_counter()
    inputs = [x for n, x in enumerate(maker.epoch(trainer.seed, 0)) if n < steps]
    wait_for(trainer)
    found = {"negatives": (perf_counter() - start) / maker.num_batches * 1e3}
    for x in islice(inputs, 5):  # the step has been recorded by then
        step(x)
    wait_for(trainer)
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for x in inputs:
                step(x)
            wait_for(trainer)
    except RuntimeError:  # some machines do not allow GPU profiling
        return found
    for event in profile.key_averages():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            part = kernel_part(event.key)
            spent = event.self_device_time_total / 1e3 / len(inputs)
            found[part] = found.get(part, 0.0) + spent
    return found


def kernel_part(name: str) -> str:
    """Return the part that a kernel belongs to, by its name."""
    lower = name.lower()
    for part, words in _KERNELS:
        if any(word in lower for word in words):
            return part
    return "other"
