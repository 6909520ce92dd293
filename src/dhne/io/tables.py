"""Tables as hyper-networks: one row a hyperedge, one column a position.

CSV and TSV (gzipped or not), Parquet, and any table in memory that speaks the Arrow PyCapsule
interface (pandas, polars, pyarrow). Several tables make one network: names are shared, each table's
positions are an edge type of it.

Text files have no types: the names of a node type are integers if every one of them is written as
an integer prints (``42``, never ``042`` or ``+42``), strings otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from dhne.errors import InputError
from dhne.files.reading import StrPath
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.memory_tables import as_table, without_categories

from .column_mapping import Columns, Mapped, check_suitable, map_columns
from .delimited import delimiter_of, read_delimited, read_header
from .join_tables import (
    Part,
    Source,
    build,
    check_names,
    typeless,
    with_integers,
)
from .parquet import read_parquet, read_parquet_names


def read_table(
    source: Any,
    columns: Columns | None = None,
    *,
    weight: str | None = None,
    ordered: bool = True,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> HyperNetwork:
    """Read hyperedges from a table: a file, or one in memory.

    Parameters
    ----------
    source : path, or a table of pandas, polars or pyarrow
        CSV or TSV (also ``.gz``), or Parquet, by the file's ending.
    columns : mapping of node type to column, optional
        ``{"user": "userId", "movie": "movieId"}``; a list of columns where a node type repeats,
        ``{"person": ["head", "tail"]}``; or (node type, column) pairs in the order of positions. If
        left out, every column but the weights' is a node type of its own name.
    weight : str, optional
        The column of the hyperedges' weights. If left out, and `columns` too, a column called
        ``weight``.
    ordered : bool
        Whether positions of the same node type are distinct (head, tail) or a set (co-authors).
    delimiter : str, optional
        Of a text file; if left out, a tab for ``.tsv`` and a comma otherwise.
    encoding : str
        Of a text file.

    Returns
    -------
    HyperNetwork
        With a hyperedge for each row; repeats stay (see :meth:`HyperNetwork.fold`).

    Raises
    ------
    InputError
        With file, line and column, if the table does not make a hyper-network.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"userId": [1, 1, 2], "movie": ["Heat", "Alien", "Heat"]})
    >>> read_table(table, {"user": "userId", "movie": "movie"})
    HyperNetwork(3 hyperedges)
      nodes: user 2, movie 2
      edges: (user, movie) 3
    """
    options = {"weight": weight, "ordered": ordered, "delimiter": delimiter, "encoding": encoding}
    return read_tables([(source, {"columns": columns, **options})])


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
    parts = []
    for item in sources:
        source, options = item if isinstance(item, tuple) else (item, {})
        parts.append(_read_part(source, **options))
    if not parts:
        raise InputError("no table was given")
    untyped = typeless(parts)
    return with_integers(build(parts), untyped)


def _read_part(
    source: Any,
    columns: Columns | None = None,
    *,
    weight: str | None = None,
    ordered: bool = True,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Part:
    if isinstance(source, str | PathLike):
        opened, mapped = _open_file(source, columns, weight, delimiter, encoding)
    else:
        table = as_table(source)
        mapped = map_columns(table.column_names, columns, weight, None)
        opened = Source(table.select(mapped.used))
    if opened.table.num_rows == 0:
        raise InputError("there is a header but no row below it", file=opened.file)
    if columns is None:
        check_suitable(opened.table, mapped.columns, opened.file)
    for name in mapped.columns:
        check_names(opened, name)
    return Part(opened, mapped, EdgeType.of(mapped.types, ordered=ordered))


def _open_file(
    path: StrPath,
    columns: Columns | None,
    weight: str | None,
    delimiter: str | None,
    encoding: str,
) -> tuple[Source, Mapped]:
    if Path(path).name.lower().endswith((".parquet", ".pq")):
        mapped = map_columns(read_parquet_names(path), columns, weight, path)
        return Source(without_categories(read_parquet(path, mapped.used)), path), mapped
    delimiter = delimiter_of(path) if delimiter is None else delimiter
    mapped = map_columns(read_header(path, delimiter, encoding), columns, weight, path)
    table = read_delimited(path, mapped.used, delimiter=delimiter, encoding=encoding)
    return Source(table, path, text=True, delimiter=delimiter, encoding=encoding), mapped
