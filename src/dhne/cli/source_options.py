"""The options of a SOURCE: which columns hold what, and how its files are read.

`with_source` gives them to a command, so that all commands have the same ones.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="TYPE=COLUMN,…",
        help="Which column holds which node type, in the order of positions: "
        "user=userId,movie=movieId. Node types may repeat: person=head,person=tail. "
        "Once for all files, or once per file; auto for a file whose columns need no option.",
    ),
]
WeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN",
        help="The column of weights, once for all files or once per file; none for no weights. "
        "\\[default: a column called weight, if it is not a position]",
    ),
]
TimeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The column of times (dates, datetimes or numbers), once for all files or once per "
        "file; none for a file without times.",
    ),
]
HalfLifeOption = Annotated[
    str | None,
    typer.Option(
        "--half-life",
        metavar="90d",
        help="Half-life of the weights, by age before the newest hyperedge: s, min, h, d, w or y; "
        "a plain number where times are numbers.",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of text files. \\[default: utf-8]"),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="Text files have no header: columns are c1, c2 …, or as --columns lists them.",
    ),
]
FactsOption = Annotated[
    int | None,
    typer.Option(
        "--facts",
        metavar="N",
        min=1,
        help="The files hold facts: tab-separated lines without a header, each a relation (in "
        "column N) and any number of entities.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels of nodes: a table with the columns type, name and label; type is needed only "
        "where several node types have the name.",
    ),
]
UnorderedOption = Annotated[
    bool,
    typer.Option("--unordered", help="Positions of the same node type are a set (co-authors)."),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="Separator of the columns of a text file."),
]

_OPTIONS: dict[str, tuple[Any, Any]] = {  # annotation and default, in the order of the help
    "columns": (ColumnsOption, None),
    "weight": (WeightOption, None),
    "time": (TimeOption, None),
    "half_life": (HalfLifeOption, None),
    "unordered": (UnorderedOption, False),
    "delimiter": (DelimiterOption, None),
    "encoding": (EncodingOption, None),
    "no_header": (NoHeaderOption, False),
    "facts": (FactsOption, None),
    "labels": (LabelsOption, None),
}
_SOME = ("half_life", "labels")  # only for commands that name them


def with_source(
    *more: str, without: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command the options of a SOURCE.

    The command gets them as its argument `reading`, by the names that `open_source` takes.

    Parameters
    ----------
    *more : "half_life" and "labels" for commands that have them
    without : names of options that the command does not have
    """
    left_out = {*_SOME, *without} - set(more)
    options = {name: option for name, option in _OPTIONS.items() if name not in left_out}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function, eval_str=True)

        @functools.wraps(function)
        def command(**values: Any) -> Any:
            reading = {name: values.pop(name) for name in options}
            return function(**values, reading=reading)

        own = [p for p in signature.parameters.values() if p.name != "reading"]
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for name, (annotation, default) in options.items()
        ]
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *added]
        )
        command.__annotations__ = {p.name: p.annotation for p in (*own, *added)}
        return command

    return decorate
