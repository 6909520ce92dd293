"""``dhne prepare``: data larger than memory, ready for training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .output import note
from .progress import TaskProgress
from .source import explained
from .source_options import with_source
from .table_options import table_options


@with_source(without=("facts",))
def command(
    reading: dict[str, Any],
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="CSV, TSV or Parquet files, directories (also partitioned: year=2024), patterns.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PREPARED", help="The directory to write."),
    ],
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="SIZE", help="How much memory to use; more is spilled to disk."
        ),
    ] = "4GiB",
    pairs: Annotated[
        bool,
        typer.Option("--pairs/--no-pairs", help="Count the pairs of nodes that share a hyperedge."),
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing prepared network.")
    ] = False,
) -> None:
    r"""Prepare data larger than memory for training: numbered nodes and edges as Parquet.

    Needs DuckDB: pip install 'dhne\[big]'. PREPARED appears when it is complete; until then the
    work is in PREPARED.partial. After an interruption, the same command continues it.

    [bold]Examples[/bold]

    dhne prepare events/ --columns user=user_id,item=item_id,shop=shop_id --time day --out prepared

    dhne prepare 'tags-*.csv' --columns user=userId,movie=movieId --memory 8GiB --out prepared

    dhne train prepared --out runs/tags
    """
    from dhne.io import prepare

    columns, time = reading["columns"], reading["time"]
    options = table_options(sources, **reading)
    with TaskProgress() as progress:
        explained(
            lambda: prepare(
                list(zip(sources, options, strict=True)),
                out,
                memory=memory,
                pairs=pairs,
                overwrite=overwrite,
                progress=progress.report,
            ),
            sources,
            columns,
            time,
        )
    note(f"{out}: prepared; train on it with: dhne train {out} --out RUN")
