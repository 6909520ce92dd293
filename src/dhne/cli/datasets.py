"""``dhne datasets``: what there is and where, and making one from its source files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .output import add_row, console, make_table, note, write_json

app = typer.Typer(
    help="List the datasets, or build one from its source.",
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def datasets(
    context: typer.Context,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write JSON; - for standard output."),
    ] = None,
) -> None:
    """List the datasets, and where each was found.

    The paper's four (gps, movielens, drug, wordnet) and public facts (kinships, umls, jf17k) are
    looked for in the directory that DHNE_DATA names, then in the cache, and are downloaded when
    they are needed. wordnet-sample comes with the package.
    """
    if context.invoked_subcommand is not None:
        return
    from dhne.datasets import list_datasets

    records = [_record(found) for found in list_datasets()]
    if json is not None:
        write_json(records, json)
    if json == "-":
        return
    table = make_table("Datasets", ["name", "what", "where"], left=["what", "where"])
    table.columns[0].justify = "left"
    for r in records:
        where = r["where"] or "not here; downloaded when needed"
        add_row(table, r["name"], r["title"], where)
    console().print(table)


def _record(found: Any) -> dict[str, Any]:
    entry = found.entry
    return {
        "name": entry.name,
        "title": entry.title.partition(": ")[2] or entry.title,
        "description": entry.description,
        "node_types": list(entry.node_types),
        "labels": entry.labels,
        "source": entry.source,
        "caution": entry.caution or None,
        "available": found.where is not None,
        "where": found.where,
    }


@app.command()
def build(
    name: Annotated[str, typer.Argument(help="wordnet, or wordnet-sample.")],
    source: Annotated[
        Path, typer.Option("--from", metavar="DIR", help="Where the source files are.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write it; format by ending.")
    ],
) -> None:
    """Make a dataset with names from its source files.

    [bold]Example[/bold], with Debian's package wordnet-base installed

    dhne datasets build wordnet --from /usr/share/wordnet --out wordnet.parquet
    """
    from dhne import io
    from dhne.datasets import build as build_dataset

    io.format_of(out)
    network = build_dataset(name, source, progress=True)
    written = io.write(network, out)
    beside = ", ".join(p.name for p in written[:-1])
    note(
        f"{out}: {network.num_nodes():,} nodes, {network.num_edges():,} hyperedges"
        + (f"; beside it {beside}" if beside else "")
    )
