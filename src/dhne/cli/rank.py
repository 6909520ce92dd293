"""``dhne rank``: the best completions of a partial tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import add_row, console, make_table, write_json
from .queries import CountOption, JsonOption, RunArgument, open_run, parse_query

if TYPE_CHECKING:
    from dhne.embedder import Ranking
    from dhne.network.edges import EdgeType
    from dhne.network.hypernetwork import HyperNetwork


def command(
    run: RunArgument,
    query: Annotated[
        list[str],
        typer.Argument(metavar="TYPE=NAME…", help="The tuple, with ? for the names to find."),
    ],
    k: CountOption = 10,
    new_only: Annotated[
        bool,
        typer.Option(
            "--new-only", "--drop-known", help="Leave out hyperedges that the run was trained on."
        ),
    ] = False,
    beam: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many nodes to try at the first of two open positions, or how many "
            "combinations at unnamed ones.",
        ),
    ] = 64,
    rest: Annotated[
        str,
        typer.Option(
            metavar="best|expected",
            help="Score over unnamed positions: the best combination, or the mean over known ones.",
        ),
    ] = "best",
    json: JsonOption = None,
) -> None:
    r"""Complete a tuple: the names that make it most similar to a hyperedge, best first.

    One or two positions may be open (?). Positions that are not named may hold anything: answers
    are then ranked over the best rest, which is shown too. Where a node type repeats, its names
    fill the positions from left to right. A name that is really ? is written \\?.

    [bold]Examples[/bold]

    dhne rank demo/run head=paris.n.01 relation=part_of tail=?

    dhne rank runs/tags user=ann movie=Heat tag=? -k 5 --new-only

    dhne rank runs/follows person=ann person=?

    dhne rank runs/tags user=ann movie=? tag=? --json -

    dhne rank runs/hospital patient=003444 drug=?
    """
    model = open_run(run)
    edge_type, values = parse_query(model.network_, query)
    chosen = edge_type if edge_type.has_sets or edge_type in model.network_.edge_types else None
    known = "drop" if new_only else "keep"
    found = model.rank(values, k, known=known, edge_type=chosen, beam=beam, rest=rest)
    report = _report(model.network_, edge_type, values, found)
    if json is not None:
        write_json(report, json)
    if json != "-":
        _show(report)


def _report(
    network: HyperNetwork, edge_type: EdgeType, values: tuple[Any, ...], found: Ranking
) -> dict[str, Any]:
    answers = [name if isinstance(name, tuple) else (name,) for name in found.names]
    tuples = [list(t) for t in found.tuples]
    known = _known(network, edge_type, tuples)
    return {
        "edge_type": list(edge_type),
        "query": [None if value is ... else value for value in values],
        "open": [p for p, value in enumerate(values) if value is None],
        "any": [p for p, value in enumerate(values) if value is ...],
        "exact": found.exact,
        "answers": [
            {"tuple": t, "names": list(answer), "score": score, "known": seen}
            for t, answer, score, seen in zip(
                tuples, answers, found.scores.tolist(), known, strict=True
            )
        ],
    }


def _known(network: HyperNetwork, edge_type: EdgeType, tuples: list[list[Any]]) -> list[bool]:
    """Which tuples the run was trained on."""
    import numpy as np

    from dhne.sampling import KnownEdges

    if not tuples or edge_type not in network.edge_types:
        return [False] * len(tuples)
    columns = zip(*tuples, strict=True)
    ids = [network.ids(t, list(c)) for t, c in zip(edge_type, columns, strict=True)]
    nodes = network.edge_set(edge_type).types.canonical(np.stack(ids, axis=1))
    return [bool(x) for x in KnownEdges(network).contains(nodes, edge_type)]


def _show(report: dict[str, Any]) -> None:
    types = report["edge_type"]
    marks = dict.fromkeys(report["open"], "?") | dict.fromkeys(report["any"], "(any)")
    asked = ", ".join(f"{t} {marks.get(p, report['query'][p])}" for p, t in enumerate(types))
    shown = [*report["open"], *report["any"]]
    headings = [types[p] if p in report["open"] else f"with {types[p]}" for p in shown]
    table = make_table(
        f"({asked})", ["", *headings, "similarity", "known"], left=[*headings, "known"]
    )
    for number, answer in enumerate(report["answers"], start=1):
        known = "yes" if answer["known"] else ""
        names = [str(answer["tuple"][p]) for p in shown]
        add_row(table, number, *names, f"{answer['score']:.4f}", known)
    console().print(table)
    if not report["answers"]:
        console().print("No candidates remain.")
    if report["any"] and not report["exact"]:
        console().print(
            "Not all combinations at unnamed positions were tried: scores are lower bounds. "
            "A larger --beam tries more."
        )
