"""Packages that only some baselines need, and progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

from dhne.errors import MissingExtraError

T = TypeVar("T")


def require(module: str) -> Any:
    """Import a module of the extra `baselines`, or raise an error that names the extra.

    Examples
    --------
    >>> require("math").floor(2.5)
    2
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] == package:
            raise MissingExtraError(package, extra="baselines") from error
        raise


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
