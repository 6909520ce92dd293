"""``dhne update``: continue learning with new hyperedges."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from .output import write_json
from .queries import JsonOption, RunArgument
from .source import complete_source
from .source_options import with_source
from .train_options import CheckpointOption, QuietOption


@with_source()
def command(
    reading: dict[str, Any],
    run: RunArgument,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW…", autocompletion=complete_source, help="Files of new hyperedges."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="RUN2", help="A new run. \\[default: replaces RUN]"),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Passes over the new hyperedges. \\[default: 0.4 times those of the training]",
        ),
    ] = None,
    replay: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Earlier hyperedges to learn from per new one, redrawn in every epoch. "
            "With 0, the model forgets.",
        ),
    ] = None,
    freeze_known: Annotated[
        bool,
        typer.Option(
            "--freeze-known",
            help="Keep the vectors of known nodes bit for bit; learn only those of new nodes.",
        ),
    ] = False,
    checkpoint_every: CheckpointOption = 30.0,
    quiet: QuietOption = False,
    json: JsonOption = None,
) -> None:
    """Continue learning with new hyperedges, new nodes and new edge types.

    Known nodes keep their ids. A sample of the earlier hyperedges is learned from beside the new
    ones, so that nothing is forgotten. New files are read as those of training were; options
    override that. New node types need --columns. RUN is replaced only when the update is complete.
    After an interruption, repeat the command: the result is the same to the bit.

    [bold]Examples[/bold]

    dhne update runs/tags monday.csv

    dhne update runs/tags tuesday.csv --out runs/tuesday --epochs 5

    dhne update runs/tags wednesday.csv --freeze-known
    """
    from .update_job import UpdateJob

    if not 0 <= checkpoint_every < inf:
        raise typer.BadParameter(
            f"--checkpoint-every takes a number of seconds of at least 0, got {checkpoint_every}"
        )
    effort = {"epochs": epochs, "replay": replay, "freeze_known": freeze_known}
    job = UpdateJob(run, files, out, {k: v for k, v in effort.items() if v is not None})
    report = job.run(reading, checkpoint_seconds=checkpoint_every, bar=not quiet and json != "-")
    if json is not None:
        write_json(report, json)
