"""What is in a hyper-network, as plain data, and as a small table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .edge_keys import num_possible, repeats_node
from .time import span

if TYPE_CHECKING:
    from .edges import EdgeSet
    from .hypernetwork import HyperNetwork


def describe(network: HyperNetwork) -> dict[str, Any]:
    """Return counts, degrees, repeats and weights of a network as plain data.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 0], [0, 1]]})
    >>> describe(net)["edge_types"][0]["repeats"]
    1
    """
    return {
        "nodes": network.num_nodes(),
        "edges": network.num_edges(),
        "node_types": [_describe_nodes(network, t) for t in network.node_types],
        "edge_types": [_describe_edges(network, e) for e in network.edge_sets],
        "families": describe_families(network),
    }


def describe_families(network: HyperNetwork) -> list[dict[str, Any]]:
    """Return what is in each family: edge types that differ only in how many members sets have.

    `sizes` has how many hyperedges there are of each number of members.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a",) * n: [range(n)] for n in (2, 3)}, ordered=False)
    >>> [(f["label"], f["sizes"]) for f in describe_families(net)]
    [('{a, …}', {2: 1, 3: 1})]
    """
    members: dict[Any, list[EdgeSet]] = {}
    for edges in network.edge_sets:
        members.setdefault(edges.types.key, []).append(edges)
    return [_describe_family(network, forms) for forms in members.values()]


def _describe_family(network: HyperNetwork, forms: list[EdgeSet]) -> dict[str, Any]:
    parts = [_describe_edges(network, e) for e in forms]
    sizes: dict[int, int] = {}
    for e in sorted(forms, key=lambda e: e.length):
        sizes[e.length] = sizes.get(e.length, 0) + len(e)
    total = {name: sum(p[name] for p in parts) for name in ("edges", "distinct", "repeats")}
    density = parts[0]["density"] if len(parts) == 1 else None
    weights = np.concatenate([e.weights for e in forms])
    times = [e.times for e in forms if e.times is not None and len(e)]
    alike = len({t.dtype.kind == "M" for t in times}) == 1
    return {
        "label": forms[0].types.family_label,
        **total,
        "density": density,
        "weight": _summary(weights),
        "time": span(np.concatenate(times)) if alike else None,
        "sizes": sizes,
    }


def _describe_nodes(network: HyperNetwork, node_type: str) -> dict[str, Any]:
    degrees = network.degrees(node_type)
    vocabulary = network.vocabulary(node_type)
    labels = network.labels(node_type)
    record: dict[str, Any] = {
        "type": node_type,
        "nodes": len(vocabulary),
        "names": "none" if vocabulary.is_range else str(vocabulary.names.type),
        "degree": _summary(degrees),
        "isolated": int((degrees == 0).sum()),
        "examples": [str(n) for n in vocabulary.take(_top(degrees, 3)).to_pylist()],
    }
    if labels is not None:
        lengths = labels.value_lengths().to_numpy(zero_copy_only=False)
        record["labelled"] = int((lengths > 0).sum())
        record["labels"] = len(labels.flatten().unique())
    return record


def _describe_edges(network: HyperNetwork, edges: EdgeSet) -> dict[str, Any]:
    sizes = network.position_sizes(edges.types)
    repeats_nodes = bool(repeats_node(edges.nodes, edges.types).any())
    possible = num_possible(edges.types, sizes, repeats_nodes=repeats_nodes)
    distinct = edges.num_distinct()
    return {
        "type": list(edges.types),
        "ordered": not edges.types.has_sets,
        "edges": len(edges),
        "distinct": distinct,
        "repeats": len(edges) - distinct,
        "density": distinct / possible if possible else 0.0,
        "weight": _summary(edges.weights),
        "time": span(edges.times),
    }


def _summary(values: npt.NDArray[Any]) -> dict[str, float]:
    if not len(values):
        return {"min": 0.0, "median": 0.0, "mean": 0.0, "max": 0.0}
    return {
        "min": float(values.min()),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "max": float(values.max()),
    }


def _top(values: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Rows of the k largest values; the lower row first among equals."""
    k = min(k, len(values))
    largest = np.argpartition(-values, k - 1)[:k] if k else np.empty(0, np.int64)
    return largest[np.lexsort((largest, -values[largest]))]


def as_html(network: HyperNetwork) -> str:
    """Return a small table for notebooks; names from data are escaped."""
    rows = []
    for n in describe(network)["node_types"]:
        examples = escape(", ".join(n["examples"]))
        rows.append(
            f"<tr><td>{escape(n['type'])}</td><td>{n['nodes']:,}</td>"
            f"<td>{n['degree']['mean']:.1f}</td><td>{n['degree']['max']:,.0f}</td>"
            f"<td>{examples}</td></tr>"
        )
    edges = "; ".join(f"{escape(e.types.label)}: {len(e):,}" for e in network.edge_sets)
    return (
        f"<p><b>HyperNetwork</b> with {network.num_edges():,} hyperedges ({edges})</p>"
        "<table><thead><tr><th>node type</th><th>nodes</th><th>mean degree</th>"
        "<th>largest</th><th>e.g.</th></tr></thead><tbody>" + "".join(rows) + "</tbody></table>"
    )
