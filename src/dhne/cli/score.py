"""``dhne score``: a table of tuples, and how similar each is as a whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dhne.errors import InputError, ParameterError, UnknownNameError

from .output import note, visible, write_json
from .queries import JsonOption, RunArgument, open_run
from .remembered import reading_of
from .source_options import with_source
from .table_options import AUTO, parse_columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from dhne.network.edges import EdgeType
    from dhne.network.hypernetwork import HyperNetwork


_EXPLAINED = 100  # tuples explained at most


@with_source(without=["weight", "time", "unordered", "facts"])
def command(
    reading: dict[str, Any],
    run: RunArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A table of tuples: CSV, TSV or Parquet; - for standard input."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to write (.csv, .tsv, .parquet)."),
    ] = None,
    sort: Annotated[bool, typer.Option("--sort", help="Most similar first.")] = False,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            help="Leave the scores of tuples with unknown names empty instead of failing.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Explain the scores, in words (or as JSON): what the nodes share, what each adds "
            "to the score, where it lies among known hyperedges and random tuples.",
        ),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Score tuples: the table comes back with a column "score", the similarity S in 0 … 1.

    Without --columns, the columns are those of training, or those called like the node types of the
    run (a second position of one type: person.2). Without --out, CSV goes to standard output.

    [bold]Examples[/bold]

    dhne score demo/run triples.csv --sort

    dhne score runs/tags new.csv --columns user=userId,movie=movieId,tag=tag --out scored.parquet

    dhne score runs/tags new.csv --explain
    """
    if out is not None:
        if explain:
            raise ParameterError("--explain writes no table; leave out --out, or use --json FILE")
        _check_ending(out)
    file = _one_file(file)
    reading = reading_of(run, [str(file)], reading)
    columns, delimiter = reading["columns"], reading["delimiter"]
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter)
    options: dict[str, Any] = {"delimiter": delimiter, "encoding": reading["encoding"] or "utf-8"}
    options["header"] = not reading["no_header"]
    table = _read(file, options)
    model = open_run(run)
    network = model.network_
    edge_type, chosen = _choose(network, table, columns, file)
    nodes = _nodes(network, table, edge_type, chosen, file, options, skip_unknown=skip_unknown)
    if explain:
        _explain(model, nodes, edge_type, json)
        return
    scored = _scored(table, _scores(model, nodes, edge_type), sort=sort)
    if json is not None:
        write_json(scored.to_pylist(), json)
    if out is not None:
        _write(scored, out)
        note(f"{out}: {_counted(scored)}")
    elif json != "-":
        _print(scored)


def _counted(scored: pa.Table) -> str:
    """Say how many tuples have a score."""
    empty = scored["score"].null_count
    if not empty:
        return f"{scored.num_rows:,} tuples scored"
    return (
        f"{scored.num_rows - empty:,} of {scored.num_rows:,} tuples scored; the others hold "
        "unknown names"
    )


def _explain(
    model: Any, nodes: npt.NDArray[np.int64], edge_type: EdgeType, json: str | None
) -> None:
    """Say why each tuple has its score; tuples with unknown names have none."""
    from .output import console

    if len(nodes) > _EXPLAINED:
        raise ParameterError(
            f"--explain takes at most {_EXPLAINED} tuples, this table has {len(nodes):,}"
        )
    found = [model.explain(row, edge_type=edge_type) if row.min() >= 0 else None for row in nodes]
    if json is not None:
        write_json([None if e is None else e.to_dict() for e in found], json)
    if json != "-":
        for explanation in found:
            text = "unknown names" if explanation is None else str(explanation)
            console().print(text, markup=False, soft_wrap=True)


def _check_ending(out: Path) -> None:
    from dhne.io import format_of

    if format_of(out) != "table":
        raise InputError("scores are a table; use .csv, .tsv or .parquet", file=out)


def _one_file(file: Path) -> Path:
    from dhne.io.inputs import STDIN, table_files

    return table_files(file)[0] if str(file) == STDIN else file


