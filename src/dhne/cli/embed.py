"""``dhne embed``: a run's vectors, or those of new nodes, to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import note, write_json
from .queries import JsonOption, RunArgument, open_run
from .remembered import reading_of
from .source import open_source
from .source_options import with_source

if TYPE_CHECKING:
    import pyarrow as pa


@with_source(without=["time"])
def command(
    reading: dict[str, Any],
    run: RunArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", help="Output file; its extension chooses the format."
        ),
    ],
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only this node type; may be repeated."),
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(
            "--edges",
            metavar="FILE",
            help="Hyperedges of new nodes with known ones: write the new nodes' vectors instead. "
            "Read like the run's own files; options override that.",
        ),
    ] = None,
    keep_isolated: Annotated[
        bool,
        typer.Option(
            "--keep-isolated",
            help="Keep new nodes that share no hyperedge with a known one, instead of failing.",
        ),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Write vectors: of all nodes of a run, or of new nodes from their hyperedges (--edges).

    The ending of the file decides the format: Parquet (.parquet), CSV (.csv), npz with one array
    per node type (.npz), word2vec text (.txt, .vec, .w2v), a table for the Embedding Projector
    (x.tsv, with names and labels in x.metadata.tsv beside it) or a directory for TensorBoard
    (.projector). In word2vec text, white space and % in names are escaped as in web addresses, and
    with several node types names are written TYPE:NAME. The files of --edges are read like those of
    training; options override that.

    [bold]Examples[/bold]

    dhne embed demo/run --out places.parquet

    dhne embed demo/run --out places.vec --type head

    dhne embed runs/tags --out new.npz --edges new.csv
    """
    from dhne.io.vectors import vectors_format, write_vectors

    vectors_format(out)  # reports an unsupported output before the work
    model = open_run(run)
    network = model.network_
    for node_type in types or []:
        network.vocabulary(node_type)
    if edges:
        new = open_source(edges, **reading_of(run, edges, reading))
        tables = _new_nodes(model, new, keep_isolated=keep_isolated)
    else:
        tables = {t: model.vectors(t) for t in network.node_types}
    chosen = {t: table for t, table in tables.items() if not types or t in types}
    if not any(table.num_rows for table in chosen.values()):
        raise _nothing_new(types)
    labels = {} if edges else {t: network.labels(t) for t in chosen}
    written = write_vectors(out, {t: _split(table) for t, table in chosen.items()}, labels=labels)
    report = {
        "files": [str(p) for p in written],
        "vectors": {t: [table.num_rows, _size(table)] for t, table in chosen.items()},
    }
    if json is not None:
        write_json(report, json)
    counts = ", ".join(f"{table.num_rows:,} {t}" for t, table in chosen.items())
    note(f"{out}: vectors of {counts}")


def _new_nodes(model: Any, new: Any, *, keep_isolated: bool) -> dict[str, pa.Table]:
    import pyarrow.compute as pc

    found = model.transform(new, isolated="keep" if keep_isolated else "raise")
    tables = {t: table.filter(pc.invert(table["known"])) for t, table in found.items()}
    return {t: table for t, table in tables.items() if table.num_rows}


def _nothing_new(types: list[str] | None) -> Exception:
    from dhne.errors import InputError

    which = f" of type {', '.join(types)}" if types else ""
    return InputError(f"all nodes{which} in these hyperedges are known already; leave out --edges")


def _split(table: pa.Table) -> tuple[Any, Any]:
    """Return (names, matrix) of a table of vectors."""
    from dhne.io.vector_column import vector_matrix

    return table["name"], vector_matrix(table["vector"])


def _size(table: pa.Table) -> int:
    return int(table.schema.field("vector").type.list_size)
