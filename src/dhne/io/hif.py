"""HIF, the Hypergraph Interchange Format, read and written without loss.

Node ids are global there and edges are sets, so types and positions travel in ``attrs``:

* node: ``{"type": "movie", "name": "Heat", "labels": […]}``. The same name in two types is no
  conflict: the ids then are ``movie:Heat`` and ``tag:Heat``.
* edge: ``{"type": ["user", "movie", "tag"], "ordered": true}``, its weight, and its ``time`` if it
  has one (a number, or a date in ISO 8601)
* incidence: ``{"position": 0}``

Files from elsewhere: without types every node is a ``node``, edges are unordered, of every size.
A ``type`` in a node's ``attrs`` is taken as its node type. In a directed network a hyperedge is two
sets, with the roles ``tail`` and ``head``. Incidences that are
repeated count once; of repeated records the last one counts. Ids and attributes of edges, other
attributes of nodes, weights of nodes and incidences, and metadata are kept to be written back (see
`hif_extras`). Edges of fewer than two nodes are allowed there but are no hyperedges here: they are
left out, with a warning, and their nodes stay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dhne.files.plain_json import parse_json
from dhne.files.reading import StrPath, check_file, is_gzipped, open_bytes, reading, warn
from dhne.files.writing import open_for_writing, writing
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.time import as_plain

from .hif_build import build, directions, network_type
from .hif_extras import (
    Record,
    edge_ids,
    from_texts,
    kept_incidences,
    kept_node_ids,
    with_own,
)
from .hif_rules import check_hif

FORMAT = 1
_RECORDS_AT_ONCE = 50_000  # turned into text together


def read_hif(path: StrPath) -> HyperNetwork:
    """Read a HIF file (JSON, gzipped or not), checked strictly against the standard's rules."""
    check_file(path)
    with reading(path):
        with open_bytes(path) as stream:
            found = parse_json(stream.read(), path)
        check_hif(found, path)
        return build(found, path)


def write_hif(network: HyperNetwork, path: StrPath) -> list[Path]:
    """Write a network as a HIF file; the ending ``.gz`` compresses it."""
    with (
        writing(path) as (temporary,),
        open_for_writing(temporary, gzipped=is_gzipped(path)) as out,
    ):
        whole = json.loads(network.extras.network or "{}")
        kind = whole.get("network-type", network_type(network.edge_types))
        edges, repeated = edge_ids(network)
        if repeated:
            warn(f"{repeated} edge(s) with the id of another were given new ids", path)
        plain = node_ids(network)
        ids, clash = kept_node_ids(network, plain)
        if clash:
            warn("the ids that its nodes had in HIF are not unique; names were written", path)
        own = own_metadata(network)
        own |= {} if ids is plain else {"node-ids": True}
        own |= {} if isinstance(edges, range) else {"edge-ids": True}
        out.write(f'{{"network-type": "{kind}",\n"metadata": '.encode())
        out.write(json.dumps(with_own(whole.get("metadata"), own, "metadata")).encode())
        out.write(b',\n"nodes": [')
        _write_records(
            out, (_node_records(network, t, ids[t], rows) for t, rows in _node_runs(network))
        )
        out.write(b'],\n"edges": [')
        _write_records(
            out, (_edge_records(e, edges[s : s + n], rows) for e, s, n, rows in _edge_runs(network))
        )
        out.write(b'],\n"incidences": [')
        _write_records(
            out,
            (
                _incidences(network, e, edges[s : s + n], rows, ids)
                for e, s, n, rows in _edge_runs(network)
            ),
        )
        out.write(b"]}\n")
    return [Path(path)]


def own_metadata(network: HyperNetwork) -> dict[str, Any]:
    """What nodes and edges cannot hold: the types themselves, including empty ones."""
    return {
        "dhne-format": FORMAT,
        "node-types": list(network.node_types),
        "name-kinds": [
            "integer" if network.vocabulary(t).has_integers else "string"
            for t in network.node_types
        ],
        "edge-types": [_record(e.types) for e in network.edge_sets],
    }


