"""Jobs side by side: the same records as one by one, failures told, timings alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dhne.errors import MissingExtraError
from dhne.evaluation import Record
from dhne.experiments import Job, RecordStore, run_plan
from dhne.experiments.pool import Do, attempt, side_by_side
from tests.experiments.fake import fake_record

JOBS = [Job("link-prediction", "gps", m, seed=s) for m in ("dhne", "line", "she") for s in (0, 1)]
TIMED = [Job("training-time", "power-law", "dhne", nodes=n) for n in (10, 20)]


def do(job: Job) -> Record:
    if job.method == "line":
        raise MissingExtraError("gensim", extra="baselines")
    return fake_record(job)


def make() -> Do:
    return do


def test_outcomes_are_those_of_doing_them_one_by_one() -> None:
    begun: list[Job] = []
    found = list(side_by_side([*TIMED, *JOBS], make, begun.append, processes=2))
    assert begun == [*JOBS, *TIMED]  # what is timed comes last, and alone
    assert [o.job for o in found[-2:]] == TIMED
    assert {o.job for o in found} == {*JOBS, *TIMED}
    for outcome in found:
        assert outcome.record == (
            None if outcome.job.method == "line" else fake_record(outcome.job)
        )
        assert ("dhne[baselines]" in outcome.problem) == (outcome.job.method == "line")


def test_a_method_that_does_not_converge_is_told() -> None:
    def diverges(job: Job) -> Record:
        raise np.linalg.LinAlgError("no convergence")

    assert attempt(diverges, JOBS[0]).problem == "LinAlgError: no convergence"


def test_a_mistake_in_the_program_is_not_hidden() -> None:
    def mistaken(job: Job) -> Record:
        raise AttributeError("no such thing")

    with pytest.raises(AttributeError):
        attempt(mistaken, JOBS[0])


def test_real_jobs_side_by_side_give_the_same_metrics(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    job = Job("link-prediction", "gps", "she", dim=8, core=300, ranked=20)
    jobs = [job, replace(job, task="reconstruction")]
    one, two = RecordStore(tmp_path / "one"), RecordStore(tmp_path / "two")
    run_plan(jobs, one)
    assert run_plan(jobs, two, processes=2).computed == 2
    for j in jobs:
        first, second = one.get(j), two.get(j)
        assert first is not None
        assert second is not None
        assert first.mean == second.mean
        assert second.config["processes"] == 2
