"""Tables as hyper-networks: one row per hyperedge, one column per position.

CSV and TSV (gzipped or not), Parquet, directories and patterns of them, and tables in memory
(pandas, polars, pyarrow, lists of dicts). Several tables make one network: they share names, and
each table's positions are one of its edge types.

Text files have no types: the names of a node type are integers if all of them are written in
canonical form (``42``, not ``042`` or ``+42``), and strings otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError, NoRowsError, ParameterError
from dhne.files.reading import StrPath, warn
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.memory_tables import as_table, is_table, without_categories

from .column_mapping import Columns, Mapped, check_suitable, columns_of, map_columns
from .delimited import delimiter_of, read_delimited, read_header
from .inputs import Partition, partition_of, table_files
from .join_tables import (
    Part,
    Source,
    build,
    check_names,
    typeless,
    with_integers,
)
from .parquet import is_parquet, read_parquet, read_parquet_names

_ROWS_COMPARED = 10_000  # with the first line, to notice that there is no header


def read_table(
    source: Any,
    columns: Columns | None = None,
    *,
    weight: str | bool | None = None,
    time: str | None = None,
    ordered: bool = True,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> HyperNetwork:
    """Read hyperedges from a table: a file, several files, or one in memory.

    Parameters
    ----------
    source : path, or a table in memory
        A path is a CSV or TSV file (also ``.gz``) or Parquet, by its extension; a directory or a
        pattern (``"tags-*.csv"``) of such files, which must have the same columns; or ``"-"`` for
        standard input. In memory: a DataFrame of pandas or polars (also lazy), an Arrow table or
        dataset, a list of dicts.
    columns : mapping of node type to column, optional
        ``{"user": "userId", "movie": "movieId"}``; a list of columns where a node type repeats,
        ``{"person": ["head", "tail"]}``; or (node type, column) pairs in the order of positions. By
        default, every column except the weights is a node type of the same name.
    weight : str or False, optional
        The column of weights. By default, a column called ``weight`` that is not a position; False
        for no weights.
    time : str, optional
        The column of times: dates, datetimes or numbers.
    ordered : bool
        Whether positions of the same node type are distinct (head, tail) or a set (co-authors).
    delimiter : str, optional
        Of text files; by default a tab for ``.tsv`` and a comma otherwise.
    encoding : str
        Of text files.
    header : bool
        Whether the first line of a text file names its columns; otherwise they are c1, c2 …, or
        named in order by `columns`.

    Returns
    -------
    HyperNetwork
        One hyperedge per row; repeats are kept (see :meth:`HyperNetwork.fold`).

    Raises
    ------
    InputError
        If the table is not a valid hyper-network; the message names file, line and column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"userId": [1, 1, 2], "movie": ["Heat", "Alien", "Heat"]})
    >>> read_table(table, {"user": "userId", "movie": "movie"})
    HyperNetwork(3 hyperedges)
      nodes: user 2, movie 2
      edges: (user, movie) 3
    """
    options: dict[str, Any] = {"weight": weight, "ordered": ordered, "delimiter": delimiter}
    options |= {"columns": columns, "time": time, "encoding": encoding, "header": header}
    return read_tables([(source, options)])


def as_network(source: Any) -> HyperNetwork:
    """Return a network unchanged, and anything that `read_table` accepts as a network.

    Examples
    --------
    >>> as_network([{"user": "ann", "movie": "Heat"}]).edge_types
    (('user', 'movie'),)
    """
    from .prepared.layout import is_prepared, read_prepared  # they import from here

    if isinstance(source, HyperNetwork):
        return source
    if isinstance(source, str | PathLike) and is_prepared(source):
        return read_prepared(source)
    if isinstance(source, str | PathLike) or is_table(source):
        return read_table(source)
    raise ParameterError(
        f"fit takes a HyperNetwork or a table, got {type(source).__name__}; "
        "create one with dhne.read_table or HyperNetwork.from_tuples"
    )


def read_tables(sources: Iterable[Any]) -> HyperNetwork:
    """Read several tables into one network that shares their names.

    Parameters
    ----------
    sources : iterable of tables, or of (table, options of :func:`read_table`)

    Examples
    --------
    >>> import pyarrow as pa
    >>> net = read_tables(
    ...     [
    ...         pa.table({"user": ["ann"], "movie": ["Heat"]}),
    ...         pa.table({"user": ["ann", "bob"], "movie": ["Heat", "Alien"], "tag": ["a", "b"]}),
    ...     ]
    ... )
    >>> net.edge_types, net.num_nodes("user")
    ((('user', 'movie'), ('user', 'movie', 'tag')), 2)
    """
    parts: list[Part] = []
    for item in sources:
        source, options = item if isinstance(item, tuple) else (item, {})
        several = table_files(source) if isinstance(source, str | PathLike) else [source]
        parts += [_read_part(one, Reading(**options)) for one in several]
    if not parts:
        raise InputError("no table was given")
    untyped = typeless(parts)
    return with_integers(build(parts), untyped)


@dataclass(frozen=True)
class Reading:
    """How to read a table: the options of :func:`read_table`."""

    columns: Columns | None = None
    weight: str | bool | None = None
    time: str | None = None
    ordered: bool = True
    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True


def _read_part(source: Any, how: Reading) -> Part:
    if isinstance(source, str | PathLike):
        opened, mapped = _open_file(source, how)
    else:
        table = as_table(source)
        mapped = map_columns(table.column_names, how.columns, how.weight, None, time=how.time)
        opened = Source(table.select(mapped.used))
    if opened.table.num_rows == 0:
        raise NoRowsError("there is a header but no row below it", file=opened.file)
    return checked_part(opened, mapped, how)


def checked_part(source: Source, mapped: Mapped, how: Reading) -> Part:
    """Return the rows of a table as hyperedges once their names have been checked."""
    if how.columns is None and not source.first_row:
        check_suitable(source.table, mapped.columns, source.file)
        if source.text and how.header:
            _notice_missing_header(source, mapped)
    for name in mapped.columns:
        check_names(source, name)
    return Part(source, mapped, EdgeType.of(mapped.types, ordered=how.ordered))


def _open_file(path: StrPath, how: Reading) -> tuple[Source, Mapped]:
    mapped, partition = map_file(path, how)
    used = [c for c in mapped.used if c not in partition]
    if is_parquet(path):
        return file_source(path, read_parquet(path, used), mapped, partition, how), mapped
    table = read_delimited(
        path, used, delimiter=how.delimiter, encoding=how.encoding, header=how.header
    )
    return file_source(path, table, mapped, partition, how), mapped


def map_file(path: StrPath, how: Reading) -> tuple[Mapped, Partition]:
    """Return which columns of a file to use, and those that its directories name instead."""
    if is_parquet(path):
        names, header = read_parquet_names(path), True
    else:
        delimiter = delimiter_of(path) if how.delimiter is None else how.delimiter
        names, header = read_header(path, delimiter, how.encoding, header=how.header), how.header
    asked = None if how.columns is None else columns_of(how.columns)
    partition = {
        key: value
        for key, value in partition_of(path).items()
        if key not in names and (key in (how.weight, how.time) or key in (asked or ()))
    }
    known = [*names, *partition]
    mapped = map_columns(known, how.columns, how.weight, path, header=header, time=how.time)
    return mapped, partition


def file_source(
    path: StrPath,
    table: pa.Table,
    mapped: Mapped,
    partition: Partition,
    how: Reading,
    first_row: int = 0,
) -> Source:
    """Return (some rows of) a file's table, with the columns that its directories name."""
    for key, value in partition.items():
        table = table.append_column(key, pa.repeat(pa.scalar(value, pa.string()), len(table)))
    table = table.select(mapped.used)
    if is_parquet(path):
        table = without_categories(table)
        return Source(table, path, untyped=frozenset(partition), first_row=first_row)
    delimiter = delimiter_of(path) if how.delimiter is None else how.delimiter
    return Source(table, path, True, delimiter, how.encoding, how.header, first_row=first_row)


def _notice_missing_header(source: Source, mapped: Mapped) -> None:
    """Warn if the first line looks like a row rather than like column names."""
    first = source.table.slice(0, _ROWS_COMPARED)
    for name in mapped.columns:
        number = name.strip().lstrip("+-").replace(".", "", 1).isdecimal()
        if number or pc.any(pc.equal(first[name], name), min_count=0).as_py():
            file = source.file or ""
            warn(
                f"the first line was read as column names, but {name!r} looks like a value; if the "
                "file has no header, use header=False or --no-header",
                file,
            )
            return
