"""Routes for several nodes at once: what a selection has in common, and its table."""

from __future__ import annotations

import csv
import io

import numpy as np
from fastapi import APIRouter, Request, Response

from dhne.network.edges import NodeArray

from . import schemas as s
from .atlas import Atlas
from .comparison import label_counts, typical
from .route_parts import atlas_of, refs

router = APIRouter(prefix="/api")

_LABELS, _SHARED = 20, 10


def _nodes(atlas: Atlas, question: s.SelectionQuestion) -> NodeArray:
    nodes = np.unique(np.array(question.ids, dtype=np.int64))
    atlas.check_type(question.type)
    atlas.check_node(question.type, int(nodes[-1]))
    return nodes


@router.post("/selection", summary="What a selection of nodes has in common")
def selection(request: Request, question: s.SelectionQuestion) -> s.Selection:
    """Return its labels and, per node type, the nodes that it meets more often than others do."""
    atlas = atlas_of(request)
    nodes, labels = _nodes(atlas, question), atlas.network.labels(question.type)
    everyone = atlas.meetings(question.type)
    shared = []
    for other, counts in atlas.meetings(question.type, nodes).items():
        n = atlas.network.num_nodes(question.type)
        best = typical(counts, everyone[other], len(nodes), n, _SHARED)
        rows = zip(refs(atlas, other, best), counts[best], everyone[other][best], strict=True)
        found = [{"node": node, "selected": int(x), "all": int(y)} for node, x, y in rows]
        shared.append({"type": other, "nodes": found})
    counted = [] if labels is None else label_counts(labels, nodes)[:_LABELS]
    return s.Selection.model_validate(
        {
            "nodes": len(nodes),
            "labels": [{"name": name, "selected": x, "all": y} for name, x, y in counted],
            "shared": shared,
        }
    )


@router.post(
    "/selection/csv",
    summary="A selection of nodes as a table",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def selection_csv(request: Request, question: s.SelectionQuestion) -> Response:
    """Return type, name, degree and labels (separated by semicolons) as CSV."""
    atlas = atlas_of(request)
    nodes, labels = _nodes(atlas, question), atlas.network.labels(question.type)
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(["type", "name", "degree", *(["labels"] if labels is not None else [])])
    names, degrees = atlas.names(question.type).many(nodes), atlas.degrees(question.type)[nodes]
    given = [] if labels is None else [["; ".join(x or ())] for x in labels.take(nodes).to_pylist()]
    for i, (name, degree) in enumerate(zip(names, degrees.tolist(), strict=True)):
        table.writerow([question.type, name, degree, *(given[i] if given else [])])
    return Response(text.getvalue(), media_type="text/csv")
