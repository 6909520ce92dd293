"""From the records of a HIF file to arrays, and from those to a hyper-network.

Records are looked at once to number edges; grouping incidences into hyperedges, and
hyperedges by the types of their nodes, is done on arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError
from dhne.files.reading import StrPath, warn
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.extras import Extras
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

from .hif_extras import (
    METADATA,
    add_incidences,
    as_text,
    edge_extras,
    foreign_part,
    incidence_extras,
    own_part,
)
from .hif_nodes import Nodes
from .hif_times import read_edge_times, times_of_edges

IntArray = npt.NDArray[np.int64]
_SIDES = ("tail", "member", "head")
_DIRECTION = {"tail": 0, None: 1, "head": 2}
_ORDERED, _UNORDERED, _DIRECTED = -1, -2, -3  # kinds of edges that no record describes further
_FORMATS = (1,)


def build(found: dict[str, Any], file: StrPath, *, keep: bool = True) -> HyperNetwork:
    """Return the network of a HIF document that has passed :func:`check_hif`.

    `keep` says whether it carries what only HIF can hold; see `hif_extras`.
    """
    metadata = _own_metadata(found, file)
    nodes = Nodes.collect(found, metadata)
    vocabularies, ids, labels = nodes.by_type(file)
    edges = _edge_sets(found, nodes, ids, vocabularies, file, keep=keep)
    for entry in metadata.get("edge-types", []):
        types = EdgeType.from_record({**entry, "types": entry["type"]})
        edges.setdefault(types, EdgeSet.build(types, []))
    extras = None
    if keep:
        texts = nodes.extras(vocabularies)
        extras = Extras(texts, as_text(_network_extra(found, metadata, edges)))
    return HyperNetwork(vocabularies, edges.values(), labels, extras)


def _network_extra(
    found: dict[str, Any], metadata: dict[str, Any], edge_types: Iterable[EdgeType]
) -> dict[str, Any]:
    extra = {}
    if foreign := foreign_part(found.get("metadata", {}), METADATA if metadata else ()):
        extra["metadata"] = foreign
    plain = network_type(edge_types)
    if found.get("network-type", plain) != plain:
        extra["network-type"] = found["network-type"]
    return extra


def _own_metadata(found: dict[str, Any], file: StrPath) -> dict[str, Any]:
    """Return the metadata if it is in our own format; nothing otherwise."""
    metadata = own_part(found.get("metadata", {}))
    if "dhne-format" not in metadata:
        return {}
    if metadata["dhne-format"] not in _FORMATS:
        raise InputError("metadata.dhne-format: is of a newer version; update dhne", file=file)
    types, edge_types = metadata.get("node-types"), metadata.get("edge-types")
    kinds = metadata.get("name-kinds")
    good = (
        isinstance(types, list)
        and all(isinstance(t, str) for t in types)
        and len(set(types)) == len(types)
        and isinstance(kinds, list)
        and len(kinds) == len(types)
        and isinstance(edge_types, list)
        and all(
            _is_edge_type(e) and len(e["type"]) >= 2 and all(t in types for t in e["type"])
            for e in edge_types
        )
    )
    if not good:
        raise InputError("metadata: the lists of node and edge types are damaged", file=file)
    return metadata


def _is_edge_type(attrs: Any) -> bool:
    """Whether the attributes of an edge say what its positions are, as we write it."""
    return (
        isinstance(attrs, dict)
        and isinstance(attrs.get("ordered"), bool)
        and EdgeType.is_record({**attrs, "types": attrs.get("type")})
    )


def directions(types: EdgeType) -> list[str | None]:
    """Return the direction of each position; all None if the type is not of tails and heads."""
    sides = all(types.many) and set(types.roles) <= set(_SIDES)
    return [role if sides and role != "member" else None for role in types.roles]


def network_type(edge_types: Iterable[EdgeType]) -> str:
    """Return HIF's name for networks of these types."""
    found = [directions(t) for t in edge_types]
    return "directed" if found and all(all(sides) for sides in found) else "undirected"


