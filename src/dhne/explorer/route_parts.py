"""Shared by the routes: parameters, access to the run, and the JSON form of nodes.

Names are always text, even if the data has integers, because a browser's numbers end at 2^53. Nodes
are identified by type and id, and can also be looked up by name. Data whose size grows with the
number of nodes is sent as byte arrays, not as JSON.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Query, Request

from dhne.network.edges import NodeArray

from . import schemas as s
from .atlas import Atlas

TypeParameter = Annotated[str, Query(alias="type", max_length=s.MAX_NAME, description="Node type.")]
IdParameter = Annotated[int, Query(alias="id", ge=0, lt=2**62, description="The node's id.")]
Offset = Annotated[int, Query(ge=0, lt=2**62)]
Limit = Annotated[int, Query(ge=1, le=s.MAX_PAGE)]


def atlas_of(request: Request) -> Atlas:
    """Return the run of an application."""
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


def as_json(content: Any) -> bytes:
    """Return plain data as JSON, off the event loop where it was computed."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
