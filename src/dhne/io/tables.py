"""Tables as hyper-networks: one row a hyperedge, one column a position.

CSV and TSV (gzipped or not), Parquet, directories and patterns of them, and tables in memory
(pandas, polars, pyarrow, lists of dicts). Several tables make one network: names are shared, each
table's positions are an edge type of it.

Text files have no types: the names of a node type are integers if every one of them is written as
an integer prints (``42``, never ``042`` or ``+42``), strings otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from dhne.errors import InputError, NoRowsError, ParameterError
from dhne.files.reading import StrPath, warn
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.memory_tables import as_table, is_table, without_categories

from .column_mapping import Columns, Mapped, check_suitable, map_columns
from .delimited import delimiter_of, read_delimited, read_header
from .inputs import table_files
from .join_tables import (
    Part,
    Source,
    build,
    check_names,
    typeless,
    with_integers,
)
from .parquet import read_parquet, read_parquet_names

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
        A path is a CSV or TSV file (also ``.gz``) or Parquet, by its ending; a directory or a
        pattern (``"tags-*.csv"``) of such files, which must have the same columns; or ``"-"`` for
        standard input. In memory: a DataFrame of pandas or polars (also lazy), an Arrow table or
        dataset, a list of dicts.
    columns : mapping of node type to column, optional
        ``{"user": "userId", "movie": "movieId"}``; a list of columns where a node type repeats,
        ``{"person": ["head", "tail"]}``; or (node type, column) pairs in the order of positions. If
        left out, every column but the weights' is a node type of its own name.
    weight : str or False, optional
        The column of the hyperedges' weights. If left out, a column called ``weight`` that is not
        a position; False for no weights.
    time : str, optional
        The column of the hyperedges' times: dates, datetimes or numbers.
    ordered : bool
        Whether positions of the same node type are distinct (head, tail) or a set (co-authors).
    delimiter : str, optional
        Of a text file; if left out, a tab for ``.tsv`` and a comma otherwise.
    encoding : str
        Of a text file.
    header : bool
        Whether the first line of a text file names its columns; else they are called c1, c2 …, or
        in their order as `columns` says.

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
    options: dict[str, Any] = {"weight": weight, "ordered": ordered, "delimiter": delimiter}
    options |= {"columns": columns, "time": time, "encoding": encoding, "header": header}
    return read_tables([(source, options)])


def as_network(source: Any) -> HyperNetwork:
    """Return a network as it is, and whatever `read_table` takes as a network.

    Examples
    --------
    >>> as_network([{"user": "ann", "movie": "Heat"}]).edge_types
    (('user', 'movie'),)
    """
    if isinstance(source, HyperNetwork):
        return source
    if isinstance(source, str | PathLike) or is_table(source):
        return read_table(source)
    raise ParameterError(
        f"fit takes a HyperNetwork or a table, got {type(source).__name__}; "
        "make one with dhne.read_table or HyperNetwork.from_tuples"
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
        parts += [_read_part(one, **options) for one in several]
    if not parts:
        raise InputError("no table was given")
    untyped = typeless(parts)
    return with_integers(build(parts), untyped)


def _read_part(
    source: Any,
    columns: Columns | None = None,
    *,
    weight: str | bool | None = None,
    time: str | None = None,
    ordered: bool = True,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> Part:
    if isinstance(source, str | PathLike):
        opened, mapped = _open_file(source, columns, weight, time, delimiter, encoding, header)
    else:
        table = as_table(source)
        mapped = map_columns(table.column_names, columns, weight, None, time=time)
        opened = Source(table.select(mapped.used))
    if opened.table.num_rows == 0:
        raise NoRowsError("there is a header but no row below it", file=opened.file)
    if columns is None:
        check_suitable(opened.table, mapped.columns, opened.file)
        if opened.text and header:
            _notice_missing_header(opened, mapped)
    for name in mapped.columns:
        check_names(opened, name)
    return Part(opened, mapped, EdgeType.of(mapped.types, ordered=ordered))


def _open_file(
    path: StrPath,
    columns: Columns | None,
    weight: str | bool | None,
    time: str | None,
    delimiter: str | None,
    encoding: str,
    header: bool,
) -> tuple[Source, Mapped]:
    if Path(path).name.lower().endswith((".parquet", ".pq")):
        mapped = map_columns(read_parquet_names(path), columns, weight, path, time=time)
        return Source(without_categories(read_parquet(path, mapped.used)), path), mapped
    delimiter = delimiter_of(path) if delimiter is None else delimiter
    names = read_header(path, delimiter, encoding, header=header)
    mapped = map_columns(names, columns, weight, path, header=header, time=time)
    table = read_delimited(path, mapped.used, delimiter=delimiter, encoding=encoding, header=header)
    return Source(table, path, True, delimiter, encoding, header), mapped


def _notice_missing_header(source: Source, mapped: Mapped) -> None:
    """Warn where the first line looks like the rows below it rather than like their headings."""
    first = source.table.slice(0, _ROWS_COMPARED)
    for name in mapped.columns:
        number = name.strip().lstrip("+-").replace(".", "", 1).isdecimal()
        if number or pc.any(pc.equal(first[name], name), min_count=0).as_py():
            file = source.file or ""
            warn(
                f"the first line was taken for the names of the columns, but {name!r} looks like "
                "one of the rows; if there is no header, say so (header=False, --no-header)",
                file,
            )
            return
