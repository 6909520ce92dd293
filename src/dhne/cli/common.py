"""Options that every command has: ``--verbose`` and ``--quiet``; and ``--config`` for some.

They are added where a command is registered, so a command's own file declares only what is
specific to it. A command that declares ``quiet`` itself, with its own help, keeps it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .config import ConfigOption
from .output import Verbosity, set_verbosity

VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show more: the time taken, warnings of libraries, and tracebacks.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show less: no progress and no notes.")
]


def with_common_options(
    function: Callable[..., Any], *, configurable: bool = False
) -> Callable[..., Any]:
    """Return a command with the common options in its signature, which take effect before it runs.

    Parameters
    ----------
    function : a command
    configurable : bool
        Whether it takes ``--config`` too.
    """
    signature = inspect.signature(function, eval_str=True)
    if "verbose" in signature.parameters:  # it has been here before
        return function
    added: dict[str, tuple[Any, Any]] = {
        "verbose": (VerboseOption, False),
        "quiet": (QuietOption, False),
    }
    if configurable:
        added["config"] = (ConfigOption, None)
    added = {k: v for k, v in added.items() if k not in signature.parameters}

    @functools.wraps(function)
    def command(**values: Any) -> Any:
        verbose, quiet = values["verbose"], values["quiet"]
        if verbose and quiet:
            raise typer.BadParameter("--verbose and --quiet exclude each other; choose one")
        set_verbosity(
            Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.NORMAL
        )
        return function(**{k: v for k, v in values.items() if k not in added})

    parameters = list(signature.parameters.values())
    for name, (kind, default) in added.items():
        parameter = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
        )
        parameters.append(parameter)
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
