"""The documented routes: small questions, bounded answers.

Names are text everywhere, also where the data has integers: a browser's numbers end at 2^53. Nodes
are told apart by their type and id. What grows with the number of nodes is sent as plain arrays of
bytes, not as JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request

from dhne.network.edges import NodeArray

from . import schemas as s
from .atlas import Atlas

router = APIRouter(prefix="/api")

TypeParameter = Annotated[str, Query(alias="type", max_length=s.MAX_NAME, description="Node type.")]
IdParameter = Annotated[int, Query(alias="id", ge=0, lt=2**62, description="The node's id.")]
Offset = Annotated[int, Query(ge=0, lt=2**62)]
Limit = Annotated[int, Query(ge=1, le=s.MAX_PAGE)]


def atlas_of(request: Request) -> Atlas:
    """Return the run that an application shows."""
    atlas: Atlas = request.app.state.atlas
    return atlas


def refs(atlas: Atlas, node_type: str, nodes: NodeArray) -> list[dict[str, Any]]:
    """Return nodes of one type as the API shows them."""
    names = atlas.names(node_type).many(nodes)
    return [
        {"type": node_type, "id": i, "name": name}
        for i, name in zip(nodes.tolist(), names, strict=True)
    ]


def tuples_of(atlas: Atlas, edge_type: int, tuples: NodeArray) -> list[list[dict[str, Any]]]:
    """Return tuples of one edge type as the API shows them."""
    types = atlas.network.edge_types[edge_type]
    columns = [refs(atlas, t, tuples[:, p]) for p, t in enumerate(types)]
    return [list(nodes) for nodes in zip(*columns, strict=True)]


# -- the run ---------------------------------------------------------------------------------------


@router.get("/run", summary="How the run was made")
def run(request: Request) -> s.Run:
    """Return the run's settings and its size."""
    atlas = atlas_of(request)
    config = _finite(atlas.model.config())
    return s.Run(
        name=atlas.name,
        method=config["method"],
        version=config["version"],
        settings=config.get("settings", {}),
        params=config["params"],
        nodes=atlas.network.num_nodes(),
        hyperedges=atlas.network.num_edges(),
        epochs=len(getattr(atlas.model, "history_", [])),
    )


@router.get("/history", summary="The training, a record an epoch")
def history(request: Request) -> s.History:
    """Return the training curves as records."""
    records = _finite(getattr(atlas_of(request).model, "history_", []))
    plain = [
        {k: v for k, v in r.items() if isinstance(v, float | int | str | bool | None)}
        for r in records
    ]
    numeric = (k for r in plain for k, v in r.items() if isinstance(v, float | int))
    measures = [k for k in dict.fromkeys(numeric) if k != "epoch"]
    return s.History(measures=measures, records=plain)


def _finite(value: Any) -> Any:
    """Return plain data with null for numbers that JSON has no word for."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


@router.get("/types", summary="Node types and edge types")
def types(request: Request) -> s.Types:
    """Return what kinds of nodes and hyperedges there are."""
    atlas = atlas_of(request)
    network = atlas.network
    return s.Types(
        node_types=[
            s.NodeType(
                type=t,
                nodes=network.num_nodes(t),
                dimensions=atlas.model.embeddings_[t].shape[1],
                labelled=network.labels(t) is not None,
            )
            for t in network.node_types
        ],
        edge_types=[
            s.EdgeTypeInfo(types=list(e.types), ordered=not e.types.has_sets, hyperedges=len(e))
            for e in network.edge_sets
        ],
    )


# -- nodes -----------------------------------------------------------------------------------------


@router.get("/search", summary="Nodes by a part of their name")
def search(
    request: Request,
    node_type: TypeParameter,
    text: Annotated[str, Query(max_length=s.MAX_NAME, description="A part of the name.")] = "",
    limit: Limit = 20,
) -> s.Found:
    """Return nodes whose name holds a text: what begins with it first, then by degree."""
    atlas = atlas_of(request)
    nodes, total = atlas.names(node_type).search(text, limit)
    return s.Found.model_validate({"total": total, "nodes": refs(atlas, node_type, nodes)})


@router.get("/node", summary="One node")
def node(request: Request, node_type: TypeParameter, node_id: IdParameter) -> s.NodePage:
    """Return a node's labels, and how many neighbours and hyperedges it has."""
    atlas = atlas_of(request)
    atlas.check_node(node_type, node_id)
    labels = atlas.network.labels(node_type)
    incidence = atlas.incidence
    return s.NodePage(
        node=s.Node(type=node_type, id=node_id, name=atlas.names(node_type).text(node_id)),
        labels=[] if labels is None else labels[node_id].as_py(),
        degree=int(atlas.degrees(node_type)[node_id]),
        neighbours=[
            s.Neighbourhood(type=t, nodes=len(incidence.neighbours(node_type, node_id, t)[0]))
            for t in incidence.neighbour_types(node_type)
        ],
        hyperedges=[
            s.NodeEdges(edge_type=i, hyperedges=len(incidence.rows(i, node_type, node_id)))
            for i, types in enumerate(atlas.network.edge_types)
            if node_type in types
        ],
    )


@router.get("/node/neighbours", summary="Who stands in hyperedges with a node")
def neighbours(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    of: Annotated[str, Query(max_length=s.MAX_NAME, description="The neighbours' node type.")],
    offset: Offset = 0,
    limit: Limit = 20,
) -> s.Neighbours:
    """Return a page of neighbours of one type, those in most common hyperedges first."""
    atlas = atlas_of(request)
    atlas.check_node(node_type, node_id)
    atlas.check_type(of)
    nodes, counts = atlas.incidence.neighbours(node_type, node_id, of)
    page = slice(offset, offset + limit)
    page_of = zip(refs(atlas, of, nodes[page]), counts[page].tolist(), strict=True)
    found = [{"node": ref, "hyperedges": count} for ref, count in page_of]
    return s.Neighbours.model_validate({"total": len(nodes), "neighbours": found})


@router.get("/node/hyperedges", summary="A node's hyperedges with their similarity")
def hyperedges(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    edge_type: Annotated[int, Query(ge=0, description="Its number in /api/types.")] = 0,
    order: Literal["best", "worst", "stored"] = "best",
    offset: Offset = 0,
    limit: Limit = 20,
) -> s.Hyperedges:
    """Return a page of the hyperedges that hold a node, of one edge type."""
    atlas = atlas_of(request)
    rows, scores, total, order_used = atlas.hyperedges(
        node_type, node_id, edge_type, order, offset, limit
    )
    edges = atlas.network.edge_sets[edge_type]
    found = [
        {"nodes": nodes, "weight": weight, "similarity": score}
        for nodes, weight, score in zip(
            tuples_of(atlas, edge_type, edges.nodes[rows]),
            edges.weights[rows].tolist(),
            scores.tolist(),
            strict=True,
        )
    ]
    return s.Hyperedges.model_validate({"total": total, "order": order_used, "hyperedges": found})
