"""Running jobs: one after the other, or several in parallel processes.

Most baselines use one core. In parallel, the cores are divided between the processes, and the
parent saves the records. Timed jobs (`Job.nodes`) run alone at the end.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from time import perf_counter
from typing import NamedTuple

from dhne.errors import DHNEError
from dhne.evaluation import Record
from dhne.threads import available_cores, set_here

from .jobs import Job

Do = Callable[[Job], Record]
_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


class Done(NamedTuple):
    """A job with its record or its error."""

    job: Job
    record: Record | None
    problem: str
    seconds: float


def attempt(do: Do, job: Job) -> Done:
    """Run a job; a failure of the method is a result too, so that the plan continues."""
    start = perf_counter()
    try:
        return Done(job, do(job), "", perf_counter() - start)
    except DHNEError as error:
        problem = str(error)
    except (ArithmeticError, MemoryError, RuntimeError, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
    return Done(job, None, problem, perf_counter() - start)


def one_by_one(jobs: Sequence[Job], do: Do, begin: Callable[[Job], None]) -> Iterator[Done]:
    """Run the jobs in order; `begin` is called with each before it starts."""
    for job in jobs:
        begin(job)
        yield attempt(do, job)


def side_by_side(
    jobs: Sequence[Job], make: Callable[[], Do], begin: Callable[[Job], None], *, processes: int
) -> Iterator[Done]:
    """Run up to `processes` jobs at a time, timed ones alone; yield outcomes as they finish.

    Parameters
    ----------
    jobs : sequence of Job
    make : callable
        Makes the object that runs jobs, once per process; must be importable by name.
    begin : callable
        Called with each job before it starts.
    processes : int
    """
    together = [j for j in jobs if j.nodes is None]
    alone = [j for j in jobs if j.nodes is not None]
    with (
        _cores_shared(processes),
        ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=_start, initargs=(make,)
        ) as pool,
    ):
        waiting, running = iter(together), set[Future[Done]]()
        try:
            while True:
                while len(running) < processes and (job := next(waiting, None)) is not None:
                    begin(job)
                    running.add(pool.submit(_attempt, job))
                if not running:
                    break
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if alone:
        yield from one_by_one(alone, make(), begin)


@contextmanager
def _cores_shared(processes: int) -> Iterator[None]:
    """Give each process started in this context its share of the cores."""
    before = {name: os.environ.get(name) for name in _THREADS}
    share = max(1, available_cores() // processes)
    theirs = {name: value for name, value in before.items() if name not in set_here}
    os.environ |= {name: theirs.get(name) or str(share) for name in _THREADS}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_do: Do


def _start(make: Callable[[], Do]) -> None:
    """Prepare a process: it ends without a traceback when interrupted or orphaned."""
    global _do  # noqa: PLW0603 - one per process
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()
    _do = make()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _attempt(job: Job) -> Done:
    return attempt(_do, job)
