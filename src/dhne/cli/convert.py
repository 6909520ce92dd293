"""``dhne convert``: one format to another; what the other cannot hold is listed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import note
from .source import complete_source, open_source
from .source_options import with_source

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork


@with_source()
def command(
    reading: dict[str, Any],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="IN… OUT",
            autocompletion=complete_source,
            help="One or several datasets or files, and the output.",
        ),
    ],
    fold: Annotated[
        bool,
        typer.Option("--fold", help="Fold repeated hyperedges into one and add their weights."),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Convert a dataset or files to another format, chosen by the extension of OUT.

    OUT may end in .csv, .tsv, .csv.gz, .parquet, .hif.json, .hif.json.gz or .npz. It is written
    atomically. What a table cannot hold is written to files beside it. Ids and attributes that
    other programs wrote into a HIF file are kept in HIF; for other formats they are listed.

    [bold]Examples[/bold]

    dhne convert wordnet-sample places.hif.json

    dhne convert tags.csv tags.parquet --columns user=userId,movie=movieId,tag=tag

    dhne convert facts.tsv facts.hif.json --facts 1

    dhne convert rated.csv tags.csv out.npz --columns user=u,movie=m --columns user=u,movie=m,tag=t
    """
    from dhne import io

    if len(files) < 2:
        raise typer.BadParameter("name an input and an output")
    *names, out = files
    io.format_of(out)  # reports an unsupported output before the work
    whole = open_source(names, **reading)
    network = whole.fold() if fold else whole
    written = io.write(network, out, overwrite=overwrite)
    beside = ", ".join(Path(p).name for p in written[:-1])
    note(
        f"{out}: {network.num_nodes():,} nodes, {network.num_edges():,} hyperedges"
        + (f"; beside it {beside}" if beside else "")
    )
    if lost := _with_extras(whole) - _with_extras(network):
        note(f"{lost:,} folded hyperedges have lost the ids and attributes of their HIF file")


def _with_extras(network: HyperNetwork) -> int:
    columns = (e.extras for e in network.edge_sets if e.extras is not None)
    return sum(len(c) - c.null_count for c in columns)
