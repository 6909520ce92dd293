"""Plans: each job once, records kept at once, an interruption loses nothing but the job it hit."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne.errors import MissingExtraError
from dhne.evaluation import Record
from dhne.experiments import EXPERIMENTS, Job, RecordStore, Selection, Step, run_plan, unique
from dhne.experiments.runner import Clock, Worker
from tests.experiments.fake import fake_record

JOBS = [Job("link-prediction", d, m) for d in ("gps", "drug") for m in ("dhne", "line", "she")]


def test_an_interrupted_plan_goes_on_where_it_was(tmp_path: Path) -> None:
    done: list[Job] = []

    def interrupted(job: Job) -> Record:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(job)
        return fake_record(job)

    store = RecordStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_plan(JOBS, store, do=interrupted)
    first = list(done)

    def again(job: Job) -> Record:
        done.append(job)
        return fake_record(job)

    report = run_plan(JOBS, store, do=again)
    assert (report.reused, report.computed, report.failed) == (3, 3, [])
    assert done == JOBS
    assert len(first) == 3
    assert all(store.get(job) == fake_record(job) for job in JOBS)
    assert run_plan(JOBS, store, do=again).reused == 6


def test_a_damaged_record_is_made_again(tmp_path: Path) -> None:
    store = RecordStore(tmp_path)
    run_plan(JOBS, store, do=fake_record)
    path = store.path(JOBS[2])
    path.write_bytes(path.read_bytes()[:100])
    assert run_plan(JOBS, store, do=fake_record).computed == 1


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    store = RecordStore(tmp_path)
    record = fake_record(JOBS[0])
    broken = Record(*[str(x) for x in ("a", "b", "c", "d")], record.results, {"bad": object()})
    with pytest.raises(TypeError):
        store.put(JOBS[0], broken)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_does_not_stop_the_rest(tmp_path: Path) -> None:
    def do(job: Job) -> Record:
        if job.method == "line":
            raise MissingExtraError("gensim", extra="baselines")
        return fake_record(job)

    report = run_plan(JOBS, RecordStore(tmp_path), do=do)
    assert report.computed == 4
    assert [(j.dataset, j.method) for j, _ in report.failed] == [("gps", "line"), ("drug", "line")]
    assert "dhne[baselines]" in report.failed[0][1]


def test_jobs_that_several_figures_share_are_done_once() -> None:
    choice = Selection(datasets=["gps"], quick=True)
    table = EXPERIMENTS["table-link-prediction"].jobs(choice)
    assert unique(table + EXPERIMENTS["figure-roc"].jobs(choice)) == unique(table)


def test_progress_counts_reused_jobs_and_guesses_the_time_left(tmp_path: Path) -> None:
    store = RecordStore(tmp_path)
    run_plan(JOBS[:2], store, do=fake_record)
    steps: list[Step] = []
    run_plan(JOBS, store, do=fake_record, progress=steps.append)
    assert [s.done for s in steps] == [2, 3, 4, 5, 6]
    assert {s.total for s in steps} == {6}
    assert steps[0].title == "link-prediction gps she seed 0"
    assert steps[0].seconds_left > 0
    assert steps[-1].seconds_left == 0


def test_time_left_follows_method_and_size() -> None:
    clock = Clock()
    assert clock.left(JOBS) == pytest.approx(sum(job.expected for job in JOBS))
    small, large = Job("link-prediction", "gps", "dhne"), Job("link-prediction", "drug", "dhne")
    clock.note(small, 2.0)
    assert clock.left([large]) == pytest.approx(2.0 * large.expected / small.expected)
    clock.note(large, 5.0)
    assert clock.left([large]) == pytest.approx(5.0)


def test_a_real_job_on_the_core_of_gps(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    job = Job("link-prediction", "gps", "she", dim=8, core=300, ranked=20)
    record = Worker()(job)
    assert record.config["job"] == job.to_dict()
    edges = record.config["edges"]
    assert edges["train"] + edges["test"] <= 300
    assert record.curves["0"]["fpr"][-1] == 1
    assert 0 < record.mean["mrr"] <= 1