def _read(file: Path, options: dict[str, Any]) -> pa.Table:
    from dhne.io.bundle import is_parquet
    from dhne.io.delimited import read_delimited
    from dhne.io.parquet import read_parquet

    return read_parquet(file) if is_parquet(file) else read_delimited(file, **options)


def _line(file: Path, row: int, options: dict[str, Any]) -> int | None:
    from dhne.io.bundle import is_parquet
    from dhne.io.delimited import line_of

    return row + 1 if is_parquet(file) else line_of(file, row, **options)


def _choose(
    network: HyperNetwork, table: pa.Table, columns: list[str] | None, file: Path
) -> tuple[EdgeType, list[str]]:
    """Return the edge type that the table has, and the column of each position."""
    from dhne.answers.tuple_tables import fitting_type, position_columns

    there = table.column_names
    if columns and columns != [AUTO]:
        if len(columns) > 1:
            raise ParameterError("--columns is given once here")
        pairs = parse_columns(columns[0])
        for _, column in pairs:
            if column not in there:
                raise UnknownNameError("column", column, there)
        return network.edge_set([t for t, _ in pairs]).types, [c for _, c in pairs]
    edge_type = fitting_type(network, there)
    if edge_type is not None:
        return edge_type, position_columns(edge_type)
    wanted = "; ".join(", ".join(position_columns(t)) for t in network.edge_types)
    raise InputError(
        f"it has the columns {', '.join(there)}, but needs {wanted}; map them with "
        "--columns TYPE=COLUMN,…",
        file=file,
    )


def _nodes(
    network: HyperNetwork,
    table: pa.Table,
    edge_type: EdgeType,
    columns: list[str],
    file: Path,
    options: dict[str, Any],
    *,
    skip_unknown: bool,
) -> npt.NDArray[np.int64]:
    """Return ids ``int64[m, N]``, -1 for unknown names."""
    import numpy as np

    from dhne.answers.tuple_tables import find_nodes

    nodes = find_nodes(network, table, edge_type, columns)
    if not skip_unknown and (nodes < 0).any():
        row, position = np.argwhere(nodes < 0)[0].tolist()
        near = network.vocabulary(edge_type[position]).names.slice(0, 200_000).to_pylist()
        name = table[columns[position]][row].as_py()
        what = UnknownNameError(edge_type[position], name, near)
        line = _line(file, row, options)
        raise InputError(str(what), file=file, line=line, column=columns[position])
    return nodes


def _scores(
    model: Any, nodes: npt.NDArray[np.int64], edge_type: EdgeType
) -> npt.NDArray[np.float64]:
    import numpy as np

    scores = np.full(len(nodes), np.nan)
    whole = (nodes >= 0).all(axis=1)
    if whole.any():
        scores[whole] = model.score(nodes[whole], edge_type)
    return scores


def _scored(table: pa.Table, scores: npt.NDArray[np.float64], *, sort: bool) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    if "score" in table.column_names:
        table = table.drop_columns(["score"])
    table = table.append_column("score", pa.array(scores, from_pandas=True))  # NaN becomes null
    if sort:
        order = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")
        table = table.take(pa.array(order))
    return table


def _write(table: pa.Table, out: Path) -> None:
    from dhne.files.writing import writing
    from dhne.io.bundle import is_parquet
    from dhne.io.delimited import write_delimited
    from dhne.io.parquet import write_parquet

    with writing(out) as (temporary,):
        if is_parquet(out):
            write_parquet(table, temporary)
        else:
            write_delimited(table, temporary, name=out.name)


def _print(table: pa.Table) -> None:
    """Write CSV to standard output."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    screen = sys.stdout.isatty()
    writer.writerow(map(visible, table.column_names) if screen else table.column_names)
    for batch in table.to_batches(max_chunksize=1 << 16):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if screen:
            rows = zip(
                *(map(_visible, column.to_pylist()) for column in batch.columns), strict=True
            )
        writer.writerows(rows)


def _visible(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value
