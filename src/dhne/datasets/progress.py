"""Progress bars on standard error, hidden if it is not a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


def bar(*, show: bool, bytes_: bool = False) -> Progress:
    """Return a bar that counts steps or bytes; hidden unless `show` and stderr is a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn() if bytes_ else TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (show and console.is_terminal),
    )
