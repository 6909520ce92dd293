"""``dhne convert``: one format to another, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .output import note
from .source import complete_source, open_source
from .source_options import with_source


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
    atomically. What a table cannot hold is written to files beside it.

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
    network = open_source(names, **reading)
    written = io.write(network.fold() if fold else network, out, overwrite=overwrite)
    beside = ", ".join(Path(p).name for p in written[:-1])
    note(
        f"{out}: {network.num_nodes():,} nodes, {network.num_edges():,} hyperedges"
        + (f"; beside it {beside}" if beside else "")
    )
