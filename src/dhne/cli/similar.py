"""``dhne similar``: the nearest nodes of a node."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .output import add_row, console, make_table, write_json
from .queries import CountOption, JsonOption, RunArgument, as_name, open_run


def command(
    run: RunArgument,
    node_type: Annotated[str, typer.Argument(metavar="TYPE", help="The node type.")],
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="One or several nodes of that type.")
    ],
    k: CountOption = 10,
    json: JsonOption = None,
) -> None:
    """Find the nodes of a type whose embeddings point most nearly the same way (cosine).

    [bold]Examples[/bold]

    dhne similar demo/run head paris.n.01

    dhne similar runs/tags movie Heat "12 Monkeys" -k 5 --json -
    """
    model = open_run(run)
    vocabulary = model.network_.vocabulary(node_type)
    asked = [as_name(vocabulary, name) for name in names]
    answers = model.similar(node_type, asked, k)
    report: list[dict[str, Any]] = [
        {
            "type": node_type,
            "name": name,
            "answers": [
                {"name": other, "cosine": cosine}
                for other, cosine in zip(found.names, found.scores.tolist(), strict=True)
            ],
        }
        for name, found in zip(asked, answers, strict=True)
    ]
    if json is not None:
        write_json(report, json)
    if json != "-":
        for record in report:
            _show(record, model.network_.labels(node_type), vocabulary)


def _show(record: dict[str, Any], labels: Any, vocabulary: Any) -> None:
    columns = [record["type"], "cosine", *(["labels"] if labels is not None else [])]
    table = make_table(f"like {record['name']}", ["", *columns], left=[record["type"], "labels"])
    for number, answer in enumerate(record["answers"], start=1):
        cells: list[Any] = [str(answer["name"]), f"{answer['cosine']:.4f}"]
        if labels is not None:
            node = int(vocabulary.ids([answer["name"]])[0])
            cells.append(", ".join(labels[node].as_py()))
        add_row(table, number, *cells)
    console().print(table)
