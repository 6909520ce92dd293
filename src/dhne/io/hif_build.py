"""From the records of a HIF file to arrays, and from those to a hyper-network.

Records are looked at once to number nodes and edges; grouping incidences into hyperedges, and
hyperedges by the types of their nodes, is done on arrays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError
from dhne.files.reading import StrPath, warn
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

IntArray = npt.NDArray[np.int64]
_UNTYPED = "node"
_DIRECTION = {"tail": 0, None: 1, "head": 2}
_FORMATS = (1,)


def build(found: dict[str, Any], file: StrPath) -> HyperNetwork:
    """Return the network of a HIF document that has passed :func:`check_hif`."""
    metadata = _own_metadata(found, file)
    nodes = _Nodes.collect(found, metadata)
    vocabularies, ids, labels = nodes.by_type(file)
    edges = _edge_sets(found, nodes, ids, file)
    for entry in metadata.get("edge-types", []):
        edges.setdefault(
            tuple(entry["type"]), EdgeSet.build(entry["type"], [], ordered=entry["ordered"])
        )
    return HyperNetwork(vocabularies, edges.values(), labels)


def _own_metadata(found: dict[str, Any], file: StrPath) -> dict[str, Any]:
    """Return the metadata if it is in our own format; nothing otherwise."""
    metadata: dict[str, Any] = found.get("metadata", {})
    if "dhne-format" not in metadata:
        return {}
    if metadata["dhne-format"] not in _FORMATS:
        raise InputError("metadata.dhne-format: it is of a newer version; update dhne", file=file)
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
            isinstance(e, dict)
            and isinstance(e.get("type"), list)
            and len(e["type"]) >= 2
            and all(isinstance(t, str) and t in types for t in e["type"])
            and isinstance(e.get("ordered"), bool)
            for e in edge_types
        )
    )
    if not good:
        raise InputError("metadata: the lists of node and edge types are damaged", file=file)
    return metadata


@dataclass
class _Nodes:
    """Nodes numbered as they come, with what their attributes say."""

    number: dict[Any, int]  # by id; 1 and 1.0 are the same id, 1 and "1" are not
    attrs: list[dict[str, Any]]
    types: dict[str, int]
    type_of: IntArray
    kinds: dict[str, str]

    @classmethod
    def collect(cls, found: dict[str, Any], metadata: dict[str, Any]) -> _Nodes:
        number: dict[Any, int] = {}
        attrs: list[dict[str, Any]] = []
        for record in found.get("nodes", []):
            node = record["node"]
            if number.setdefault(node, len(attrs)) == len(attrs):
                attrs.append(record.get("attrs", {}))
            else:
                attrs[number[node]] = record.get("attrs", attrs[number[node]])
        for record in found["incidences"]:
            number.setdefault(record["node"], len(number))
        attrs.extend({} for _ in range(len(number) - len(attrs)))
        names = metadata.get("node-types", [])
        types = {t: i for i, t in enumerate(names)}
        type_of = np.empty(len(attrs), np.int64)
        for i, attr in enumerate(attrs):
            t = attr.get("type")
            t = t if isinstance(t, str) else _UNTYPED
            type_of[i] = types.setdefault(t, len(types))
        return cls(
            number,
            attrs,
            types,
            type_of,
            dict(zip(names, metadata.get("name-kinds", []), strict=True)),
        )

    def by_type(
        self, file: StrPath
    ) -> tuple[dict[str, Vocabulary], IntArray, dict[str, list[list[str]]]]:
        """Return the vocabularies, each node's id within its type, and the labels."""
        ids = np.empty(len(self.attrs), np.int64)
        keys = list(self.number)
        vocabularies, labels = {}, {}
        for t, code in self.types.items():
            members = np.flatnonzero(self.type_of == code)
            ids[members] = np.arange(len(members))
            rows = members.tolist()
            names = [self.attrs[i].get("name") for i in rows]
            typed = [isinstance(self.attrs[i].get("type"), str) for i in rows]
            if not (all(typed) and _are_names(names)):
                names = [keys[i] for i in rows]
            vocabularies[t] = _vocabulary(names, t, self.kinds.get(t), file)
            found = [_labels(self.attrs[i].get("labels")) for i in rows]
            if any(found):
                labels[t] = found
        return vocabularies, ids, labels


def _are_names(names: list[Any]) -> bool:
    """Whether all are names of one kind, and no two are equal."""
    kinds = {type(n) for n in names}
    return len(kinds) == 1 and kinds <= {str, int} and len(set(names)) == len(names)


def _vocabulary(names: list[Any], t: str, kind: str | None, file: StrPath) -> Vocabulary:
    """Integers stay integers if all are and fit into 64 bits; otherwise all become strings."""
    whole = [int(n) if isinstance(n, float) else n for n in names]
    if not whole:
        empty: npt.NDArray[Any] = np.empty(0, np.int64)
        return Vocabulary(empty if kind == "integer" else [], node_type=t)
    fits = all(isinstance(n, int) and -(2**63) <= n < 2**63 for n in whole)
    texts = whole if fits else [str(n) for n in whole]
    if len(set(texts)) != len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise InputError(
            f"nodes: the ids {twice} and {twice!r} are different there and would be one name here; "
            "rename one",
            file=file,
        )
    return Vocabulary(texts, node_type=t)


