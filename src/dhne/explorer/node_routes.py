"""Routes for nodes: search, the neighbourhood of a node, and comparison of two nodes."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from dhne.errors import ParameterError

from . import schemas as s
from .atlas import Atlas
from .comparison import common_neighbours
from .route_parts import (
    IdParameter,
    Limit,
    Offset,
    TypeParameter,
    atlas_of,
    refs,
    tuples_of,
)

router = APIRouter(prefix="/api")


@router.get("/search", summary="Search for nodes by name")
def search(
    request: Request,
    node_type: Annotated[
        str | None,
        Query(alias="type", max_length=s.MAX_NAME, description="Node type; by default all."),
    ] = None,
    text: Annotated[str, Query(max_length=s.MAX_NAME, description="Part of the name.")] = "",
    limit: Limit = 20,
) -> s.Found:
    """Return nodes whose name contains a text: names that begin with it first, then by degree."""
    atlas = atlas_of(request)
    types = atlas.network.node_types if node_type is None else (node_type,)
    found, count = [], 0
    for t in types:
        nodes, worth, total = atlas.names(t).match(text, limit)
        found += list(zip((-worth).tolist(), refs(atlas, t, nodes), strict=True))
        count += total
    found.sort(key=lambda match: match[0])
    return s.Found.model_validate({"total": count, "nodes": [node for _, node in found[:limit]]})


@router.get("/node", summary="One node")
def node(
    request: Request,
    node_type: TypeParameter,
    node_id: Annotated[
        int | None, Query(alias="id", ge=0, lt=2**62, description="The node's id, or")
    ] = None,
    name: Annotated[str | None, Query(max_length=s.MAX_NAME, description="its name.")] = None,
) -> s.NodePage:
    """Return a node's labels, and how many neighbours and hyperedges it has."""
    atlas = atlas_of(request)
    if (node_id is None) == (name is None):
        raise ParameterError("specify a node by its id or by its name")
    if name is not None:
        node_id = atlas.find(node_type, name)
    found = atlas.check_node(node_type, node_id or 0)
    incidence = atlas.incidence
    return s.NodePage(
        node=_node(atlas, node_type, found),
        labels=_labels(atlas, node_type, found),
        degree=int(atlas.degrees(node_type)[found]),
        neighbours=[
            s.Neighbourhood(type=t, nodes=len(incidence.neighbours(node_type, found, t)[0]))
            for t in incidence.neighbour_types(node_type)
        ],
        hyperedges=[
            s.NodeEdges(edge_type=i, hyperedges=len(incidence.rows(i, node_type, found)))
            for i, types in enumerate(atlas.network.edge_types)
            if node_type in types
        ],
    )


def _node(atlas: Atlas, node_type: str, node: int) -> s.Node:
    return s.Node(type=node_type, id=node, name=atlas.names(node_type).text(node))


def _labels(atlas: Atlas, node_type: str, node: int) -> list[str]:
    labels = atlas.network.labels(node_type)
    return [] if labels is None else list(labels[node].as_py() or ())


@router.get("/node/neighbours", summary="Neighbours of a node")
def neighbours(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    of: Annotated[str, Query(max_length=s.MAX_NAME, description="The neighbours' node type.")],
    offset: Offset = 0,
    limit: Limit = 20,
) -> s.Neighbours:
    """Return a page of neighbours of one type, those with most shared hyperedges first."""
    atlas = atlas_of(request)
    atlas.check_node(node_type, node_id)
    atlas.check_type(of)
    nodes, counts = atlas.incidence.neighbours(node_type, node_id, of)
    page = slice(offset, offset + limit)
    page_of = zip(refs(atlas, of, nodes[page]), counts[page].tolist(), strict=True)
    found = [{"node": ref, "hyperedges": count} for ref, count in page_of]
    return s.Neighbours.model_validate({"total": len(nodes), "neighbours": found})


@router.get("/node/hyperedges", summary="Hyperedges of a node with their similarity")
def hyperedges(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    edge_type: Annotated[int, Query(ge=0, description="Its number in /api/types.")] = 0,
    order: Literal["best", "worst", "stored"] = "best",
    offset: Offset = 0,
    limit: Limit = 20,
) -> s.Hyperedges:
    """Return a page of the hyperedges of one edge type that contain a node."""
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


@router.get("/compare", summary="Comparison of two nodes")
def compare(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    with_type: Annotated[str, Query(max_length=s.MAX_NAME, description="The other's node type.")],
    with_id: Annotated[int, Query(ge=0, lt=2**62, description="The other's id.")],
) -> s.Comparison:
    """Return the cosine of two nodes, their common neighbours and shared hyperedges."""
    atlas = atlas_of(request)
    pair = ((node_type, node_id), (with_type, with_id))
    for one in pair:
        atlas.check_node(*one)
    if pair[0] == pair[1]:
        raise ParameterError("choose two different nodes")
    cosine, places = atlas.nearness(node_type, node_id, with_id, with_type)
    types = dict.fromkeys(
        [*atlas.incidence.neighbour_types(node_type), *atlas.incidence.neighbour_types(with_type)]
    )
    return s.Comparison(
        nodes=[
            s.Compared(
                node=_node(atlas, t, i),
                labels=_labels(atlas, t, i),
                degree=int(atlas.degrees(t)[i]),
                place=place,
            )
            for (t, i), place in zip(pair, places, strict=True)
        ],
        cosine=cosine,
        neighbours=[_common(atlas, pair, t) for t in types],
        together=[
            s.NodeEdges(edge_type=number, hyperedges=len(rows))
            for number, rows in enumerate(atlas.incidence.both(*pair))
            if len(rows)
        ],
    )


def _common(
    atlas: Atlas, pair: tuple[tuple[str, int], tuple[str, int]], node_type: str
) -> s.CommonNeighbours:
    common = common_neighbours(atlas.incidence, *pair, node_type)
    return s.CommonNeighbours.model_validate(
        {
            "type": node_type,
            "common": len(common.nodes),
            "only": [common.only_first, common.only_second],
            "nodes": refs(atlas, node_type, common.nodes[:10]),
        }
    )
