"""Running a plan: each job once, its record saved as soon as it is finished.

Failed jobs do not stop the others; they are reported at the end and run again next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dhne.datasets import load_dataset
from dhne.evaluation import Data, EvaluationSettings, Options, Record, evaluate
from dhne.evaluation.separation import ReportProgress

from .dense_core import dense_core
from .jobs import Job
from .pool import Do, one_by_one, side_by_side
from .record_store import RecordStore
from .timing import training_time


@dataclass(frozen=True)
class Step:
    """Progress of a plan, reported before each job and at the end.

    Attributes
    ----------
    done, total : int
        Jobs.
    title : str
        The next job; empty at the end.
    seconds_left : float
        Estimated from the jobs finished so far.
    """

    done: int
    total: int
    title: str
    seconds_left: float


@dataclass
class PlanOutcome:
    """The outcome of a plan."""

    computed: int = 0
    reused: int = 0
    failed: list[tuple[Job, str]] = field(default_factory=list)


def unique(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs without repeats, grouped by dataset, in order."""
    distinct = list(dict.fromkeys(jobs))
    order = {name: i for i, name in enumerate(dict.fromkeys(j.dataset for j in distinct))}
    return sorted(distinct, key=lambda j: order[j.dataset])


def run_plan(
    jobs: Sequence[Job],
    store: RecordStore,
    *,
    progress: Callable[[Step], None] | None = None,
    detail: ReportProgress | None = None,
    processes: int = 1,
    do: Do | None = None,
) -> PlanOutcome:
    """Run every job that has no record yet.

    Parameters
    ----------
    jobs : sequence of Job
    store : RecordStore
    progress : callable, optional
        Called with a `Step` before each job and at the end.
    detail : callable, optional
        Called with (what, done, total) within a job, if jobs run one at a time.
    processes : int
        Number of jobs to run in parallel.
    do : callable, optional
        Maps a job to its record; for tests.
    """
    jobs = unique(jobs)
    report, clock = PlanOutcome(), Clock()
    waiting = []
    for job in jobs:
        record = store.get(job)
        if record is None:
            waiting.append(job)
        else:
            report.reused += 1
            clock.note(job, sum(r.seconds["fit"] + r.seconds["evaluate"] for r in record.results))
    left = dict.fromkeys(waiting)

    def begin(job: Job) -> None:
        if progress is not None:
            seconds = clock.left(left) / processes
            progress(Step(len(jobs) - len(left), len(jobs), job.title, seconds))

    if processes == 1 or do is not None:
        outcomes = one_by_one(waiting, do or Worker(detail), begin)
    else:
        outcomes = side_by_side(waiting, Worker, begin, processes=processes)
    for job, record, problem, seconds in outcomes:
        del left[job]
        if record is None:
            report.failed.append((job, problem))
            continue
        if processes > 1:
            record.config["processes"] = processes  # they slow each other down
        store.put(job, record)
        report.computed += 1
        clock.note(job, seconds)
    if progress is not None:
        progress(Step(len(jobs), len(jobs), "", 0.0))
    return report


class Clock:
    """Estimates how long jobs take: the expected time, corrected by finished jobs like them."""

    def __init__(self) -> None:
        self._rates: dict[tuple[str, ...], list[float]] = {}

    def note(self, job: Job, seconds: float) -> None:
        """Remember how long a job took."""
        for kind in _kinds(job):
            self._rates.setdefault(kind, []).append(seconds / job.expected)

    def left(self, jobs: Iterable[Job]) -> float:
        """Return the estimated seconds for `jobs`."""
        return sum(self._rate(job) * job.expected for job in jobs)

    def _rate(self, job: Job) -> float:
        for kind in _kinds(job):
            if kind in self._rates:
                return float(np.mean(self._rates[kind]))
        return 1.0


def _kinds(job: Job) -> list[tuple[str, ...]]:
    """Return what a job may have in common with others, closest match first."""
    return [(job.task, job.method, job.dataset), (job.task, job.method), (job.method,), ()]


class Worker:
    """Runs jobs; keeps the dataset of the last one."""

    def __init__(self, detail: ReportProgress | None = None) -> None:
        self._detail = detail
        self._loaded: tuple[str, int | None] | None = None
        self._data: Data | None = None

    def __call__(self, job: Job) -> Record:
        """Return the record of a job."""
        record = training_time(job) if job.nodes is not None else self._evaluate(job)
        record.config["job"] = job.to_dict()
        return record

    def _evaluate(self, job: Job) -> Record:
        classification = {"repeats": job.repeats, "shares": job.shares or None}
        settings = EvaluationSettings(
            Options(ranked=job.ranked, roc=job.task == "link-prediction" and job.keep is None),
            keep=job.keep,
            classification=classification if job.task == "classification" else {},
        )
        return evaluate(
            job.task,
            self._load(job),
            job.method,
            protocol=job.protocol,
            seeds=[job.seed],
            dim=job.dim,
            device=job.device,
            params=dict(job.params),
            settings=settings,
            report=self._detail,
        )

    def _load(self, job: Job) -> Data:
        if self._data is None or self._loaded != (job.dataset, job.core):
            dataset = load_dataset(job.dataset)
            data = Data.of(dataset)
            self._data = data if job.core is None else dense_core(data, job.core)
            self._loaded = (job.dataset, job.core)
        return self._data
