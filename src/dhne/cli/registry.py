"""The commands there are. To add one, write its module and name it here."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

import dhne

from .common import with_common_options

# Name and summary; the command is in the module of the same name.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("demo", "See everything in a minute on the bundled sample."),
    ("datasets", "List datasets and where they are."),
    ("info", "Describe a dataset, a file or a run."),
    ("convert", "Convert one format to another without loss."),
    ("prepare", "Make data larger than memory ready for training."),
    ("train", "Fit a model and save it as a run."),
    ("update", "Continue learning with new hyperedges."),
    ("tune", "Search for the best settings, and train with them."),
    ("embed", "Write a run's vectors to a file."),
    ("score", "Score whole tuples with a run."),
    ("rank", "Find the best completions of a partial tuple."),
    ("similar", "Find the nearest nodes of a node."),
    ("evaluate", "Measure a method on a task."),
    ("reproduce", "Reproduce the paper's tables and figures."),
    ("explore", "Explore a run in the browser."),
)

# Commands with so many options that a config file is useful.
CONFIGURABLE = ("train", "tune", "evaluate")

_HELP = """Embeddings for heterogeneous hyper-networks: tuples that mean something only as a whole.

A SOURCE is a dataset's name ([bold]dhne datasets[/bold] lists them) or a file: CSV, TSV, Parquet,
HIF (.hif.json) or npz. Try [bold]dhne demo[/bold], or [bold]dhne info wordnet-sample[/bold].
"""


def make_app(arguments: Sequence[str]) -> Any:
    """Return the command line for these arguments; only the command that they name is imported."""
    app = typer.Typer(
        name="dhne",
        help=_paragraphs(_HELP),
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback()(_top)
    words = _completed_words() or arguments
    asked = next((a for a in words if not a.startswith("-")), None)
    for name, summary in COMMANDS:
        if find_spec(f"{__package__}.{name}") is None:
            continue
        if name == asked:
            _register(app, name)
        else:
            app.command(name, help=summary)(_stub)
    return typer.main.get_command(app)


def _register(app: typer.Typer, name: str) -> None:
    module = import_module(f".{name}", __package__)
    if not hasattr(module, "app"):
        command = with_common_options(module.command, configurable=name in CONFIGURABLE)
        app.command(name, help=_paragraphs(module.command.__doc__))(command)
        return
    for inner in module.app.registered_commands:
        inner.help = _paragraphs(inner.callback.__doc__)
        inner.callback = with_common_options(inner.callback)
    app.add_typer(module.app, name=name)


def _completed_words() -> list[str]:
    """Return what is on the line that a shell wants completed; nothing if none does."""
    if "_DHNE_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        return shlex.split(line)[1:]
    except ValueError:  # a quote that is still open
        return line.split()[1:]


def _paragraphs(text: str | None) -> str:
    """Return a docstring with each paragraph on one line, to wrap at the terminal's width."""
    blocks = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(block.split("\n")) for block in blocks)


def _stub() -> None:
    """Represent a command that was not requested, in the list of commands."""


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"dhne {dhne.__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that precede the command."""
