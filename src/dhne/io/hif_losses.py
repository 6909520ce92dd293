"""What a HIF file from elsewhere says that a hyper-network cannot keep.

Types, names, labels, positions, directions and the weights of edges are kept. The rest is counted,
so that nothing is dropped without a word: other attributes, the weights of nodes and incidences,
names of edges, metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KEPT = {
    "nodes": {"type", "name", "labels"},
    "edges": {"type", "ordered", "roles", "many"},
    "incidences": {"position"},
}
_NAMED = 5  # attributes that are named


def losses(found: dict[str, Any]) -> list[str]:
    """Return what is left out of a document that has passed :func:`check_hif`, in a few words each.

    Examples
    --------
    >>> nodes = [{"node": "a", "weight": 3, "attrs": {"colour": "red"}}]
    >>> losses({"incidences": [], "nodes": nodes, "edges": [{"edge": "e1"}]})
    ['attributes of nodes (colour)', 'weights of nodes', 'names of edges']
    """
    if "dhne-format" in found.get("metadata", {}):
        return []
    return list(_losses(found))


def _losses(found: dict[str, Any]) -> Iterator[str]:
    for kind, kept in _KEPT.items():
        records = found.get(kind, [])
        keys = dict.fromkeys(key for r in records for key in r.get("attrs", {}))
        others = [key for key in keys if key not in kept]
        if others:
            names = ", ".join(others[:_NAMED]) + (", …" if len(others) > _NAMED else "")
            yield f"attributes of {kind} ({names})"
        if kind != "edges" and any(r.get("weight", 1) != 1 for r in records):
            yield f"weights of {kind}"
    edges = (r["edge"] for kind in ("edges", "incidences") for r in found.get(kind, []))
    if any(isinstance(edge, str) for edge in edges):
        yield "names of edges"
    if found.get("metadata"):
        yield "metadata"
