"""Jobs are plain data: they come back from JSON and have a key that holds all of them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from dhne.experiments import Job

OTHER: dict[str, Any] = {
    "task": "reconstruction", "dataset": "drug", "method": "line", "seed": 1, "protocol": "clean",
    "params": (("alpha", 0.5),), "dim": 32, "device": "cpu", "keep": 0.5, "shares": (0.1,),
    "repeats": 2, "ranked": 7, "core": 10, "nodes": 99,
}  # fmt: skip


@pytest.mark.parametrize("name", [f.name for f in fields(Job)])
def test_every_field_changes_the_key(name: str) -> None:
    job = Job("link-prediction", "gps", "dhne")
    assert replace(job, **{name: OTHER[name]}).key != job.key


def test_a_job_comes_back_from_json() -> None:
    job = Job(**OTHER)
    assert Job.from_dict(json.loads(json.dumps(job.to_dict()))) == job
    assert Job.from_dict(json.loads(json.dumps(job.to_dict()))).key == job.key
