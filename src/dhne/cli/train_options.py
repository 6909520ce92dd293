"""The options of ``dhne train`` beside the declared parameters of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

_RUN = "The run"


def _run(help_: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_, metavar=metavar, rich_help_panel=_RUN)


OutOption = Annotated[
    Path | None,
    _run("The directory to make; runs/SOURCE if left out.", "--out", metavar="RUN"),
]
ResumeOption = Annotated[bool, _run("Go on with an unfinished run.", "--resume")]
OverwriteOption = Annotated[bool, _run("Replace a run that is there.", "--overwrite")]
CheckpointOption = Annotated[
    float, _run("The least time between two checkpoints.", metavar="SECONDS")
]
TensorBoardOption = Annotated[
    Path | None, _run("Log every epoch for TensorBoard there.", metavar="DIR")
]
MLflowOption = Annotated[
    str | None,
    _run(
        "Log every epoch to MLflow there: a server, or sqlite:///mlflow.db.",
        "--mlflow",
        metavar="URI",
    ),
]
QuietOption = Annotated[bool, _run("No progress bar.", "--quiet", "-q")]
