"""Progress on standard error: what is being done, how far it is, the time left."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .output import is_quiet


class TaskProgress:
    """One line: a spinner while the length of the work is unknown, a bar with time left after.

    Nothing is shown if standard error is not a terminal.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        screen = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=screen,
            transient=True,
            disable=quiet or is_quiet() or not screen.is_terminal,
        )
        self._what = ""
        self._task = self._progress.add_task("", total=None)

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

    def report(self, what: str, done: int, total: int) -> None:
        """Report what is being done; a total of 0 means that the duration is unknown."""
        if what != self._what:
            self._what = what
            self._progress.reset(self._task, total=total or None, description=what)
        self._progress.update(self._task, completed=done, total=total or None)
