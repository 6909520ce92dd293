"""``dhne evaluate``: measure a method on a task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.methods import METHODS, find_method, parse_settings

from .evaluate_data import Files, open_data
from .evaluate_report import show_record
from .output import note, write_json
from .progress import TaskProgress
from .source import complete_source, is_run
from .source_options import with_source

if TYPE_CHECKING:
    from dhne.evaluation import Data

# Options of a training; a run has been trained already.
_OF_TRAINING = ("method", "seeds", "dim", "device", "setting", "keep", "time_split", "half_life")


def _complete_method(incomplete: str) -> list[str]:
    return [name for name in METHODS if name.startswith(incomplete)]


def _file_option(name: str, text: str) -> Any:
    return typer.Option(name, metavar="FILE", help=text)


@with_source("half_life", "labels")
def command(
    context: typer.Context,
    reading: dict[str, Any],
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="link-prediction, completion, reconstruction or classification.",
        ),
    ],
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            autocompletion=complete_source,
            help="A dataset or files; or a run, which is evaluated as it is.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help=f"{', '.join(METHODS)}.", autocompletion=_complete_method
        ),
    ] = "dhne",
    protocol: Annotated[
        str,
        typer.Option(
            help="paper: the rows as they are. clean: repeats folded into weights, test rows that "
            "are also in train removed."
        ),
    ] = "paper",
    seeds: Annotated[str, typer.Option(metavar="0,1,2", help="Seeds, one fit per seed.")] = "0",
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the record as JSON; - for standard output."),
    ] = None,
    dim: Annotated[int | None, typer.Option(help="Embedding size; 64 in the paper.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda, where it matters.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A hyper-parameter of the method; may be repeated. Those of DHNE are the options "
            "of dhne train.",
        ),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(
            help="Link prediction, completion: train on this share of all hyperedges, test the "
            "rest."
        ),
    ] = None,
    test: Annotated[
        list[str] | None, _file_option("--test", "Held-out hyperedges, in SOURCE's format.")
    ] = None,
    valid: Annotated[
        list[str] | None,
        _file_option("--valid", "Validation hyperedges, for methods that use them."),
    ] = None,
    known: Annotated[
        list[str] | None,
        _file_option("--known", "More true hyperedges: excluded from negatives and from rankings."),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown", help="A run: leave out test hyperedges with names unknown to it."
        ),
    ] = False,
    position: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE",
            help="Completion: rank only at positions of this node type; may be repeated. "
            "\\[default: entity for kinships, umls and jf17k; else all]",
        ),
    ] = None,
    ranking: Annotated[
        str | None,
        typer.Option(
            metavar="N|all|none",
            help="How many hyperedges to rank among all candidates for MRR and Hits@k. "
            "\\[default: 2000; completion: all]",
        ),
    ] = None,
    negatives: Annotated[int, typer.Option(help="Negatives per hyperedge.")] = 5,
    negative_scheme: Annotated[
        str,
        typer.Option(
            metavar="SCHEME",
            help="How negatives are drawn: paper (one or two nodes replaced, uniformly), one, all, "
            "degree (replaced by degree), or matched (tuples of the same size, all nodes by "
            "degree).",
        ),
    ] = "paper",
    evaluation_seed: Annotated[
        int | None,
        typer.Option(help="Seed for the negatives; keep the default for comparable results."),
    ] = None,
    roc: Annotated[bool, typer.Option("--roc", help="Keep the ROC curves in the record.")] = False,
    node_type: Annotated[
        str | None,
        typer.Option(
            help="Classification: the node type to classify. \\[default: all with labels]"
        ),
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option(metavar="0.1,0.5", help="Classification: shares of training nodes."),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Classification: draws of training nodes.")] = 5,
    label_count: Annotated[
        str,
        typer.Option(help="Classification of several labels: positive, or known as in DeepWalk."),
    ] = "positive",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    time_split: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Test on the latest share of the hyperedges (needs --time, or a "
            "file that keeps times).",
        ),
    ] = None,
) -> None:
    """Measure how well a method does on a task.

    link-prediction: fit on train, separate test hyperedges from negatives (AUC, average precision),
    and rank them among all candidates (MRR, Hits@k). A dataset has its own split; a file is split
    at random by the seed, with 20% for the test, unless --test names a test file. completion: only
    the ranks, of every test hyperedge, at positions of the given node types. reconstruction: link
    prediction, fitted to and tested on the whole network. classification: a linear SVM predicts the
    nodes' labels from the embeddings.

    [bold]Examples[/bold]

    dhne evaluate link-prediction gps --seeds 0,1,2

    dhne evaluate link-prediction tags.csv --columns user=userId,movie=movieId,tag=tag --json -

    dhne evaluate completion kinships --method dhne-plus --seeds 0,1,2 --json -

    dhne evaluate completion train.tsv --facts 2 --valid valid.tsv --test test.tsv --position entity

    dhne evaluate completion runs/kinships --test new.tsv

    dhne evaluate reconstruction drug --method line --protocol clean --dim 32

    dhne evaluate classification movielens --method dhne-plus --set epochs=20
    """
    from dhne.evaluation import (
        EVALUATION_SEED,
        CompletionOptions,
        EvaluationSettings,
        Options,
        evaluate,
    )

    trained = len(source) == 1 and is_run(source[0])
    if trained:
        _refuse_training(context)
    from dhne.sampling import SCHEMES

    if negative_scheme not in SCHEMES:
        raise UnknownNameError("--negative-scheme", negative_scheme, SCHEMES)
    if position and task != "completion":
        raise ParameterError("--position is for the task completion")
    completing = task == "completion"
    options = Options(
        negatives=_at_least_one("--negatives", negatives),
        negative_scheme=negative_scheme,
        evaluation_seed=EVALUATION_SEED if evaluation_seed is None else evaluation_seed,
        ranked=_ranked(ranking or "2000"),
        roc=roc,
    )
    classification: dict[str, Any] = {"repeats": repeats, "label_count": label_count}
    classification |= {"node_type": node_type, "shares": _numbers("--shares", shares, float)}
    used = classification if task == "classification" else {}
    if completing and ranking == "none":
        raise ParameterError("completion is ranking; leave out --ranking none")
    completion = CompletionOptions(tuple(position or ()), _ranked(ranking or "all"))
    settings = EvaluationSettings(options, keep, used, completion)
    wanted = _numbers("--seeds", seeds, int) or []
    declared = find_method(method).load_class().declared_parameters()
    params = parse_settings(setting or [], declared)
    _check_target(json)
    labels, half_life = reading.pop("labels"), reading["half_life"]
    if time_split is not None:
        reading["half_life"] = None
    files = Files(source, test or [], valid or [], known or [], labels, reading)
    opened = open_data(task, files, skip_unknown=skip_unknown)
    if time_split is not None:
        opened = replace(
            opened, data=_split_by_time(opened.data, task, keep, time_split, half_life)
        )
    with TaskProgress(quiet=quiet) as progress:
        record = evaluate(
            task,
            opened.data,
            opened.model or method,
            protocol=protocol,
            seeds=wanted,
            dim=dim,
            device=device,
            params=params,
            settings=settings,
            report=progress.report,
        )
    record.config.update(opened.about)
    if json is not None:
        write_json(record.to_dict(), json)
        if json != "-":
            note(f"{json}: written")
    if json != "-":
        show_record(record)


def _refuse_training(context: typer.Context) -> None:
    """Raise for options of a training that were given for a run."""
    options = {p.name: p.opts[0] for p in context.command.params}
    for name in _OF_TRAINING:
        if context.get_parameter_source(name).name != "DEFAULT":  # type: ignore[union-attr]
            raise ParameterError(f"a run is evaluated as it is; leave out {options[name]}")


def _split_by_time(
    data: Data, task: str, keep: float | None, share: float, half_life: str | None
) -> Data:
    """Test on the latest hyperedges; weights in train decay from its own latest hyperedge."""
    if task not in ("link-prediction", "completion") or keep is not None:
        raise ParameterError("--time-split is for link-prediction and completion, without --keep")
    if data.valid is not None or data.test is not None:
        raise ParameterError("--time-split makes the split; leave out --test and --valid")
    train, test = data.whole.split_by_time(share)
    train = train if half_life is None else train.with_decay(half_life)
    return replace(data, train=train, test=test)


def _check_target(json: str | None) -> None:
    """Report before the work that the result could not be written."""
    if json not in (None, "-") and not Path(str(json)).absolute().parent.is_dir():
        raise InputError("the directory does not exist; create it first", file=json)


def _at_least_one(option: str, value: int) -> int:
    if value < 1:
        raise ParameterError(f"{option} must be at least 1, got {value}")
    return value


def _ranked(text: str) -> int | None:
    if text in ("all", "none"):
        return None if text == "all" else 0
    if not text.isdecimal():
        raise ParameterError(f"--ranking takes a number, all or none, not {text!r}")
    return int(text)


def _numbers(option: str, text: str | None, kind: type[Any]) -> list[Any] | None:
    if text is None:
        return None
    try:
        return [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ParameterError(f"{option} takes numbers separated by commas, not {text!r}") from None