def _edge_sets(
    found: dict[str, Any],
    nodes: Nodes,
    ids: IntArray,
    vocabularies: dict[str, Vocabulary],
    file: StrPath,
    *,
    keep: bool,
) -> dict[EdgeType, EdgeSet]:
    number: dict[Any, int] = {}
    for record in found.get("edges", []):
        number.setdefault(record["edge"], len(number))
    incidences = found["incidences"]
    m = len(incidences)
    edge = np.fromiter((number.setdefault(r["edge"], len(number)) for r in incidences), np.int64, m)
    node = np.fromiter((nodes.number[r["node"]] for r in incidences), np.int64, m)
    times = read_edge_times(found, number)
    weights, kinds, kind = _edge_records(found.get("edges", []), number, file)
    place, side, placed = _places(found, edge, node, len(number))
    if found.get("network-type") == "directed":
        kind[~placed] = _DIRECTED
    else:
        kind[~placed] = _UNORDERED
    place[((kind == _UNORDERED) & ~placed)[edge]] = -1
    extras = _edge_extras(found, number) if keep else {}
    sided = _has_sides(kind, kinds)
    at_incidences = incidence_extras(incidences, edge, placed, sided) if keep else {}
    which = _sorted_distinct(edge, node, place, nodes.type_of)
    edge, node, side = edge[which], node[which], side[which]
    sizes = np.bincount(edge, minlength=len(number))
    short = int((sizes < 2).sum())
    if short:
        warn(f"{short} edge(s) of fewer than two nodes are not hyperedges and were left out", file)
    starts = np.cumsum(sizes) - sizes
    edges: dict[EdgeType, list[EdgeSet]] = {}
    names = list(nodes.types)
    whole = sizes >= 2
    for size, k in np.unique(np.stack([sizes[whole], kind[whole]], 1), axis=0).tolist():
        chosen = np.flatnonzero((sizes == size) & (kind == k))
        at = starts[chosen][:, None] + np.arange(size)
        members, sides = node[at], side[at]
        signature = nodes.type_of[members] * 4 + (sides if k == _DIRECTED else 0)
        signatures, group = np.unique(signature, axis=0, return_inverse=True)
        for number_of_group, codes in enumerate(signatures.tolist()):
            rows = np.flatnonzero(group.reshape(-1) == number_of_group)
            node_types = [names[c // 4] for c in codes]
            types = _edge_type(node_types, [c % 4 for c in codes], kinds[k] if k >= 0 else k)
            mine = chosen[rows]
            when = times_of_edges(times, mine, file)
            members_ids = ids[members[rows]]
            if at_incidences:
                add_incidences(
                    *(extras, at_incidences, mine, which[at[rows]], types),
                    [vocabularies[t].take(members_ids[:, p]) for p, t in enumerate(types)],
                )
            texts = [as_text(extras.get(e, {})) for e in mine.tolist()] if extras else None
            made = EdgeSet.build(types, members_ids, weights[mine], times=when, extras=texts)
            edges.setdefault(types, []).append(made)
    return {types: _join(parts, edges, file) for types, parts in edges.items()}


def _edge_extras(found: dict[str, Any], number: dict[Any, int]) -> dict[int, dict[str, Any]]:
    own = own_part(found.get("metadata", {}))
    is_own = "dhne-format" in own

    def used(attrs: dict[str, Any]) -> tuple[str, ...]:
        if is_own or _is_edge_type(attrs):
            return ("type", "ordered", "roles", "many", *(("time",) if is_own else ()))
        return ("ordered",) if attrs.get("ordered") is False else ()

    keep_ids = not is_own or own.get("edge-ids") is True
    return edge_extras(found.get("edges", []), number, used, keep_ids=keep_ids)


def _has_sides(kind: IntArray, kinds: list[Any]) -> npt.NDArray[np.bool_]:
    """Whether the roles of each edge say the directions of its incidences."""
    with_sides = [i for i, (roles, _) in enumerate(kinds) if set(roles) <= set(_SIDES)]
    return np.isin(kind, [_DIRECTED, *with_sides])


def _edge_type(node_types: list[str], sides: list[int], kind: Any) -> EdgeType:
    """Return the edge type of hyperedges of one signature."""
    if kind == _DIRECTED:
        roles = [_SIDES[s] for s in sides]
        return EdgeType(node_types, roles, [True] * len(roles))
    if kind in (_ORDERED, _UNORDERED):
        return EdgeType.of(node_types, ordered=kind == _ORDERED)
    roles, many = kind
    if len(roles) != len(node_types):  # a record that does not fit its members
        return EdgeType.of(node_types, ordered=False)
    return EdgeType(node_types, roles, many)


def _join(parts: list[EdgeSet], edges: dict[EdgeType, Any], file: StrPath) -> EdgeSet:
    types = parts[0].types
    if any(tuple(types) == tuple(t) and types.has_sets != t.has_sets for t in edges):
        raise InputError(
            f"edges: some of type {tuple(types)!r} are ordered, others are not", file=file
        )
    return EdgeSet.join(parts)


def _edge_records(
    records: list[dict[str, Any]], number: dict[Any, int], file: StrPath
) -> tuple[npt.NDArray[np.float64], list[Any], IntArray]:
    """Return each edge's weight, the roles that records give, and what kind each edge is."""
    weights = np.ones(len(number))
    kind = np.full(len(number), _ORDERED, dtype=np.int64)
    kinds: dict[Any, int] = {}
    for i, record in enumerate(records):
        row = number[record["edge"]]
        if "weight" in record:
            weight = record["weight"]
            if not 0 < weight < 1.8e308:
                raise InputError(
                    f"edges[{i}].weight: is {weight}; weights must be positive numbers", file=file
                )
            weights[row] = weight
        attrs = own_part(record.get("attrs", {}))
        if attrs.get("roles") is not None and _is_edge_type(attrs):
            key = (tuple(attrs["roles"]), tuple(attrs.get("many") or ()) or None)
            kind[row] = kinds.setdefault(key, len(kinds))
        elif attrs.get("ordered") is False:
            kind[row] = _UNORDERED
    return weights, list(kinds), kind


def _places(
    found: dict[str, Any], edge: IntArray, node: IntArray, number: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Return each incidence's place within its edge, its side, and which edges have positions.

    The places are our own positions where every incidence of an edge has one, and otherwise the
    side: tail before head in a directed network, all the same in others.
    """
    incidences = found["incidences"]
    position = np.fromiter((_position(r) for r in incidences), np.int64, len(incidences))
    incomplete = np.zeros(number, dtype=bool)
    incomplete[edge[position < 0]] = True
    order = np.lexsort((node, position, edge))
    e, p, v = edge[order], position[order], node[order]
    clash = (e[1:] == e[:-1]) & (p[1:] == p[:-1]) & (v[1:] != v[:-1])
    incomplete[e[1:][clash]] = True  # two nodes at one position
    side = np.zeros(len(incidences), dtype=np.int64)
    if found.get("network-type") == "directed":
        side[:] = np.fromiter(
            (_DIRECTION[r.get("direction")] for r in incidences), np.int64, len(incidences)
        )
    return np.where(incomplete[edge], side, position), side, ~incomplete


def _position(record: dict[str, Any]) -> int:
    attrs = record.get("attrs")
    value = own_part(attrs).get("position") if attrs else None
    return value if type(value) is int and 0 <= value < 2**31 else -1


def _sorted_distinct(
    edge: IntArray, node: IntArray, place: IntArray, type_of: IntArray
) -> IntArray:
    """Return incidences by edge, place, type and node; of a set's repeated members the last."""
    order: IntArray = np.lexsort((node, type_of[node], place, edge))
    edge, node, place = edge[order], node[order], place[order]
    last = np.ones(len(edge), dtype=bool)
    last[:-1] = (edge[1:] != edge[:-1]) | (node[1:] != node[:-1]) | (place[1:] != place[:-1])
    return order[last]
