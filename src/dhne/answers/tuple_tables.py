"""Tables of tuples: which column holds which position, and the ids of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError, UnknownNameError
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.memory_tables import as_table, is_table


def position_columns(edge_type: Sequence[str]) -> list[str]:
    """Return the default column of each position: its node type, numbered if repeated.

    Examples
    --------
    >>> position_columns(("person", "relation", "person"))
    ['person', 'relation', 'person.2']
    """
    counts = [list(edge_type[: p + 1]).count(t) for p, t in enumerate(edge_type)]
    return [t if n == 1 else f"{t}.{n}" for t, n in zip(edge_type, counts, strict=True)]


def fitting_type(network: HyperNetwork, there: Sequence[str]) -> EdgeType | None:
    """Return the longest edge type whose positions are all columns; None if not unique."""
    fitting = [t for t in network.edge_types if set(position_columns(t)) <= set(there)]
    longest = [t for t in fitting if len(t) == max(map(len, fitting))]
    return longest[0] if len(longest) == 1 else None


def is_whole_table(network: HyperNetwork, tuples: Any) -> bool:
    """Whether this is a table; a list of dicts if all have the columns of one edge type."""
    if not isinstance(tuples, list):
        return is_table(tuples)
    if not is_table(tuples):
        return False
    first = tuples[0].keys()
    same = all(isinstance(row, Mapping) and row.keys() == first for row in tuples)
    return same and fitting_type(network, list(map(str, first))) is not None


def find_nodes(
    network: HyperNetwork, table: pa.Table, edge_type: EdgeType, columns: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Return ids ``int64[m, N]``, -1 for names that are unknown or missing."""
    ids = []
    for node_type, column in zip(edge_type, columns, strict=True):
        vocabulary = network.vocabulary(node_type)
        texts = _texts(table[column], column)
        keys = _as_integers(texts) if vocabulary.has_integers else texts
        valid = keys.is_valid().to_numpy(zero_copy_only=False)
        found = np.full(len(texts), -1, np.int64)
        found[valid] = vocabulary.find(keys.drop_null())
        ids.append(found)
    return np.stack(ids, axis=1)


def _texts(column: pa.ChunkedArray, name: str) -> pa.Array:
    try:
        return column.combine_chunks().cast(pa.string())
    except pa.ArrowException:
        raise InputError(f"holds {column.type}, not names", column=name) from None


def _as_integers(texts: pa.Array) -> pa.Array:
    """Integers where the text is one, else null."""
    good = pc.match_substring_regex(texts, r"^-?[0-9]{1,18}$")
    return pc.if_else(good, texts, pa.scalar(None, pa.string())).cast(pa.int64())


def resolve_table(
    network: HyperNetwork, source: Any, edge_type: Sequence[str] | None = None
) -> tuple[EdgeType, npt.NDArray[np.int64]]:
    """Return the edge type and the ids of a table of tuples; an unknown name raises.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Alien")], ("user", "movie"))
    >>> resolve_table(net, [{"movie": "Alien", "user": "ann"}])
    (('user', 'movie'), array([[0, 1]]))
    """
    table = as_table(source)
    there = table.column_names
    types = network.edge_set(edge_type).types if edge_type else fitting_type(network, there)
    columns = position_columns(types or ())
    if types is None or not set(columns) <= set(there):
        wanted = "; ".join(", ".join(position_columns(t)) for t in network.edge_types)
        raise InputError(
            f"the table has the columns {', '.join(there)}, but needs {wanted}; rename them"
        )
    nodes = find_nodes(network, table, types, columns)
    if (nodes < 0).any():
        row, position = np.argwhere(nodes < 0)[0].tolist()
        vocabulary = network.vocabulary(types[position])
        name = table[columns[position]][row].as_py()
        what = UnknownNameError(
            types[position], name, vocabulary.names.slice(0, 200_000).to_pylist()
        )
        raise InputError(f"row {row + 1}: {what}", column=columns[position])
    return types, nodes
