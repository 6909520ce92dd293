"""``dhne reproduce``: the paper's tables and figures, beside the paper's numbers, as one page."""

from __future__ import annotations

import shlex
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dhne.errors import DHNEError, InputError, ParameterError

from .output import complain, note

if TYPE_CHECKING:
    from dhne.experiments import Step


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]…",
            help="table-reconstruction, table-link-prediction, figure-roc, figure-sparsity, "
            "figure-classification, figure-sensitivity, figure-time, or all.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the page and the records go.")
    ] = Path("reproduced"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version: minutes on two cores, same code path."),
    ] = False,
    datasets: Annotated[
        str | None, typer.Option(metavar="gps,drug", help="Only these datasets.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="dhne,line", help="Only these methods.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="0,1,2", help="Seeds, one fit each; --quick uses 0 only.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda, where it matters.")] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=1, help="Measurements to run in parallel; most use one core each."
        ),
    ] = 1,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Only build the page, from the existing records.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Reproduce the paper's tables and figures, beside the paper's numbers, as one page.

    Every measurement is saved in DIR/records as soon as it is made; after an interruption, repeat
    the command to continue. DIR/index.html is self-contained; Markdown, CSV and PNG files are
    beside it.

    [bold]Examples[/bold]

    dhne reproduce all --quick --out r

    dhne reproduce table-link-prediction --datasets gps,movielens --seeds 0,1,2 --out r

    dhne reproduce figure-sparsity --methods dhne,hebe --device cuda

    dhne reproduce all --jobs 2
    """
    from dhne.experiments import PlanOutcome, RecordStore, Selection, chosen, run_plan
    from dhne.report import write_report

    if out.exists() and not out.is_dir():
        raise InputError("is a file; name a directory for the report", file=out)
    choice = Selection(
        datasets=_list(datasets),
        methods=_list(methods),
        seeds=_seeds(seeds),
        device=device,
        quick=quick,
    )
    experiments = chosen(names or [])
    plan = [job for e in experiments for job in e.jobs(choice)]
    if not plan:
        raise ParameterError("nothing to do: no table or figure has these datasets and methods")
    store, report = RecordStore(out / "records"), PlanOutcome()
    if not page_only:
        try:
            with PlanProgress(quiet=quiet) as progress:
                report = run_plan(
                    plan, store, progress=progress.step, detail=progress.detail, processes=jobs
                )
        except KeyboardInterrupt:
            note("interrupted; repeat the command to continue")
            raise typer.Exit(130) from None
    again = _command(names, out, quick, datasets, methods, seeds, device)
    page = write_report(out, experiments, choice, store, command=again, failed=report.failed)
    for job, message in report.failed:
        complain("failed", f"{job.title}: {message}")
    note(f"{report.computed} measured, {report.reused} found; the page is {page}")
    if report.failed:
        raise DHNEError(f"{len(report.failed)} measurements failed; repeat the command to retry")


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _seeds(text: str | None) -> list[int] | None:
    parts = _list(text)
    if parts is None:
        return None
    if not parts or not all(part.isdecimal() for part in parts):
        raise ParameterError(f"--seeds takes whole numbers separated by commas, not {text!r}")
    return [int(part) for part in dict.fromkeys(parts)]


def _command(
    names: list[str] | None,
    out: Path,
    quick: bool,
    datasets: str | None,
    methods: str | None,
    seeds: str | None,
    device: str | None,
) -> str:
    parts = ["dhne", "reproduce", *(names or ["all"])]
    parts += ["--quick"] if quick else []
    for option, value in (("datasets", datasets), ("methods", methods), ("seeds", seeds)):
        parts += [f"--{option}", value] if value is not None else []
    parts += ["--device", device] if device is not None else []
    return shlex.join([*parts, "--out", str(out)])


class PlanProgress:
    """A bar over all jobs with the time left, and a line on what the current one does."""

    def __init__(self, *, quiet: bool = False) -> None:
        screen = Console(stderr=True)
        self._progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]} {task.description}", markup=False),
            console=screen,
            transient=True,
            disable=quiet or not screen.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, left="")
        self._title = ""
        self._plain = not quiet and not screen.is_terminal

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def step(self, step: Step) -> None:
        """Report progress; one line per job if there is no terminal."""
        self._title = step.title
        left = f"{_clock(step.seconds_left)} left"
        self._progress.update(
            self._task, completed=step.done, total=step.total, description=step.title, left=left
        )
        if self._plain and step.title:
            note(f"[{step.done}/{step.total}] {step.title}, {left}")

    def detail(self, what: str, done: int, total: int) -> None:
        """Report what the current job does."""
        part = f" {done / total:.0%}" if total else ""
        self._progress.update(self._task, description=f"{self._title}: {what}{part}")


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
