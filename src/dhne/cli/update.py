"""``dhne update``: go on learning with new hyperedges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dhne.errors import ParameterError

from .output import note, write_json
from .queries import JsonOption, RunArgument, open_run
from .remembered import reading_of
from .run_source import run_source
from .source import (
    ColumnsOption,
    DelimiterOption,
    EncodingOption,
    FactsOption,
    NoHeaderOption,
    TimeOption,
    UnorderedOption,
    WeightOption,
    complete_source,
    open_source,
)
from .train_options import QuietOption


def command(
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
        typer.Option(min=1, help="\\[default: a fifth of the epochs of the training]"),
    ] = None,
    quiet: QuietOption = False,
    json: JsonOption = None,
    columns: ColumnsOption = None,
    weight: WeightOption = None,
    time: TimeOption = None,
    unordered: UnorderedOption = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    no_header: NoHeaderOption = False,
    facts: FactsOption = None,
) -> None:
    """Go on learning with new hyperedges, new nodes and new edge types.

    Known nodes keep their ids. Earlier hyperedges are learned from beside the new ones, so that
    nothing is forgotten. New files are read as those of training were, unless options say
    otherwise. The run is replaced when the new one is complete.

    [bold]Examples[/bold]

    dhne update runs/tags monday.csv

    dhne update runs/tags tuesday.csv --out runs/tuesday --epochs 5
    """
    from dhne.storage import lock_run
    from dhne.training.callbacks import Callback, ProgressBar

    target = Path(run) if out is None else out
    if out is not None and out.exists():
        raise ParameterError(f"{out} exists already; name another --out, or remove it")
    given: dict[str, Any] = {"columns": columns, "weight": weight, "unordered": unordered}
    given |= {"delimiter": delimiter, "encoding": encoding, "no_header": no_header}
    new = open_source(files, **reading_of(run, files, {**given, "facts": facts, "time": time}))
    if not new.num_edges():
        note("there are no new hyperedges; nothing was changed")
        return
    with lock_run(target):
        model = open_run(run)
        callbacks: list[Callback] = [] if quiet or json == "-" else [ProgressBar()]
        model.partial_fit(new, epochs=epochs, callbacks=callbacks)
        model.updates_[-1] |= {"run": run, "files": list(files)}
        model.save(target, notes={"source": run_source(run)})
    report = {"run": str(target), **model.updates_[-1]}
    if json is not None:
        write_json(report, json)
    note(f"{target}: {new.num_edges():,} new hyperedges, {len(model.history_)} epochs in all")
