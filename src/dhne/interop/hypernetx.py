"""HyperNetX hypergraphs and networks.

Types and positions are stored as in :mod:`dhne.interop.records`, as properties of nodes and edges.
A HyperNetX hypergraph does not contain nodes without a hyperedge but keeps their properties, from
which they are restored. A node type without nodes, or an edge type without hyperedges, is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dhne.errors import InputError, require
from dhne.network.hypernetwork import HyperNetwork

from .records import Edge, edges_of, nodes_of, to_network


def to_hypernetx(network: HyperNetwork) -> Any:
    """Return a network as a `hypernetx.Hypergraph`; `from_hypernetx` is the inverse.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    >>> hypergraph = to_hypernetx(net)
    >>> hypergraph.nodes["Heat"].properties["type"]
    'movie'
    >>> from_hypernetx(hypergraph) == net
    True
    """
    hypernetx = require("hypernetx", extra="interop")
    members, properties = {}, {}
    for number, edge in enumerate(edges_of(network)):
        members[number] = list(dict.fromkeys(edge.members))
        properties[number] = dict(edge.attributes)
    return hypernetx.Hypergraph(
        members, edge_properties=properties, node_properties=dict(nodes_of(network))
    )


def from_hypernetx(hypergraph: Any) -> HyperNetwork:
    """Return a HyperNetX hypergraph as a network.

    Types are the nodes' property ``type``, weights the hyperedges' property ``weight``. Hyperedges
    of fewer than two nodes are skipped with a warning.
    """
    hypernetx = require("hypernetx", extra="interop")
    if not isinstance(hypergraph, hypernetx.Hypergraph):
        raise InputError(
            f"from_hypernetx takes a HyperNetX Hypergraph, got {type(hypergraph).__name__}"
        )
    place = {node: i for i, node in enumerate(hypergraph.nodes)}
    edges = []
    for number, nodes in hypergraph.incidence_dict.items():
        edge = hypergraph.edges[number]
        members = tuple(sorted(nodes, key=place.__getitem__))
        edges.append(Edge(members, {**edge.properties, "weight": edge.weight}))
    return to_network(_nodes(hypergraph), edges, what="the HyperNetX hypergraph")


def _nodes(hypergraph: Any) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    described = hypergraph.nodes.user_defined_properties
    known = dict(zip(described.index, described.get("misc_properties", ()), strict=False))
    for node, properties in known.items():
        yield node, properties if isinstance(properties, dict) else {}
    for node in hypergraph.nodes:
        if node not in known:
            yield node, {}
