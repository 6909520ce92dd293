"""Why a tuple has its score: `dhne.answers.explanation`, with nodes that the page can link to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from dhne.answers.explanation import Explanation, Pair
from dhne.network.edges import EdgeType

from .atlas import Atlas
from .route_parts import as_json, atlas_of
from .schemas import Node, TupleQuestion

router = APIRouter(prefix="/api")


class Part(BaseModel):
    """A node of the tuple."""

    node: Node
    position: str = Field(description="The column of the node's position.")
    hyperedges: float = Field(description="The weight of the hyperedges that contain it.")
    adds: float = Field(description="The logit minus the logit with an average node instead.")


class PairOfNodes(BaseModel):
    """Two nodes of the tuple."""

    nodes: list[Node]
    together: float = Field(description="The weight of the hyperedges that contain both.")
    adds: float | None = Field(description="What the pair's evidence adds to the logit.")
    shared: list[Node] = Field(description="Neighbours of both, the most frequent first.")
    paths: list[list[Node]] = Field(description="Paths from the first node to the second.")


class NearHyperedge(BaseModel):
    """A known hyperedge, the mean cosine of its nodes with the tuple's, and its similarity."""

    nodes: list[Node]
    cosine: float
    similarity: float


class Explained(BaseModel):
    """Why a tuple has its score."""

    nodes: list[Node]
    similarity: float
    logit: float
    known: bool
    above_known: float | None = Field(description="Share of known hyperedges that score lower.")
    above_random: float | None = Field(description="Share of random tuples that score lower.")
    probability: float
    negatives: float = Field(description="Negatives per hyperedge that the probability assumes.")
    held_out: int = Field(description="Held-out hyperedges that the probability was fitted to.")
    products_add: float | None = Field(description="What products of own vectors add to the logit.")
    parts: list[Part]
    pairs: list[PairOfNodes]
    nearest: list[NearHyperedge]


class WholeTuple(NamedTuple):
    """A question: why a tuple has its score."""

    types: EdgeType
    nodes: tuple[int, ...]


@router.post("/explain", summary="Why a tuple has its score", response_model=Explained)
async def explain(request: Request, question: TupleQuestion) -> Response:
    """Return what the nodes of a tuple share, what each part adds, and similar hyperedges."""
    atlas = atlas_of(request)
    nodes = atlas.resolve(question.edge_type, list(question.names))
    asked = WholeTuple(atlas.network.edge_types[question.edge_type], nodes)
    return Response(await request.app.state.desks.why.ask(asked), media_type="application/json")


def answer_why(atlas: Atlas, questions: list[WholeTuple]) -> list[bytes]:
    """Answer questions about whole tuples, as JSON."""
    return [as_json(_explained(atlas, question)) for question in questions]


def _explained(atlas: Atlas, question: WholeTuple) -> dict[str, Any]:
    types = question.types
    found = atlas.model.explain(np.array(question.nodes), edge_type=types)
    calibration = atlas.model.calibration_
    return {
        "nodes": _nodes(atlas, types, found.names),
        "similarity": found.score,
        "logit": found.logit,
        "known": found.known,
        "above_known": None if isnan(found.above_known) else found.above_known,
        "above_random": None if isnan(found.above_random) else found.above_random,
        "probability": found.probability,
        "negatives": calibration.negatives,
        "held_out": calibration.held_out,
        "products_add": found.products_add,
        "parts": _parts(atlas, types, found),
        "pairs": [
            _pair(atlas, (types[p], types[q]), pair)
            for (p, q), pair in zip(combinations(range(len(types)), 2), found.pairs, strict=True)
        ],
        "nearest": [
            {"nodes": _nodes(atlas, types, n.names), "cosine": n.cosine, "similarity": n.score}
            for n in found.nearest
        ],
    }


def _parts(atlas: Atlas, types: EdgeType, found: Explanation) -> list[dict[str, Any]]:
    nodes = _nodes(atlas, types, found.names)
    return [
        {"node": node, "position": part.column, "hyperedges": part.degree, "adds": part.adds}
        for node, part in zip(nodes, found.parts, strict=True)
    ]


def _pair(atlas: Atlas, types: tuple[str, str], pair: Pair) -> dict[str, Any]:
    s, t = types
    return {
        "nodes": _nodes(atlas, types, pair.names),
        "together": pair.together,
        "adds": pair.adds,
        "shared": [_nodes(atlas, [kind], [name])[0] for kind, name in pair.shared],
        "paths": [_nodes(atlas, (t, s), path) for path in pair.paths],
    }


def _nodes(atlas: Atlas, types: Sequence[str], names: Sequence[Any]) -> list[dict[str, Any]]:
    """Return named nodes as the API shows them."""
    texts = [str(name) for name in names]
    return [
        {"type": t, "id": atlas.find(t, text), "name": text}
        for t, text in zip(types, texts, strict=True)
    ]
