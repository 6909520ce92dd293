"""Routes of the map: what it can show, and points, names and colours as byte arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response

from dhne.errors import UnknownNameError

from . import schemas as s
from .layouts import UmapLayout
from .route_parts import TypeParameter, atlas_of

router = APIRouter(prefix="/api")

_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"format": "binary"}}}}
}


@router.get("/map", summary="What the map of a node type can show")
def map_info(request: Request, node_type: TypeParameter) -> s.MapInfo:
    """Return the available layouts and colours of a node type."""
    atlas = atlas_of(request)
    umap, labels = atlas.umap(node_type), atlas.labels(node_type)
    degrees = atlas.degrees(node_type)
    return s.MapInfo(
        type=node_type,
        nodes=atlas.network.num_nodes(node_type),
        layouts=[
            s.LayoutInfo(layout="pca", state="ready", reason="", stage="", progress=None),
            _umap_info(umap),
        ],
        smallest_degree=int(degrees.min()) if len(degrees) else 0,
        largest_degree=int(degrees.max(initial=0)),
        labels=None if labels is None else [s.LabelClass(**c) for c in labels.classes],
        more_labels=0 if labels is None else labels.more,
    )


def _bytes(*arrays: Any) -> Response:
    content = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    return Response(content, media_type="application/octet-stream")


@router.get("/map/points", summary="Coordinates", response_class=Response, responses=_BYTES)
def map_points(
    request: Request, node_type: TypeParameter, layout: Literal["pca", "umap"] = "pca"
) -> Response:
    """Return x of all nodes, then y of all nodes, as little-endian float32."""
    atlas = atlas_of(request)
    points = atlas.points(node_type) if layout == "pca" else atlas.umap(node_type).points
    if points is None:
        raise UnknownNameError("layout that is ready", layout, ["pca"])
    return _bytes(points.T.astype("<f4"))


@router.get("/map/names", summary="Names", response_class=Response, responses=_BYTES)
def map_names(request: Request, node_type: TypeParameter) -> Response:
    """Return n + 1 offsets as little-endian uint32, then the names they delimit as UTF-8."""
    texts = atlas_of(request).names(node_type).texts
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, "<i8", len(texts) + 1, texts.offset * 8)
    raw = memoryview(data)[starts[0] : starts[-1]] if data is not None else b""
    return _bytes((starts - starts[0]).astype("<u4"), np.frombuffer(raw, np.uint8))


@router.get("/map/colours", summary="Colours", response_class=Response, responses=_BYTES)
def map_colours(
    request: Request, node_type: TypeParameter, by: Literal["degree", "label"] = "degree"
) -> Response:
    """Return degrees as little-endian uint32, or labels as uint8.

    A label is its index in the list of /api/map; 254 means another label, 255 none.
    """
    atlas = atlas_of(request)
    if by == "degree":
        return _bytes(atlas.degrees(node_type).clip(max=2**32 - 1).astype("<u4"))
    labels = atlas.labels(node_type)
    if labels is None:
        raise UnknownNameError("colour", by, ["degree"])
    return _bytes(labels.codes)


@router.post("/map/umap", summary="Compute the UMAP of a node type")
def start_umap(request: Request, node_type: TypeParameter) -> s.LayoutInfo:
    """Start the computation in the background; /api/map shows when it is ready."""
    layout = atlas_of(request).umap(node_type)
    layout.start()
    return _umap_info(layout)


def _umap_info(umap: UmapLayout) -> s.LayoutInfo:
    return s.LayoutInfo(
        layout="umap",
        state=umap.state,
        reason=umap.reason,
        stage=umap.stage,
        progress=umap.progress,
    )
