"""Progress bars of methods that train step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def track(steps: Sequence[T], what: str, *, verbose: bool) -> Iterable[T]:
    """Return `steps`, with a progress bar on standard error if `verbose`.

    Examples
    --------
    >>> list(track(range(3), "counting", verbose=False))
    [0, 1, 2]
    """
    if not verbose:
        return steps
    from rich.console import Console
    from rich.progress import track as show

    return show(steps, description=what, console=Console(stderr=True))
