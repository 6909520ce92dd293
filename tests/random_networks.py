"""Random small networks for property tests: several edge types, repeats, weights, labels."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

NODE_TYPES = ("user", "movie", "tag")
EDGE_TYPES = (
    ("user", "movie"),
    ("user", "user"),
    ("user", "movie", "tag"),
    ("movie", "tag", "movie"),
    ("tag", "tag", "tag"),
    ("user", "movie", "tag", "user", "movie"),
)


@st.composite
def edge_sets(draw: st.DrawFn, sizes: dict[str, int], max_edges: int = 12) -> list[EdgeSet]:
    chosen = draw(st.lists(st.sampled_from(EDGE_TYPES), unique=True, max_size=4))
    result = []
    for types in chosen:
        rows = st.tuples(*(st.integers(0, sizes[t] - 1) for t in types))
        nodes = draw(st.lists(rows, max_size=max_edges))
        weights = draw(
            st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(nodes), max_size=len(nodes))
        )
        ordered = draw(st.booleans())
        result.append(EdgeSet.build(types, np.array(nodes), weights, ordered=ordered))
    return result


@st.composite
def networks(draw: st.DrawFn, *, max_edges: int = 12, labels: bool = True) -> HyperNetwork:
    """Draw a network with string names, all node types in a random order."""
    nodes, marks = {}, {}
    for t in draw(st.permutations(NODE_TYPES)):
        # few letters, so that two networks share names
        names = draw(st.lists(st.sampled_from("abcdefgé"), unique=True, min_size=1, max_size=5))
        nodes[t] = Vocabulary(names, node_type=t)
        if labels and draw(st.booleans()):
            some = st.lists(st.sampled_from("xyz"), unique=True, max_size=2)
            marks[t] = draw(st.lists(some, min_size=len(names), max_size=len(names)))
    sizes = {t: len(v) for t, v in nodes.items()}
    return HyperNetwork(nodes, draw(edge_sets(sizes, max_edges)), marks)


def named_edges(
    network: HyperNetwork,
) -> dict[tuple[str, ...], list[tuple[tuple[str, ...], float]]]:
    """Return all hyperedges by name, unordered positions sorted by name: a plain-Python picture."""
    picture = {}
    for e in network.edge_sets:
        names = {t: network.names(t).to_pylist() for t in e.types}
        rows = []
        for nodes, weight in zip(e.nodes.tolist(), e.weights.tolist(), strict=True):
            row = [names[t][v] for t, v in zip(e.types, nodes, strict=True)]
            if e.types.has_sets:
                for t in set(e.types):
                    places = [p for p, s in enumerate(e.types) if s == t]
                    for p, name in zip(places, sorted(row[p] for p in places), strict=True):
                        row[p] = name
            rows.append((tuple(row), weight))
        picture[e.types] = sorted(rows)
    return picture
