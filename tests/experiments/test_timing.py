"""The training-time job: a network of the requested size, one time per batch."""

from __future__ import annotations

from dhne.experiments import Job
from dhne.experiments.timing import generated, training_time


def test_the_network_has_the_asked_size() -> None:
    network = generated(600, seed=0)
    assert network.num_nodes() == 600
    assert network.num_edges() == 3_000


def test_a_batch_takes_time() -> None:
    job = Job("training-time", "power-law", "dhne", nodes=120, dim=4)
    record = training_time(job)
    assert record.mean["nodes"] == 120
    assert record.mean["seconds_per_batch"] >= 0
    assert record.task == "training-time"
