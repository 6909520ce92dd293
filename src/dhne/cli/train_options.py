"""The options of ``dhne train``: every hyper-parameter by the name it has in Python."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from dhne.errors import ParameterError

_MODEL = "What the model is"
_TRAINING = "How it is trained"
_RUN = "The run"


def _model(help_: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_, metavar=metavar, rich_help_panel=_MODEL)


def _training(help_: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_, metavar=metavar, rich_help_panel=_TRAINING)


def _run(help_: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_, metavar=metavar, rich_help_panel=_RUN)


# -- the run ---------------------------------------------------------------------------------------

OutOption = Annotated[
    Path | None,
    _run("The directory to make; runs/SOURCE if left out.", "--out", metavar="RUN"),
]
SeedOption = Annotated[int, _run("The same seed gives the same run.")]
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

# -- the model -------------------------------------------------------------------------------------

PresetOption = Annotated[
    str | None,
    _model(
        "Settings by name: default, paper, released (the authors' code) or plus (pair evidence, "
        "leave-one-out training, rows of digits). Options that are given go before it.",
        metavar="NAME",
    ),
]
DimOption = Annotated[
    str | None,
    _model(
        "Size of the embeddings, or one a node type: user=32,movie=64. \\[default: 64]",
        metavar="N",
    ),
]
AlphaOption = Annotated[
    float | None,
    _model("Weight of the second-order loss. \\[default of plus: by hyperedges a node]"),
]
ActivationOption = Annotated[str | None, _model("tanh or sigmoid.", metavar="NAME")]
EncoderOption = Annotated[
    str | None, _model("Sizes of encoder layers before the embedding.", metavar="N,…")
]
HiddenOption = Annotated[
    str | None,
    _model(
        "Sizes of the similarity's hidden layers. \\[default: one, the sum of the sizes of a "
        "tuple's embeddings]",
        metavar="N,…",
    ),
]
ReconstructionOption = Annotated[
    str | None,
    _model(
        "Squared errors of a row: their sum (the paper) or mean over all columns (the authors' "
        "code).",
        metavar="NAME",
    ),
]
LeaveOneOutOption = Annotated[
    bool | None,
    _model(
        "Score each hyperedge without its own entries in its nodes' rows.",
        "--leave-one-out/--no-leave-one-out",
    ),
]
EvidenceOption = Annotated[
    bool | None,
    _model("Give the similarity pair counts and degrees.", "--evidence/--no-evidence"),
]
RowsOption = Annotated[
    str | None,
    _model(
        "What a node's row says of each other node: how often they met (counts, the paper's way), "
        "or how many binary digits that number has (digits).",
        metavar="NAME",
    ),
]

# -- the training ----------------------------------------------------------------------------------

EpochsOption = Annotated[int | None, _training("\\[default: by the number of hyperedges]")]
BatchSizeOption = Annotated[int | None, _training("\\[default: by the number of hyperedges]")]
LearningRateOption = Annotated[
    float | None, _training("At the start; it falls linearly.", "--learning-rate", "--lr")
]
DecayOption = Annotated[
    float | None, _training("What the learning rate falls to, as a share; 1 keeps it.")
]
OptimizerOption = Annotated[str | None, _training("adam, rmsprop, adagrad or sgd.", metavar="NAME")]
NegativesOption = Annotated[int | None, _training("Negatives for each hyperedge.")]
SchemeOption = Annotated[
    str | None, _training("How they are drawn: paper, one, all or degree.", metavar="NAME")
]
ValidationOption = Annotated[
    float | None,
    _training("Share of hyperedges held out to stop early and keep the best epoch."),
]
PatienceOption = Annotated[
    int | None, _training("Epochs without a better validation AUC before it stops.")
]
DeviceOption = Annotated[str, _training("auto, cpu or cuda.", metavar="NAME")]
KernelsOption = Annotated[str, _training("auto, reference, cpu or cuda.", metavar="NAME")]
DtypeOption = Annotated[str, _training("float32 or float64.", metavar="NAME")]


def parse_sizes(option: str, text: str | None) -> list[int] | None:
    """Return the sizes of layers.

    Examples
    --------
    >>> parse_sizes("--hidden", "192,64")
    [192, 64]
    """
    if text is None:
        return None
    return [_size(option, part) for part in text.split(",")]


def parse_dim(text: str | None) -> int | dict[str, int] | None:
    """Return the size of embeddings: one for all node types, or one for each.

    Examples
    --------
    >>> parse_dim("64"), parse_dim("user=32,movie=64")
    (64, {'user': 32, 'movie': 64})
    """
    if text is None:
        return None
    if "=" not in text:
        return _size("--dim", text)
    parts = (part.rpartition("=") for part in next(csv.reader([text])))
    return {node_type.strip(): _size("--dim", size) for node_type, _, size in parts}


def _size(option: str, text: str) -> int:
    try:
        size = int(text)
    except ValueError:
        size = 0
    if size < 1:
        raise ParameterError(f"{option} takes positive integers, got {text!r}")
    return size