def _labels(found: Any) -> list[str]:
    if isinstance(found, str):
        return [found]
    return [x for x in found if isinstance(x, str)] if isinstance(found, list) else []


def _edge_sets(
    found: dict[str, Any], nodes: _Nodes, ids: IntArray, file: StrPath
) -> dict[EdgeType, EdgeSet]:
    number: dict[Any, int] = {}
    for record in found.get("edges", []):
        number.setdefault(record["edge"], len(number))
    incidences = found["incidences"]
    m = len(incidences)
    edge = np.fromiter((number.setdefault(r["edge"], len(number)) for r in incidences), np.int64, m)
    node = np.fromiter((nodes.number[r["node"]] for r in incidences), np.int64, m)
    weights, unordered = _edge_records(found.get("edges", []), number, file)
    place, ordered = _places(found, edge, node, len(number))
    ordered &= ~unordered
    edge, node = _sorted_distinct(edge, node, place, nodes.type_of)
    sizes = np.bincount(edge, minlength=len(number))
    short = int((sizes < 2).sum())
    if short:
        warn(f"{short} edge(s) of fewer than two nodes are no hyperedges and were left out", file)
    starts = np.cumsum(sizes) - sizes
    edges: dict[EdgeType, list[tuple[IntArray, npt.NDArray[np.float64], bool]]] = {}
    names = list(nodes.types)
    for size in np.unique(sizes[sizes >= 2]).tolist():
        for flag in (True, False):
            chosen = np.flatnonzero((sizes == size) & (ordered == flag))
            members = node[starts[chosen][:, None] + np.arange(size)]
            if not len(chosen):
                continue
            signatures, group = np.unique(nodes.type_of[members], axis=0, return_inverse=True)
            for k, signature in enumerate(signatures.tolist()):
                rows = np.flatnonzero(group.reshape(-1) == k)
                types = tuple(names[c] for c in signature)
                part = (ids[members[rows]], weights[chosen[rows]], flag)
                edges.setdefault(types, []).append(part)
    return {types: _join(types, parts, file) for types, parts in edges.items()}


def _join(types: EdgeType, parts: list[Any], file: StrPath) -> EdgeSet:
    repeats = len(set(types)) < len(types)
    if repeats and len(parts) > 1:
        raise InputError(f"edges: those of type {types!r} are ordered only in part", file=file)
    members = np.concatenate([p[0] for p in parts])
    weights = np.concatenate([p[1] for p in parts])
    return EdgeSet.build(types, members, weights, ordered=parts[0][2])


def _edge_records(
    records: list[dict[str, Any]], number: dict[Any, int], file: StrPath
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return each edge's weight, and whether its record says that it is unordered."""
    weights = np.ones(len(number))
    unordered = np.zeros(len(number), dtype=bool)
    for i, record in enumerate(records):
        row = number[record["edge"]]
        if "weight" in record:
            weight = record["weight"]
            if not 0 < weight < 1.8e308:
                raise InputError(
                    f"edges[{i}].weight: is {weight}; weights must be positive numbers", file=file
                )
            weights[row] = weight
        unordered[row] = record.get("attrs", {}).get("ordered") is False
    return weights, unordered


def _places(
    found: dict[str, Any], edge: IntArray, node: IntArray, number: int
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return each incidence's place within its edge, and whether that edge is ordered.

    The places are our own positions where every incidence of an edge has one, tail before head in
    a directed network, and all the same otherwise.
    """
    incidences = found["incidences"]
    position = np.fromiter((_position(r) for r in incidences), np.int64, len(incidences))
    incomplete = np.zeros(number, dtype=bool)
    incomplete[edge[position < 0]] = True
    order = np.lexsort((node, position, edge))
    e, p, v = edge[order], position[order], node[order]
    clash = (e[1:] == e[:-1]) & (p[1:] == p[:-1]) & (v[1:] != v[:-1])
    incomplete[e[1:][clash]] = True  # two nodes at one position
    if found.get("network-type") == "directed":
        side = np.fromiter(
            (_DIRECTION[r.get("direction")] for r in incidences), np.int64, len(incidences)
        )
        # within tail and head the file's order counts, and each node once
        _, first, again = np.unique(
            np.stack([edge, node, side], axis=1), axis=0, return_index=True, return_inverse=True
        )
        place = np.where(
            incomplete[edge], side * len(incidences) + first[again.reshape(-1)], position
        )
        return place, np.ones(number, dtype=bool)
    return np.where(incomplete[edge], -1, position), ~incomplete


def _position(record: dict[str, Any]) -> int:
    attrs = record.get("attrs")
    value = attrs.get("position") if attrs else None
    return value if type(value) is int and 0 <= value < 2**31 else -1


def _sorted_distinct(
    edge: IntArray, node: IntArray, place: IntArray, type_of: IntArray
) -> tuple[IntArray, IntArray]:
    """Return incidences by edge, place, type and node; a set's repeated members only once."""
    order = np.lexsort((node, type_of[node], place, edge))
    edge, node, place = edge[order], node[order], place[order]
    again = np.zeros(len(edge), dtype=bool)
    again[1:] = (edge[1:] == edge[:-1]) & (node[1:] == node[:-1]) & (place[1:] == place[:-1])
    return edge[~again], node[~again]
