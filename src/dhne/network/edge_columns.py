"""Columns of names to vocabularies and ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError

from .edges import EdgeSet, EdgeType, NodeArray
from .vocabulary import Vocabulary, as_name_column, encode_all


@dataclass(frozen=True)
class EdgeColumns:
    """The hyperedges of one type as columns of names.

    Attributes
    ----------
    types : EdgeType
    names : sequence of columns
        One column of names per position, Arrow or anything that converts to it.
    weights, times : columns, optional
    """

    types: EdgeType
    names: Sequence[Any]
    weights: npt.ArrayLike | None = None
    times: npt.ArrayLike | None = None


def number_columns(
    tables: Iterable[EdgeColumns], nodes: Mapping[str, Any]
) -> tuple[dict[str, Vocabulary], Iterator[EdgeSet]]:
    """Return the vocabularies, and one `EdgeSet` per table.

    Ids are given in order of first appearance, position by position; `nodes` has names that come
    before those of the tables.
    """
    shapes, columns = _collect(tables, nodes)
    encoded = encode_all(columns)  # frees the columns so that the ids can reuse their memory
    codes = {t: ids for t, (_, ids) in encoded.items()}
    for node_type in nodes:
        codes[node_type].pop(0)
    vocabularies = {t: vocabulary for t, (vocabulary, _) in encoded.items()}
    return vocabularies, (_edge_set(m, table, codes) for m, table in shapes)


def _edge_set(m: int, table: EdgeColumns, codes: Mapping[str, list[Any]]) -> EdgeSet:
    types, weights = EdgeType.of(table.types), table.weights
    ids = _allocate((m, len(types)), np.int64)
    for position, t in enumerate(types):
        _fill(ids[:, position], codes[t].pop(0))
    if weights is None:
        weights = _allocate((m,), np.float64)
        weights[:] = 1
    return EdgeSet.build(types, ids, weights, times=table.times, copy=False)


def _collect(
    tables: Iterable[EdgeColumns], nodes: Mapping[str, Any]
) -> tuple[list[tuple[int, EdgeColumns]], dict[str, list[Any]]]:
    """Return (length, table without names) of each table, and all columns of each node type."""
    columns: dict[str, list[Any]] = {}
    for node_type, names in nodes.items():
        columns[node_type] = [as_name_column(names, what=f"node type {node_type!r}")]
    shapes = []
    for table in tables:
        if len(table.types) != len(table.names):
            raise InputError(
                f"edge type {table.types!r} needs {len(table.types)} columns, "
                f"got {len(table.names)}"
            )
        for node_type, names in zip(table.types, table.names, strict=True):
            column = as_name_column(names, what=f"column of node type {node_type!r}")
            columns.setdefault(node_type, []).append(column)
        shapes.append((len(column) if table.types else 0, replace(table, names=())))
    return shapes, columns


def _allocate(shape: tuple[int, ...], dtype: type[Any]) -> npt.NDArray[Any]:
    """Return an array in memory that Arrow has just got back from the names it held."""
    buffer = pa.allocate_buffer(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    return np.frombuffer(buffer, dtype).reshape(shape)


def _fill(out: NodeArray, chunks: list[npt.NDArray[np.int32]]) -> None:
    """Write chunks of ids into `out`, one after the other."""
    if sum(map(len, chunks)) != len(out):
        raise InputError("the columns of a table must have the same length")
    start = 0
    for chunk in chunks:
        out[start : start + len(chunk)] = chunk
        start += len(chunk)
