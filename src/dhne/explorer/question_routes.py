"""Routes for the three questions: similar, score, rank.

Answers to `similar` and `rank` are serialised by the worker threads, off the event loop.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated, NamedTuple

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from dhne.answers.completion import Question
from dhne.errors import ParameterError

from . import schemas as s
from .atlas import Atlas
from .route_parts import IdParameter, TypeParameter, as_json, atlas_of, refs, tuples_of

router = APIRouter(prefix="/api")

BEAM = 16  # candidates for the first of two open positions; bounds the work per question


class Near(NamedTuple):
    """A question: the nearest nodes of the same type."""

    node_type: str
    node: int
    k: int


def answer_near(atlas: Atlas, questions: list[Near]) -> list[bytes]:
    """Answer questions about one node type, as JSON."""
    node_type = questions[0].node_type
    asked = np.array([q.node for q in questions], dtype=np.int64)
    found = atlas.nearest.to_nodes(node_type, asked, [q.k for q in questions])
    every = refs(atlas, node_type, np.concatenate([asked, *(f.nodes for f in found)]))
    cosines = np.concatenate([f.cosines for f in found]).tolist()
    pairs = zip(every[len(questions) :], cosines, strict=True)
    near = iter([{"node": node, "cosine": cosine} for node, cosine in pairs])
    return [
        as_json({"node": node, "answers": list(islice(near, len(f.nodes)))})
        for node, f in zip(every[: len(questions)], found, strict=True)
    ]


def answer_rank(atlas: Atlas, questions: list[Question]) -> list[bytes]:
    """Answer questions with the same edge type and open positions, as JSON."""
    found = atlas.completer.answer(questions)
    edge_type = atlas.network.edge_types.index(questions[0].types)
    is_open = list(questions[0].open_positions)
    tuples = np.concatenate([f.tuples for f in found])
    rows = zip(
        tuples_of(atlas, edge_type, tuples),
        np.concatenate([f.scores for f in found]).tolist(),
        atlas.is_known(tuples, edge_type).tolist(),
        strict=True,
    )
    every = iter([{"nodes": nodes, "similarity": x, "known": known} for nodes, x, known in rows])
    return [
        as_json({"open": is_open, "answers": list(islice(every, len(f.scores)))}) for f in found
    ]


@router.get("/similar", summary="The nearest nodes in the embedding", response_model=s.Similar)
async def similar(
    request: Request,
    node_type: TypeParameter,
    node_id: IdParameter,
    k: Annotated[int, Query(ge=1, le=s.MAX_K, description="How many.")] = 10,
) -> Response:
    """Return the nodes of the same type with the largest cosine."""
    atlas = atlas_of(request)
    atlas.check_node(node_type, node_id)
    answer = await request.app.state.desks.near.ask(Near(node_type, node_id, k))
    return Response(answer, media_type="application/json")


@router.post("/score", summary="The similarity of a tuple")
def score(request: Request, question: s.TupleQuestion) -> s.Score:
    """Return the similarity of a complete tuple, and whether it is a known hyperedge."""
    atlas = atlas_of(request)
    nodes = np.array([atlas.resolve(question.edge_type, list(question.names))], dtype=np.int64)
    return s.Score.model_validate(
        {
            "nodes": tuples_of(atlas, question.edge_type, nodes)[0],
            "similarity": float(atlas.score(nodes, question.edge_type)[0]),
            "known": bool(atlas.is_known(nodes, question.edge_type)[0]),
        }
    )


@router.post("/rank", summary="The best completions of a tuple", response_model=s.Ranked)
async def rank(request: Request, question: s.RankQuestion) -> Response:
    """Return the completions of a tuple with one or two open positions, best first.

    One open position is ranked over all candidates. With two, the best few candidates for the first
    are each completed at the second.
    """
    atlas, desks = atlas_of(request), request.app.state.desks
    nodes = atlas.resolve(question.edge_type, question.names)
    types = atlas.network.edge_types[question.edge_type]
    asked = Question(types, nodes, question.k, question.known == "drop", BEAM)
    if len(asked.open_positions) not in (1, 2):
        raise ParameterError("leave one or two positions open; use score for complete tuples")
    quick = atlas.completer.is_quick(types)
    desk = desks.quick if quick and len(asked.open_positions) == 1 else desks.slow
    return Response(await desk.ask(asked), media_type="application/json")
