"""``dhne evaluate``: measure a method on a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from dhne.errors import InputError, ParameterError
from dhne.methods import METHODS, find_method, parse_settings

from .output import add_row, console, make_table, note, write_json
from .progress import TaskProgress
from .source import (
    ColumnsOption,
    DelimiterOption,
    EncodingOption,
    LabelsOption,
    NoHeaderOption,
    UnorderedOption,
    WeightOption,
    complete_source,
    is_dataset,
    open_source,
)

if TYPE_CHECKING:
    from dhne.evaluation import Data, Record


def _complete_method(incomplete: str) -> list[str]:
    return [name for name in METHODS if name.startswith(incomplete)]


def command(
    task: Annotated[
        str,
        typer.Argument(metavar="TASK", help="link-prediction, reconstruction or classification."),
    ],
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…", autocompletion=complete_source, help="A dataset or files."
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
            "stand in train removed."
        ),
    ] = "paper",
    seeds: Annotated[str, typer.Option(metavar="0,1,2", help="One fit each.")] = "0",
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
        typer.Option(help="Link prediction: train on this share of all hyperedges, test the rest."),
    ] = None,
    ranking: Annotated[
        str,
        typer.Option(
            metavar="N|all|none",
            help="How many hyperedges to rank among all candidates for MRR and Hits@k.",
        ),
    ] = "2000",
    negatives: Annotated[int, typer.Option(help="Negatives for each hyperedge.")] = 5,
    evaluation_seed: Annotated[
        int | None, typer.Option(help="Draws the negatives; leave it to compare with others.")
    ] = None,
    roc: Annotated[bool, typer.Option("--roc", help="Keep the ROC curves in the record.")] = False,
    node_type: Annotated[
        str | None, typer.Option(help="Classification: whose labels; all labelled types if not.")
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
    columns: ColumnsOption = None,
    weight: WeightOption = None,
    unordered: UnorderedOption = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    no_header: NoHeaderOption = False,
    labels: LabelsOption = None,
) -> None:
    """Measure how well a method does on a task.

    link-prediction: fit on train, tell test hyperedges from negatives (AUC, average precision) and
    rank them among all candidates (MRR, Hits@k). A dataset brings its split; a file is split at
    random, 20% for the test, by the seed. reconstruction: the same, fitted and asked about the
    whole network. classification: a linear SVM reads the nodes' labels off the embeddings.

    [bold]Examples[/bold]

    dhne evaluate link-prediction gps --seeds 0,1,2

    dhne evaluate link-prediction tags.csv --columns user=userId,movie=movieId,tag=tag --json -

    dhne evaluate reconstruction drug --method line --protocol clean --dim 32

    dhne evaluate classification movielens --method dhne-plus --set epochs=20
    """
    from dhne.evaluation import EVALUATION_SEED, EvaluationSettings, Options, evaluate

    options = Options(
        negatives=_at_least_one("--negatives", negatives),
        evaluation_seed=EVALUATION_SEED if evaluation_seed is None else evaluation_seed,
        ranked=_ranked(ranking),
        roc=roc,
    )
    classification: dict[str, Any] = {"repeats": repeats, "label_count": label_count}
    classification |= {"node_type": node_type, "shares": _numbers("--shares", shares, float)}
    used = classification if task == "classification" else {}
    settings = EvaluationSettings(options, keep, used)
    wanted = _numbers("--seeds", seeds, int) or []
    declared = find_method(method).load_class().declared_parameters()
    params = parse_settings(setting or [], declared)
    _check_target(json)
    reading = {"delimiter": delimiter, "encoding": encoding, "no_header": no_header}
    data = _data(source, columns, weight, unordered, labels, reading)
    with TaskProgress(quiet=quiet) as progress:
        record = evaluate(
            task,
            data,
            method,
            protocol=protocol,
            seeds=wanted,
            dim=dim,
            device=device,
            params=params,
            settings=settings,
            report=progress.report,
        )
    if json is not None:
        write_json(record.to_dict(), json)
        if json != "-":
            note(f"{json}: written")
    if json != "-":
        _show(record)


def _data(
    source: list[str],
    columns: list[str] | None,
    weight: list[str] | None,
    unordered: bool,
    labels: Path | None,
    reading: dict[str, Any],
) -> Data:
    """A dataset keeps its split; whatever else is one network."""
    from dhne.evaluation import Data

    name = " ".join(source)
    given = columns or weight or unordered or labels or any(reading.values())
    if len(source) == 1 and is_dataset(source[0]) and not given:
        from dhne.datasets import load_dataset

        dataset = load_dataset(source[0], progress=True)
        return Data(dataset.name, dataset.train, dataset.test)
    return Data(name, open_source(source, columns, weight, unordered, labels=labels, **reading))


def _check_target(json: str | None) -> None:
    """Say before the work that its result could not be written."""
    if json not in (None, "-") and not Path(str(json)).absolute().parent.is_dir():
        raise InputError("its directory does not exist; make it first", file=json)


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
        raise ParameterError(f"{option} takes numbers with commas between, not {text!r}") from None


def _show(record: Record) -> None:
    """Print the means, spreads and what they were measured on."""
    title = f"{record.method} on {record.dataset}: {record.task}, protocol {record.protocol}"
    screen = console()
    whole = [n for n in record.mean if "/" not in n]
    screen.print(Text(title, style="bold"))
    table = make_table("", ["metric", "mean", "std"], left=["metric"])
    for name in whole:
        add_row(table, name, _number(name, record.mean[name]), _number(name, record.std[name]))
    screen.print(table)
    places = list(dict.fromkeys(n.partition("/")[2] for n in record.mean if "/" in n))
    if places:
        kinds = [n for n in whole if f"{n}/{places[0]}" in record.mean]
        table = make_table("", ["for each", *kinds], left=["for each"])
        for place in places:
            add_row(table, place, *(_number(k, record.mean[f"{k}/{place}"]) for k in kinds))
        screen.print(table)
    screen.print("\n".join(_footnotes(record)), soft_wrap=True)


def _number(metric: str, value: float) -> str:
    return f"{value:.1f}" if metric == "mean_rank" else f"{value:.4f}"


def _footnotes(record: Record) -> list[str]:
    from dhne.evaluation.separation import similarity_title

    edges = record.config["edges"]
    seeds = ", ".join(str(r.seed) for r in record.results)
    seconds = sum(r.seconds["fit"] for r in record.results) / len(record.results)
    peak = max(r.peak_rss_mb for r in record.results)
    ranked = record.config.get("counts", {}).get("ranked", 0)
    lines = [
        (
            f"seeds {seeds}; {edges['train']:,} hyperedges to learn from, {edges['test']:,} to "
            f"test; fit {seconds:.1f} s a seed, peak memory {peak:,.0f} MiB"
        )
    ]
    for seed, choice in record.config.get("chosen", {}).items():
        best = choice["aggregate"]
        how = f"{best} of the pairs' {similarity_title(choice['similarity'][best])}"
        lines.append(f"seed {seed}: {how}, chosen on validation data")
    if 0 < ranked < edges["test"]:
        lines.append(f"ranks are of {ranked:,} test hyperedges; --ranking all takes all")
    return lines
