"""Conversion between networks and hypergraphs of dictionaries and sets, as in XGI and HyperNetX.

In both libraries nodes have one global id and attributes, and hyperedges are sets. Types, positions
and weights are therefore stored as attributes, as in a HIF file:

* node: ``{"type": "movie", "name": "Heat", "labels": […]}``. Its id is its name if that is
  unique in the network, otherwise ``movie:Heat``.
* edge: ``{"type": ("user", "movie", "tag"), "ordered": True, "weight": 1.0, "tuple": (…)}``, the
  last being the node ids in the order of positions, including repeated nodes. Where roles are not
  the node types, as in directed hyperedges, ``roles`` and ``many`` have one entry per position.

When converting back, a hyperedge's ``tuple`` is used if it has exactly the hyperedge's current
members. Otherwise, as in a hypergraph from another source, the members are a set, grouped by
``type`` (``"node"`` by default).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dhne.errors import InputError
from dhne.io.hif import node_ids
from dhne.io.hif_build import build
from dhne.io.hif_rules import check_hif
from dhne.network.hypernetwork import HyperNetwork

Attributes = dict[str, Any]
_ROLES = ("type", "roles", "many")  # what makes an edge type, where node types alone do not


class Edge(NamedTuple):
    """A hyperedge of such a hypergraph; `tail` is the part of a directed one that comes first."""

    members: tuple[Any, ...]
    attributes: Mapping[str, Any]
    tail: tuple[Any, ...] | None = None


def nodes_of(network: HyperNetwork) -> Iterator[tuple[Any, Attributes]]:
    """Yield (id, attributes) of each node."""
    ids = node_ids(network)
    for t in network.node_types:
        names, column = network.names(t).to_pylist(), network.labels(t)
        labels = [None] * len(names) if column is None else column.to_pylist()
        for i, name, given in zip(ids[t], names, labels, strict=True):
            attributes = {"type": t, "name": name}
            yield i, attributes | {"labels": given} if given else attributes


def edges_of(network: HyperNetwork) -> Iterator[Edge]:
    """Yield each hyperedge, its members in the order of positions."""
    ids = node_ids(network)
    for e in network.edge_sets:
        names = [ids[t] for t in e.types]
        record = e.types.to_record()
        kind = {"type": e.types, "ordered": record["ordered"]}
        kind |= {key: record[key] for key in _ROLES if key in record}
        for row, weight in zip(e.nodes.tolist(), e.weights.tolist(), strict=True):
            members = tuple(n[i] for n, i in zip(names, row, strict=True))
            yield Edge(members, {**kind, "weight": weight, "tuple": members})


def to_network(
    nodes: Iterable[tuple[Any, Mapping[str, Any]]],
    edges: Iterable[Edge],
    *,
    what: str,
    directed: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> HyperNetwork:
    """Return the network of nodes and hyperedges with their attributes.

    Parameters
    ----------
    nodes : iterable of (id, attributes)
    edges : iterable of Edge
    what : str
        Name of the hypergraph in error messages.
    directed : bool
        Whether a hyperedge is a tail and a head: two sets, with the roles ``tail`` and ``head``.
    metadata : mapping, optional
        Of a network converted by this module: the types without nodes or hyperedges.
    """
    ids = _Ids(what)
    document: dict[str, Any] = {
        "network-type": "directed" if directed else "undirected",
        "metadata": dict(metadata or {}),
        "nodes": [{"node": ids[n], "attrs": _node_attributes(a)} for n, a in nodes],
        "edges": [],
        "incidences": [],
    }
    for number, edge in enumerate(edges):
        record: Attributes = {"edge": number, "attrs": {}}
        if edge.attributes.get("ordered") is False:
            record["attrs"]["ordered"] = False
        if _has_tuple(edge) and "roles" in edge.attributes:
            record["attrs"] |= {k: list(edge.attributes.get(k) or ()) for k in _ROLES}
        if edge.attributes.get("weight") is not None:
            record["weight"] = _plain(edge.attributes["weight"])
        document["edges"].append(record)
        document["incidences"] += _incidences(number, edge, ids)
    check_hif(document, what)
    return build(document, what, keep=False)


class _Ids(dict[Any, Any]):
    """Return ids that a file can hold: strings and integers; anything else becomes a string."""

    def __init__(self, what: str) -> None:
        self._what, self._taken = what, set[Any]()

    def __missing__(self, node: Any) -> Any:
        plain = _plain(node)
        plain = plain if type(plain) in (str, int) else str(plain)
        if plain in self._taken:
            raise InputError(
                f"two nodes would both be named {plain!r}; rename one", file=self._what
            )
        self._taken.add(plain)
        self[node] = plain
        return plain


def _node_attributes(given: Mapping[str, Any]) -> Attributes:
    """Return the attributes of a node that a network keeps."""
    found = {k: _plain(given[k]) for k in ("type", "name") if given.get(k) is not None}
    labels = given.get("labels")
    if labels is not None:
        found["labels"] = labels if isinstance(labels, str) else [str(x) for x in labels]
    return found


def _has_tuple(edge: Edge) -> bool:
    """Whether its nodes in the order of positions are known, and are its members still."""
    whole = edge.attributes.get("tuple")
    return isinstance(whole, list | tuple) and set(whole) == set(edge.members)


def _incidences(number: int, edge: Edge, ids: _Ids) -> Iterator[Attributes]:
    if _has_tuple(edge):
        for position, node in enumerate(edge.attributes["tuple"]):
            yield {"edge": number, "node": ids[node], "attrs": {"position": position}}
        return
    tail = edge.tail or ()
    for node in tail:
        yield {"edge": number, "node": ids[node], "direction": "tail"}
    rest = edge.members[len(tail) :]
    for node in rest:
        record = {"edge": number, "node": ids[node]}
        yield record if edge.tail is None else {**record, "direction": "head"}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
