"""``dhne train``: fit a model and save it as a run."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from dhne import workers

from .output import write_json
from .parameter_options import SeedOption, with_parameters
from .queries import JsonOption
from .source import Split, complete_source
from .source_options import with_source
from .train_options import (
    CheckpointOption,
    MLflowOption,
    OutOption,
    OverwriteOption,
    QuietOption,
    ResumeOption,
    TensorBoardOption,
)


@with_parameters()
@with_source("half_life", "labels")
def command(
    context: typer.Context,
    parameters: dict[str, Any],
    reading: dict[str, Any],
    out: OutOption = None,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE…",
            autocompletion=complete_source,
            help="A dataset's name, or one or several files. Not needed with --resume.",
        ),
    ] = None,
    seed: SeedOption = "0",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    checkpoint_every: CheckpointOption = 30.0,
    tensorboard: TensorBoardOption = None,
    mlflow: MLflowOption = None,
    quiet: QuietOption = False,
    json: JsonOption = None,
    split: Annotated[
        Split, typer.Option(help="Which part of a dataset that comes with a split.")
    ] = "all",
) -> None:
    """Fit a model to a dataset or to files, and save it as a run directory.

    After Ctrl-C or a crash, --resume continues from the last checkpoint with the original settings.
    On a CPU the resulting model is the same to the bit.

    [bold]Examples[/bold]

    dhne train wordnet-sample --out runs/places --seed 0

    dhne train tags.csv --columns user=userId,movie=movieId,tag=tag --out runs/tags --validation 0.1

    dhne train kinships.tsv --facts 2 --out runs/kinships --preset plus

    dhne train --out runs/tags --resume

    dhne train movielens --out runs/paper --preset paper --dim 32

    torchrun --nproc-per-node 4 -m dhne train tags.parquet --out runs/tags
    """
    from .train_job import Trackers, TrainingJob

    if resume and overwrite:
        raise typer.BadParameter("--resume continues a run, --overwrite replaces it; choose one")
    if not 0 <= checkpoint_every < inf:
        raise typer.BadParameter(
            f"--checkpoint-every takes a number of seconds of at least 0, got {checkpoint_every}"
        )
    labels = reading["labels"]
    reading["no_header"] = reading["no_header"] or None
    reading["labels"] = None if labels is None else str(labels.absolute())
    job = TrainingJob.of(
        _run_directory(out, sources),
        names=sources or [],
        source={**reading, "split": split},
        params={**parameters, "random_state": int(seed)},
        typed=_typed(context),
        resume=resume or (workers.was_restarted() and not overwrite),
        overwrite=overwrite and not workers.was_restarted(),
    )
    report = job.run(
        checkpoint_seconds=checkpoint_every,
        trackers=Trackers(tensorboard, mlflow),
        bar=not quiet and json != "-",
    )
    if json is not None and report is not None:
        write_json(report, json)


def _run_directory(out: Path | None, sources: list[str] | None) -> Path:
    """Return the run's directory: the one that was named, or one named like the source."""
    if out is not None:
        return Path(out)
    if not sources:
        raise typer.BadParameter("name a SOURCE, or the run to resume with --out")
    return Path("runs") / Path(sources[0]).name.split(".")[0]


def _typed(context: Any) -> set[str]:
    """Which options were given, typed or in a file; others may come from the run to resume."""
    found = {
        name for name in context.params if context.get_parameter_source(name).name != "DEFAULT"
    }
    return found | ({"random_state"} if "seed" in found else set())
