"""A whole network as several tables, so that CSV and Parquet lose nothing.

The hyperedges of the first edge type are in the requested file, ``x.csv``. What does not fit into
one table goes into files beside it:

``x.2.csv``, ``x.3.csv`` …
    the hyperedges of further edge types
``x.nodes.csv``
    ``type,name,label``: nodes without a hyperedge, and labels (one row per label of a node)
``x.csv.meta.json``
    which file holds what: the node type of each column, which columns are the weight and the
    time, whether positions are ordered, and whether a type's names are integers or strings

Each is written only if needed. Parquet keeps the description in its schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.labels import LabelColumn
from dhne.network.name_encoding import as_integers
from dhne.network.vocabulary import as_name_array

from .column_mapping import WEIGHT, Mapped
from .join_tables import Part, Source, build, check_names
from .times import CALLED_TIME, TIME, looks_like_dates, time_column, time_kind

VERSION = 1
Tables = dict[str, pa.Table]
Description = dict[str, Any]
ReadTable = Callable[[str], Source]


def split_ending(name: str) -> tuple[str, str]:
    """Return a file's name as (stem, ending), ``.gz`` being part of the ending.

    Examples
    --------
    >>> split_ending("tags.v2.csv.gz")
    ('tags.v2', '.csv.gz')
    """
    packed = name[-3:] if name.lower().endswith(".gz") else ""
    path = Path(name[: len(name) - len(packed)])
    return path.stem, path.suffix + packed


# -- network → tables ------------------------------------------------------------------------------


def to_tables(network: HyperNetwork, name: str) -> tuple[Description, Tables]:
    """Return the network as Arrow tables by file name, and the description of what is where."""
    stem, ending = split_ending(name)
    is_text = ending.lower() not in (".parquet", ".pq")
    tables: Tables = {}
    described = []
    for number, edges in enumerate(network.edge_sets, start=1):
        file = name if number == 1 else f"{stem}.{number}{ending}"
        columns, weight = _column_names(edges)
        tables[file] = _edge_table(network, edges, columns, weight, text=is_text)
        described.append(
            {
                "file": file,
                "positions": [list(p) for p in zip(edges.types, columns, strict=True)],
                "weight": weight,
                **_time(edges),
                **_roles(edges.types),
            }
        )
    if not tables:  # no edge type: the file is there all the same, with nothing in it
        tables[name] = pa.table(
            {t or "node": pa.array([], pa.string()) for t in network.node_types}
        )
    nodes = None
    if _needs_nodes(network):
        nodes = f"{stem}.nodes{ending}"
        tables[nodes] = _node_table(network)
    kinds = {
        t: "integer" if network.vocabulary(t).has_integers else "string" for t in network.node_types
    }
    return {"dhne": VERSION, "names": kinds, "tables": described, "nodes": nodes}, tables


def is_plain(network: HyperNetwork, description: Description) -> bool:
    """Whether a text file reads back as the same network without any description."""
    if len(network.edge_sets) != 1 or description["nodes"] or not network.num_edges():
        return False
    edges, table = network.edge_sets[0], description["tables"][0]
    if any(t != c or not t or t.casefold() in CALLED_TIME for t, c in table["positions"]):
        return False
    if (
        edges.times is not None
        or edges.types.has_sets
        or set(edges.types) != set(network.node_types)
    ):
        return False
    return not any(_misread(network.names(t)) for t in network.node_types)


def _misread(names: pa.Array) -> bool:
    """Whether text would give other names: integers in disguise, or one that is empty."""
    if pa.types.is_integer(names.type):
        return False
    if (
        as_integers(names) is not None
        or pc.index(names, value=pa.scalar("", names.type)).as_py() >= 0
    ):
        return True
    if looks_like_dates(names.slice(0, 1000)):
        return True
    decimal = pc.match_substring_regex(names, r"^[+-]?\d+\.\d+")  # looks like a measure
    return bool(pc.any(decimal).as_py())


def _column_names(edges: EdgeSet) -> tuple[list[str], str | None]:
    """Return a column name for each position, unique, and one for the weights if there are any."""
    taken: list[str] = []
    for node_type in edges.types:
        base = node_type or "node"
        name, number = base, 1
        while name in taken or name in (WEIGHT, TIME):
            number += 1
            name = f"{base}.{number}"
        taken.append(name)
    return taken, WEIGHT if bool((edges.weights != 1).any()) else None


def _edge_table(
    network: HyperNetwork, edges: EdgeSet, columns: list[str], weight: str | None, *, text: bool
) -> pa.Table:
    data = {
        column: network.vocabulary(t).take(edges.nodes[:, p])
        for p, (t, column) in enumerate(zip(edges.types, columns, strict=True))
    }
    if weight is not None:
        data[weight] = pa.array(edges.weights)
    if edges.times is not None:
        data[TIME] = time_column(edges.times, text=text)
    return pa.table(data)


def _time(edges: EdgeSet) -> dict[str, Any]:
    if edges.times is None:
        return {}
    return {"time": TIME, "time_kind": time_kind(edges.times)}


def _roles(types: EdgeType) -> dict[str, Any]:
    return {k: v for k, v in types.to_record().items() if k != "types"}


def _needs_nodes(network: HyperNetwork) -> bool:
    return bool(network.labelled_types) or any(
        bool((network.degrees(t) == 0).any()) for t in network.node_types
    )


def _node_table(network: HyperNetwork) -> pa.Table:
    """(type, name, label): one row per label of a node, or one without a label if it has none."""
    parts = []
    for t in network.node_types:
        names = network.names(t).cast(pa.string())
        column = network.labels(t)
        rows = pa.array(np.arange(len(names)))
        labels = pa.nulls(len(names), pa.string())
        if column is not None:
            none = pa.scalar([None], column.type)
            filled = pc.if_else(pc.equal(pc.list_value_length(column), 0), none, column)
            rows, labels = pc.list_parent_indices(filled), pc.list_flatten(filled)
        types = pa.repeat(pa.scalar(t, pa.string()), len(rows))
        parts.append(pa.table({"type": types, "name": names.take(rows), "label": labels}))
    return pa.concat_tables(parts)


# -- tables → network ------------------------------------------------------------------------------


def from_tables(description: Any, read: ReadTable, file: str) -> HyperNetwork:
    """Return the network that a description and its tables hold."""
    checked = _check_description(description, file)
    kinds = {t: pa.int64() if k == "integer" else pa.string() for t, k in checked["names"].items()}
    nodes = {t: pa.array([], kind) for t, kind in kinds.items()}
    labels: dict[str, LabelColumn] = {}
    if checked["nodes"] is not None:
        found, labels = _split_nodes(read(checked["nodes"]), kinds)
        nodes |= found
    parts = [_part(t, read(t["file"]), kinds, file) for t in checked["tables"]]
    return build(parts, nodes, labels)


def _part(table: Description, source: Source, kinds: dict[str, pa.DataType], file: str) -> Part:
    types, columns = zip(*table["positions"], strict=True)
    mapped = Mapped(tuple(types), tuple(columns), table["weight"], table.get("time"))
    for column in mapped.used:
        if column not in source.table.column_names:
            raise InputError(
                f"the description names a column {column!r} that is not there; if this is another "
                f"table now, delete {Path(file).name}.meta.json",
                file=source.file,
            )
    for t, column in table["positions"]:
        check_names(source, column, empty=True)
        source = source.with_column(column, kinds[t])
    record = {**table, "types": types}
    return Part(source, mapped, EdgeType.from_record(record), table.get("time_kind"))


def _split_nodes(
    source: Source, kinds: dict[str, pa.DataType]
) -> tuple[dict[str, pa.Array], dict[str, LabelColumn]]:
    """Return the names and the labels of each type from the table of nodes."""
    table = source.table
    if table.column_names != ["type", "name", "label"]:
        raise InputError("the columns must be type, name, label", file=source.file)
    check_names(source, "name", empty=True)
    nodes, labels = {}, {}
    for t, kind in kinds.items():
        rows = table.filter(pc.equal(table["type"].cast(pa.string()), pa.scalar(t)))
        if rows.num_rows == 0:
            continue
        encoded = pc.dictionary_encode(as_name_array(rows["name"].cast(pa.string())))
        ids = encoded.indices.to_numpy(zero_copy_only=False)
        nodes[t] = encoded.dictionary.cast(kind)
        label = rows["label"].combine_chunks().cast(pa.string())
        given = label.is_valid().to_numpy(zero_copy_only=False)
        if not given.any():
            continue
        order = np.argsort(ids[given], kind="stable")
        counts = np.bincount(ids[given], minlength=len(nodes[t]))
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
        labels[t] = pa.ListArray.from_arrays(offsets, label.drop_null().take(pa.array(order)))
    return nodes, labels


def _check_description(found: Any, file: str) -> Description:
    """Return the description if it is one this version can follow; it may come from anywhere."""

    def check(good: bool, what: str) -> None:
        if not good:
            raise InputError(f"its description is damaged: {what}", file=file)

    check(isinstance(found, dict), "it is not a JSON object")
    if found.get("dhne") != VERSION:
        raise InputError(
            f"its description has format {found.get('dhne')!r}, this version reads {VERSION}; "
            "update dhne",
            file=file,
        )
    kinds, tables, nodes = found.get("names"), found.get("tables"), found.get("nodes")
    check(isinstance(kinds, dict), "'names' must give the kind of each node type")
    check(all(k in ("integer", "string") for k in kinds.values()), "unknown kind of names")
    check(nodes is None or _is_file_name(nodes), "'nodes' must be a file name")
    check(isinstance(tables, list), "'tables' must be a list")
    for table in tables:
        check(isinstance(table, dict) and _is_file_name(table.get("file")), "a table has no file")
        positions = table.get("positions")
        good = isinstance(positions, list) and len(positions) >= 2
        check(good and all(_is_position(p, kinds) for p in positions), "bad 'positions'")
        check(isinstance(table.get("weight"), str | None), "'weight' must be a column's name")
        check(isinstance(table.get("time"), str | None), "'time' must be a column's name")
        check(isinstance(table.get("ordered"), bool), "'ordered' must be true or false")
        record = {**table, "types": [p[0] for p in positions]}
        check(EdgeType.is_record(record), "'roles' must name the role of each position")
    types = [EdgeType.from_record({**t, "types": [p[0] for p in t["positions"]]}) for t in tables]
    check(len(set(types)) == len(types), "it lists an edge type twice")
    return {"names": kinds, "tables": tables, "nodes": nodes}


def _is_position(found: Any, kinds: dict[str, str]) -> bool:
    return (
        isinstance(found, list)
        and len(found) == 2
        and all(isinstance(x, str) for x in found)
        and found[0] in kinds
    )


def _is_file_name(found: Any) -> bool:
    """Whether it names a file in the same directory: a description must not lead elsewhere."""
    return (
        isinstance(found, str) and bool(found) and Path(found).name == found and "\0" not in found
    )


def as_text(description: Description) -> str:
    """Return a description as the JSON text of a ``.meta.json`` file."""
    return json.dumps(description) + "\n"
