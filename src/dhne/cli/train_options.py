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
    _run("Directory of the run. \\[default: runs/SOURCE]", "--out", metavar="RUN"),
]
ResumeOption = Annotated[bool, _run("Resume an unfinished run.", "--resume")]
OverwriteOption = Annotated[bool, _run("Replace an existing run.", "--overwrite")]
CheckpointOption = Annotated[float, _run("Minimum time between checkpoints.", metavar="SECONDS")]
TensorBoardOption = Annotated[
    Path | None, _run("Log every epoch for TensorBoard to this directory.", metavar="DIR")
]
MLflowOption = Annotated[
    str | None,
    _run(
        "Log every epoch to this MLflow server or database, such as sqlite:///mlflow.db.",
        "--mlflow",
        metavar="URI",
    ),
]
QuietOption = Annotated[bool, _run("No progress bar.", "--quiet", "-q")]
