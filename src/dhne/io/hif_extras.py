"""What HIF records hold beyond a network's own terms: kept when read, put back when written.

As JSON text, one object with the keys that apply:

* node: ``{"node": 7, "weight": 2, "attrs": {…}}``; the id only where it is not the name
* edge: ``{"edge": "e1", "attrs": {…}, "incidences": [[role, node type, name, {…}], …]}``
* incidence: ``{"weight": 0.5, "direction": "head", "attrs": {…}}``; the direction only where the
  roles do not say it
* network: ``{"metadata": {…}, "network-type": "asc"}``

Our own attributes are written beside foreign ones; if one of those has a name that we use, ours go
into an object called ``dhne``. A weight of 1 is the default and is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.network.edges import EdgeType
from dhne.network.extras import TextColumn
from dhne.network.hypernetwork import HyperNetwork

Record = dict[str, Any]
IntArray = npt.NDArray[np.int64]
OWN = "dhne"
METADATA = ("dhne-format", "node-types", "name-kinds", "edge-types", "node-ids", "edge-ids")
_RESERVED = {
    "nodes": frozenset({"type", "name", "labels", OWN}),
    "edges": frozenset({"type", "ordered", "roles", "many", "time", OWN}),
    "incidences": frozenset({"position", OWN}),
    "metadata": frozenset({*METADATA, OWN}),
}


def own_part(attrs: Record) -> Record:
    """Return the attributes among which ours are."""
    nested = attrs.get(OWN)
    return nested if isinstance(nested, dict) else attrs


def foreign_part(attrs: Record, used: Collection[str]) -> Record:
    """Return the attributes that are not ours: all but those in `used`.

    Examples
    --------
    >>> foreign_part({"type": "p", "colour": "red"}, {"type"})
    {'colour': 'red'}
    """
    if own_part(attrs) is not attrs:
        used = (OWN,)
    return {k: v for k, v in attrs.items() if k not in used}


def with_own(foreign: Record | None, own: Record, kind: str) -> Record:
    """Return foreign attributes and ours as one object.

    Examples
    --------
    >>> with_own({"colour": "red"}, {"position": 0}, "incidences")
    {'position': 0, 'colour': 'red'}
    >>> with_own({"position": "left"}, {"position": 0}, "incidences")
    {'dhne': {'position': 0}, 'position': 'left'}
    """
    if not foreign:
        return own
    if foreign.keys().isdisjoint(_RESERVED[kind]):
        return {**own, **foreign}
    return {OWN: own} | {k: v for k, v in foreign.items() if k != OWN}


def as_text(extra: Record) -> str | None:
    """Return an object as compact JSON text; None for an empty one."""
    return json.dumps(extra, separators=(",", ":")) if extra else None


def from_texts(column: TextColumn | None, rows: slice) -> list[Record] | None:
    """Return the objects in some rows, empty ones for null; None if there is no column."""
    if column is None:
        return None
    return [json.loads(text) if text else {} for text in column[rows].to_pylist()]


# -- reading ---------------------------------------------------------------------------------------


def node_extra(key: Any, name: Any, weight: Any, attrs: Record, *, named: bool) -> Record:
    """Return what the record of a node holds beyond its type, name and labels.

    Parameters
    ----------
    key, name
        Its id in the file, and its name here.
    named : bool
        Whether the name is from its attributes.
    """
    own = own_part(attrs)
    used = {"name"} if named else set()
    used |= {"type"} if isinstance(own.get("type"), str) else set()
    labels = own.get("labels")
    if isinstance(labels, list) and all(isinstance(x, str) for x in labels):
        used.add("labels")
    extra: Record = {}
    key = int(key) if isinstance(key, float) else key
    if key != name:
        extra["node"] = key
    if weight != 1:
        extra["weight"] = weight
    if foreign := foreign_part(attrs, used):
        extra["attrs"] = foreign
    return extra


def edge_extras(
    records: list[Record],
    number: Mapping[Any, int],
    used: Callable[[Record], Collection[str]],
    *,
    keep_ids: bool,
) -> dict[int, Record]:
    """Return what records say about edges, by the number of the edge.

    Parameters
    ----------
    used : function
        Returns which of a record's attributes become part of the network.
    """
    extras: dict[int, Record] = {}
    if keep_ids:
        extras = {
            n: {"edge": int(key) if isinstance(key, float) else key} for key, n in number.items()
        }
    for record in records:
        attrs = record.get("attrs")
        if not attrs:
            continue
        row = number[record["edge"]]
        extras.get(row, {}).pop("attrs", None)  # of repeated records the last one counts
        if foreign := foreign_part(attrs, used(attrs)):
            extras.setdefault(row, {})["attrs"] = foreign
    return extras


def incidence_extras(
    incidences: list[Record],
    edge: IntArray,
    placed: npt.NDArray[np.bool_],
    sided: npt.NDArray[np.bool_],
) -> dict[int, Record]:
    """Return what incidences hold beyond position and direction, by their number in the file.

    Parameters
    ----------
    edge : int64[i]
        The number of each incidence's edge.
    placed, sided : bool[edges]
        Whether the positions, or the directions, of an edge's incidences are part of the network.
    """
    extras: dict[int, Record] = {}
    for i, record in enumerate(incidences):
        if len(record) == 2:
            continue
        extra = {}
        if record.get("weight", 1) != 1:
            extra["weight"] = record["weight"]
        if "direction" in record and not sided[edge[i]]:
            extra["direction"] = record["direction"]
        used = ("position",) if placed[edge[i]] else ()
        if foreign := foreign_part(record.get("attrs", {}), used):
            extra["attrs"] = foreign
        if extra:
            extras[i] = extra
    return extras


def add_incidences(
    extras: dict[int, Record],
    found: Mapping[int, Record],
    edges: IntArray,
    which: IntArray,
    types: EdgeType,
    names: Sequence[pa.Array],
) -> None:
    """Add what was found about incidences to their edges.

    Parameters
    ----------
    edges : int64[m]
    which : int64[m, N]
        The number in the file of each edge's incidences.
    names : columns
        The names of the nodes at each position.
    """
    has = np.isin(which, np.fromiter(found, np.int64, len(found)))
    for row, p in np.argwhere(has).tolist():
        kept = [types.roles[p], types[p], str(names[p][row].as_py()), found[int(which[row, p])]]
        extras.setdefault(int(edges[row]), {}).setdefault("incidences", []).append(kept)


# -- writing ---------------------------------------------------------------------------------------


def edge_ids(network: HyperNetwork) -> tuple[list[Any] | range, int]:
    """Return an id for each hyperedge, kept or new, and how many kept ones were not unique."""
    if all(e.extras is None for e in network.edge_sets):
        return range(network.num_edges()), 0
    ids: list[Any] = []
    taken: set[Any] = set()
    repeated = 0
    for e in network.edge_sets:
        for extra in from_texts(e.extras, slice(None)) or [{}] * len(e):
            kept = extra.get("edge")
            if kept in taken:
                kept, repeated = None, repeated + 1
            ids.append(kept)
            if kept is not None:
                taken.add(kept)
    free = (i for i in count() if i not in taken)
    return [next(free) if i is None else i for i in ids], repeated


def kept_node_ids(
    network: HyperNetwork, ids: dict[str, list[Any]]
) -> tuple[dict[str, list[Any]], bool]:
    """Return the ids of nodes with kept ones in their place, and whether those are not unique.

    If they are not, or if there are none, that is `ids` itself.
    """
    if not network.extras.nodes:
        return ids, False
    kept = {t: list(mine) for t, mine in ids.items()}
    for t, column in network.extras.nodes.items():
        for i, extra in enumerate(from_texts(column, slice(None)) or ()):
            kept[t][i] = extra.get("node", kept[t][i])
    if len({i for mine in kept.values() for i in mine}) < sum(map(len, kept.values())):
        return ids, True
    return (ids if kept == ids else kept), False


def kept_incidences(extra: Record) -> dict[tuple[str, str, str], Record]:
    """Return what is kept about an edge's incidences, by role, node type and name."""
    return {(role, t, name): found for role, t, name, found in extra["incidences"]}
