"""``dhne explore``: look at a run in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import note
from .queries import RunArgument
from .source_options import LabelsOption


def command(
    run: RunArgument,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port. \\[default: 8765, or any free one]"),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Serve the page without opening a browser.")
    ] = False,
    labels: LabelsOption = None,
) -> None:
    """Look at a run in the browser: maps, nodes, tuples and their completions, training curves.

    The page is served to this machine only (127.0.0.1), needs no internet, and is there until you
    press Ctrl-C.

    [bold]Examples[/bold]

    dhne explore runs/tags

    dhne explore demo/run --port 9000 --no-browser

    dhne explore runs/tags --labels genres.csv
    """
    from dhne.explorer import serve

    def say(address: str) -> None:
        typer.echo(f"{run} is at {address} (press Ctrl-C to stop)")

    note(f"loading {run} …")
    serve(run, port=port, browser=not no_browser, say=say, labels=labels)