def node_ids(network: HyperNetwork) -> dict[str, list[Any]]:
    """A global id for each node: its name if that is unique, else type:name, else a number."""
    names = {t: network.names(t) for t in network.node_types}
    texts = [n.cast(pa.large_string()) for n in names.values()]
    if _all_distinct(texts):
        return {t: n.to_pylist() for t, n in names.items()}
    long = [
        pc.binary_join_element_wise(
            pa.scalar(t, pa.large_string()), n, pa.scalar(":", pa.large_string())
        )
        for t, n in zip(names, texts, strict=True)
    ]
    if _all_distinct(long):
        return {t: n.to_pylist() for t, n in zip(names, long, strict=True)}
    ends = np.cumsum([0, *(len(n) for n in texts)]).tolist()
    return {t: list(range(ends[i], ends[i + 1])) for i, t in enumerate(names)}


def _all_distinct(columns: list[pa.Array]) -> bool:
    total = sum(len(c) for c in columns)
    return not columns or bool(pc.count_distinct(pa.chunked_array(columns)).as_py() == total)


def _write_records(out: IO[bytes], runs: Any) -> None:
    first = True
    for records in runs:
        if records:
            text = ",\n".join(json.dumps(r, ensure_ascii=False) for r in records)
            out.write((("\n" if first else ",\n") + text).encode())
            first = False


def _node_runs(network: HyperNetwork) -> Any:
    for t in network.node_types:
        for start in range(0, network.num_nodes(t), _RECORDS_AT_ONCE):
            yield t, slice(start, start + _RECORDS_AT_ONCE)


def _edge_runs(network: HyperNetwork) -> Any:
    start = 0
    for e in network.edge_sets:
        for row in range(0, len(e), _RECORDS_AT_ONCE):
            end = min(len(e), row + _RECORDS_AT_ONCE)
            yield e, start + row, end - row, slice(row, end)
        start += len(e)


def _node_records(
    network: HyperNetwork, t: str, ids: list[Any], rows: slice
) -> list[dict[str, Any]]:
    names = network.names(t)[rows].to_pylist()
    column = network.labels(t)
    records = [
        {"node": i, "attrs": {"type": t, "name": name}}
        for i, name in zip(ids[rows], names, strict=True)
    ]
    if column is not None:
        for record, labels in zip(records, column[rows].to_pylist(), strict=True):
            if labels:
                record["attrs"]["labels"] = labels
    for record, extra in zip(
        records, from_texts(network.extras.nodes.get(t), rows) or (), strict=False
    ):
        _put_back(record, extra, "nodes")
    return records


def _put_back(record: Record, extra: Record, kind: str) -> None:
    record |= {key: extra[key] for key in ("weight", "direction") if key in extra}
    record["attrs"] = with_own(extra.get("attrs"), record["attrs"], kind)


def _edge_records(edges: EdgeSet, ids: Sequence[Any], rows: slice) -> list[dict[str, Any]]:
    attrs = _record(edges.types)
    weights = edges.weights[rows].tolist()
    records = [
        {"edge": i, "attrs": attrs} if w == 1 else {"edge": i, "weight": w, "attrs": attrs}
        for i, w in zip(ids, weights, strict=True)
    ]
    if edges.times is not None:
        for record, time in zip(records, as_plain(edges.times[rows]), strict=True):
            record["attrs"] = {**attrs, "time": time}
    for record, extra in zip(records, from_texts(edges.extras, rows) or (), strict=False):
        _put_back(record, extra, "edges")
    return records


def _record(types: EdgeType) -> dict[str, Any]:
    """Return an edge type as HIF attributes hold it; its list of node types is called type."""
    record = types.to_record()
    return {"type": record.pop("types"), **record}


def _incidences(
    network: HyperNetwork,
    edges: EdgeSet,
    numbers: Sequence[Any],
    rows: slice,
    ids: dict[str, list[Any]],
) -> list[Record]:
    positions = [
        (p, ids[t], {"direction": side} if side else {}, {"position": p})
        for p, (t, side) in enumerate(zip(edges.types, directions(edges.types), strict=True))
    ]
    nodes = edges.nodes[rows].tolist()
    records = [
        {"edge": i, "node": names[row[p]], **direction, "attrs": attrs}
        for i, row in zip(numbers, nodes, strict=True)
        for p, names, direction, attrs in positions
    ]
    for n, extra in enumerate(from_texts(edges.extras, rows) or ()):
        if "incidences" in extra:
            kept = kept_incidences(extra)
            for p, t in enumerate(edges.types):
                key = (edges.types.roles[p], t, str(network.names(t)[nodes[n][p]].as_py()))
                _put_back(records[n * len(edges.types) + p], kept.get(key, {}), "incidences")
    return records
