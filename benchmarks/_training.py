"""Access to the parts of a training, for measuring them.

The library needs no changes for this. `trainer_for` lets `DHNE.fit` prepare everything and stops it
where training would start; the other functions then run its steps and epochs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple
from unittest.mock import patch

import torch

from dhne import DHNE
from dhne.datasets import planted_clusters
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.loop import Trainer

_within = ExitStack()  # contexts for running trainings, until the process ends


class _Ready(Exception):  # noqa: N818 - nothing is wrong
    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self.trainer = trainer


def trainer_for(network: HyperNetwork, **params: Any) -> Trainer:
    """Return the trainer that ``DHNE(**params).fit(network)`` would run."""

    def stop(trainer: Trainer) -> None:
        raise _Ready(trainer)

    with patch.object(Trainer, "run", stop):
        try:
            DHNE(**params).fit(network)
        except _Ready as ready:
            _within.enter_context(ready.trainer.kernels.training())
            return ready.trainer
    raise AssertionError("fit did not train")


def warm_up(device: str) -> None:
    """Load the compiled kernels, so that this is not measured."""
    DHNE(epochs=1, device=device).fit(planted_clusters(types=3, clusters=2, nodes_per_cluster=5))


def wait_for(trainer: Trainer) -> None:
    """Wait until the device has finished."""
    if trainer.maker.device.type == "cuda":
        torch.cuda.synchronize(trainer.maker.device)


def run_epoch(trainer: Trainer) -> float:
    """Run one epoch as training does and return its seconds."""
    start = perf_counter()
    trainer._run_epoch()
    wait_for(trainer)
    return perf_counter() - start


def epoch_seconds(trainer: Trainer, *, seconds: float = 3.0, most: int = 20) -> float:
    """Return the median time of at least three epochs, after a warm-up epoch."""
    run_epoch(trainer)
    times: list[float] = []
    while len(times) < 3 or (sum(times) < seconds and len(times) < most):
        times.append(run_epoch(trainer))
    return median(times)


class EpochCost(NamedTuple):
    """The cost of an epoch: drawing all of it, and one step."""

    draw: float  # seconds: shuffling, and drawing all negatives
    step: float  # seconds: the mean of the measured steps
    num_batches: int

    @property
    def epoch(self) -> float:
        return self.draw + self.num_batches * self.step


def sampled_epoch(trainer: Trainer, most: int) -> EpochCost:
    """Draw a whole epoch but run at most `most` of its steps, for long epochs."""
    steps = stepper(trainer)
    maker = trainer.maker
    for inputs in islice(maker.epoch(trainer.seed, 0), 4):
        steps(inputs)
    wait_for(trainer)
    start = perf_counter()
    kept = [x for number, x in enumerate(maker.epoch(trainer.seed, 1)) if number < most]
    wait_for(trainer)
    drawn = perf_counter()
    for inputs in kept:
        steps(inputs)
    wait_for(trainer)
    step = (perf_counter() - drawn) / len(kept)
    return EpochCost(drawn - start, step, maker.num_batches)


def stepper(trainer: Trainer) -> Callable[[list[torch.Tensor]], torch.Tensor]:
    """Return a function that runs one training step on a batch's inputs."""

    def step(inputs: list[torch.Tensor]) -> torch.Tensor:
        size = trainer.optimizer.next_size(trainer.schedule(trainer.optimizer.steps))
        return trainer.kernels.run_step(trainer._step, inputs, size)

    return step


def device_peak_mb(device: str) -> float | None:
    """Return torch's peak memory on the GPU, in MiB."""
    return torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else None
