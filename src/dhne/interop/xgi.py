"""XGI hypergraphs and networks; :mod:`.records` explains how types and positions are stored."""

from __future__ import annotations

from typing import Any

from dhne.errors import InputError, require
from dhne.io.hif import own_metadata
from dhne.network.hypernetwork import HyperNetwork

from .records import Edge, edges_of, nodes_of, to_network

_KEY = "dhne"  # the network attribute with all types, including empty ones


def to_xgi(network: HyperNetwork, *, directed: bool = False) -> Any:
    """Return a network as an `xgi.Hypergraph`; `from_xgi` is the inverse.

    Parameters
    ----------
    network : HyperNetwork
    directed : bool
        Whether to make an `xgi.DiHypergraph` instead. Directed hyperedges keep their tail and
        head; of others the node at the last position is the head, all others are the tail.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    >>> hypergraph = to_xgi(net)
    >>> hypergraph.nodes["Heat"]
    {'type': 'movie', 'name': 'Heat'}
    >>> from_xgi(hypergraph) == net
    True
    """
    xgi = require("xgi", extra="interop")
    graph = xgi.DiHypergraph() if directed else xgi.Hypergraph()
    graph[_KEY] = own_metadata(network)
    graph.add_nodes_from(nodes_of(network))
    edges = enumerate(edges_of(network))
    if directed:
        graph.add_edges_from([(_tail_and_head(e), number, e.attributes) for number, e in edges])
    else:
        graph.add_edges_from([(e.members, number, e.attributes) for number, e in edges])
    return graph


def from_xgi(hypergraph: Any) -> HyperNetwork:
    """Return an XGI hypergraph, simplicial complex or directed hypergraph as a network.

    Types are the nodes' attribute ``type``, weights the hyperedges' attribute ``weight``. The
    hyperedges of a directed hypergraph become two sets, with the roles ``tail`` and ``head``.
    Hyperedges of fewer than two nodes are skipped with a warning.
    """
    xgi = require("xgi", extra="interop")
    directed = isinstance(hypergraph, xgi.DiHypergraph)
    if not directed and not isinstance(hypergraph, xgi.Hypergraph):
        raise InputError(f"from_xgi takes an XGI hypergraph, got {type(hypergraph).__name__}")
    place = {node: i for i, node in enumerate(hypergraph.nodes)}
    edges = []
    for number in hypergraph.edges:
        attributes = hypergraph.edges[number]
        if directed:
            tail, head = (tuple(sorted(side, key=place.__getitem__)) for side in
                          hypergraph.edges.dimembers(number))  # fmt: skip
            edges.append(Edge(tail + head, attributes, tail))
        else:
            members = sorted(hypergraph.edges.members(number), key=place.__getitem__)
            edges.append(Edge(tuple(members), attributes))
    return to_network(
        ((node, hypergraph.nodes[node]) for node in hypergraph.nodes),
        edges,
        what="the XGI hypergraph",
        directed=directed,
        metadata=_metadata(hypergraph, xgi),
    )


def _tail_and_head(edge: Edge) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    roles = edge.attributes.get("roles", ())
    if not roles or not {*roles} <= {"tail", "head"}:
        return edge.members[:-1], edge.members[-1:]
    both = list(zip(edge.members, roles, strict=True))
    tail, head = (tuple(m for m, role in both if role == side) for side in ("tail", "head"))
    return tail, head


def _metadata(hypergraph: Any, xgi: Any) -> dict[str, Any]:
    try:
        found = hypergraph[_KEY]
    except xgi.exception.XGIError:
        return {}
    return dict(found) if isinstance(found, dict) else {}
