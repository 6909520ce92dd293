"""Tables joined into one network: columns checked, names shared, integers recognised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError
from dhne.files.reading import StrPath, one_line
from dhne.network.edge_columns import EdgeColumns
from dhne.network.edges import EdgeType, TimeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.name_encoding import as_integers
from dhne.network.vocabulary import Vocabulary

from .column_mapping import Mapped
from .delimited import line_of
from .times import as_kind, join_times, read_times


@dataclass(frozen=True)
class Source:
    """A table and where it came from, for errors that name the line.

    Attributes
    ----------
    text : bool
        Whether it is a text file, whose columns have no types.
    untyped : frozenset of str
        Columns without a type in a file that has types: those named by its directories.
    first_row : int
        How many rows of the file come before this table.
    """

    table: pa.Table
    file: StrPath | None = None
    text: bool = False
    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    untyped: frozenset[str] = frozenset()
    first_row: int = 0

    def with_column(self, name: str, kind: pa.DataType) -> Source:
        """Return the same with one column cast to another type."""
        column = self.table[name]
        if column.type == kind:
            return self
        try:
            cast = column.cast(kind)
        except pa.ArrowException as error:
            raise InputError(one_line(error), file=self.file, column=name) from None
        position = self.table.column_names.index(name)
        return replace(self, table=self.table.set_column(position, name, cast))

    def error(self, message: str, *, row: int, column: str) -> InputError:
        """Return an error about one field."""
        row += self.first_row
        if self.text and self.file is not None:
            line = line_of(
                self.file,
                row,
                delimiter=self.delimiter,
                encoding=self.encoding,
                header=self.header,
            )
            return InputError(message, file=self.file, line=line, column=column)
        return InputError(f"row {row + 1}: {message}", file=self.file, column=column)


@dataclass(frozen=True)
class Part:
    """The hyperedges of one table, ready to be joined with others."""

    source: Source
    mapped: Mapped
    types: EdgeType
    time_kind: str | None = None

    def names(self, position: int) -> pa.ChunkedArray:
        """Return the names at one position."""
        return self.source.table[self.mapped.columns[position]]

    def weights(self) -> npt.NDArray[np.float64] | None:
        """Return the weights as numbers, each positive and finite."""
        name = self.mapped.weight
        return None if name is None else read_weights(self.source, name)

    def times(self) -> TimeArray | None:
        """Return the times of the hyperedges, if they have any."""
        name = self.mapped.time
        if name is None:
            return None
        times = read_times(self.source, name)
        return times if self.time_kind is None else as_kind(times, self.time_kind)


def check_names(source: Source, name: str, *, empty: bool = False) -> None:
    """Raise, with its line, for the first name that is missing (or `empty`, unless that may be)."""
    column = source.table[name]
    floating = pa.types.is_floating(column.type)
    missing = column.is_null(nan_is_null=floating) if floating or column.null_count else None
    if missing is not None and pc.any(missing, min_count=0).as_py():
        row = pc.index(missing, value=True).as_py()
        raise source.error("the name is missing; every node needs a name", row=row, column=name)
    if not empty and _is_text(column.type) and any(map(_has_empty, column.chunks)):
        row = pc.index(column, value=pa.scalar("", column.type)).as_py()
        raise source.error("the name is empty; every node needs a name", row=row, column=name)


def _has_empty(chunk: pa.Array) -> bool:
    return len(chunk) > 0 and pc.min(pc.binary_length(chunk)).as_py() == 0


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def read_weights(source: Source, name: str) -> npt.NDArray[np.float64]:
    """Return a column of weights; the first that is not a positive number raises, with its line."""
    column = source.table[name]
    try:
        numbers = column.cast(pa.float64())
    except pa.ArrowException:
        row, value = _first_non_number(column)
        raise source.error(f"the weight {value!r} is not a number", row=row, column=name) from None
    if numbers.null_count:
        row = pc.index(numbers.is_null(), value=True).as_py()
        raise source.error("the weight is missing", row=row, column=name)
    weights: npt.NDArray[np.float64] = numbers.to_numpy()
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        row = int(np.argmax(bad))
        message = f"the weight is {weights[row]}; weights must be positive numbers"
        raise source.error(message, row=row, column=name)
    return weights


def _first_non_number(column: pa.ChunkedArray) -> tuple[int, Any]:
    """Return the first row that does not convert, by halving."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            column.slice(low, middle - low).cast(pa.float64())
            low = middle
        except pa.ArrowException:
            high = middle
    return low, column[low].as_py()


def build(
    parts: list[Part],
    nodes: Mapping[str, pa.Array] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> HyperNetwork:
    """Join tables into one network, those of the same edge type one after the other.

    `parts` is emptied on the way.
    """
    groups: dict[EdgeType, list[Part]] = {}
    for types in [p.types for p in parts]:  # taken out: their memory will be needed
        groups.setdefault(types, []).append(parts.pop(0))
    return HyperNetwork.from_columns(_tables(groups), labels, nodes)


def _tables(groups: dict[EdgeType, list[Part]]) -> Iterator[EdgeColumns]:
    for types in list(groups):
        group = groups.pop(types)
        if any(tuple(types) == tuple(other) for other in groups):
            raise InputError(f"edges {tuple(types)!r} are ordered in one table, not in the other")
        weights = _join_weights(group)
        times = join_times([p.times() for p in group], types)
        columns = [_join([p.names(i) for p in group]) for i in range(len(types))]
        del group
        yield EdgeColumns(types, columns, weights, times)


def _join(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    if len({c.type for c in columns}) > 1:
        columns = [c.cast(pa.large_string()) for c in columns]
    return pa.chunked_array([chunk for c in columns for chunk in c.chunks], columns[0].type)


def _join_weights(group: list[Part]) -> npt.NDArray[np.float64] | None:
    weights = [p.weights() for p in group]
    if all(w is None for w in weights):
        return None
    sizes = [p.source.table.num_rows for p in group]
    return np.concatenate(
        [np.ones(n) if w is None else w for w, n in zip(weights, sizes, strict=True)]
    )


def typeless(parts: Sequence[Part]) -> set[str]:
    """Node types whose names are text from CSV (or integers), so may be integers in disguise."""
    typed = set()
    for part in parts:
        for t, c in zip(part.mapped.types, part.mapped.columns, strict=True):
            kind = part.source.table[c].type
            untyped = part.source.text or c in part.source.untyped
            if not untyped and not pa.types.is_integer(kind):
                typed.add(t)
    return {t for p in parts for t in p.mapped.types} - typed


def with_integers(network: HyperNetwork, node_types: Iterable[str]) -> HyperNetwork:
    """Return the network with those types' names as integers that are all written like integers."""
    found = {t: as_integers(network.names(t)) for t in node_types}
    if all(integers is None for integers in found.values()):
        return network
    nodes: dict[str, Vocabulary] = {t: network.vocabulary(t) for t in network.node_types}
    for t, integers in found.items():
        if integers is not None:
            nodes[t] = Vocabulary(integers, node_type=t, checked=True)
    labels = {t: network.labels(t) for t in network.labelled_types}
    return HyperNetwork(nodes, network.edge_sets, labels)
