"""Random small networks for property tests: several edge types, repeats, sets, weights, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

Strategy = st.SearchStrategy[Any]

NODE_TYPES = st.permutations(("user", "movie", "tag.s"))  # a dot is allowed in a name
# few letters, so that two networks share names
NAMES = st.lists(st.sampled_from("abcdefgé"), unique=True, min_size=1, max_size=5)
NUMBERS = st.integers(2, 5).map(range).map(list)
WEIGHTS = st.sampled_from([0.5, 1.0, 3.0, 97.25])
LABELS = st.sampled_from("xyz")

# A NUL byte in a name is refused by text files; tests of those say so.
ODD_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ODD_TYPES = st.lists(
    st.sampled_from(["user", "movie", "weight", "a b", "ü,", ""]),
    min_size=1,
    max_size=3,
    unique=True,
)
ODD_NAMES = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5, unique=True) | st.lists(
    ODD_TEXT | st.integers(-3, 12).map(str) | st.sampled_from(["007", "NaN", "", "1.5", "null"]),
    max_size=5,
    unique=True,
)


@st.composite
def networks(
    draw: st.DrawFn,
    *,
    node_types: Strategy = NODE_TYPES,
    names: Strategy = NAMES,
    weights: Strategy = WEIGHTS,
    labels: Strategy | None = LABELS,
    min_edges: int = 0,
    max_edges: int = 12,
) -> HyperNetwork:
    """Draw a network; some of its nodes may have no hyperedge.

    Parameters
    ----------
    node_types, names : strategies of lists of str
    weights, labels : strategies of one weight and one label
        Either may be left out of an edge set or a node type.
    min_edges, max_edges : int
        Of each edge set; if `min_edges` is positive, there is at least one edge set.
    """
    nodes = {t: draw(names) for t in draw(node_types)}
    marks = {}
    if labels is not None:
        some = st.lists(labels, unique=True, max_size=2)
        marks = {t: draw(_each(some, v)) for t, v in nodes.items() if draw(st.booleans())}
    edge_sets = []
    usable = [t for t, v in nodes.items() if v]
    if usable:
        edge_types = st.lists(st.sampled_from(usable), min_size=2, max_size=5).map(tuple)
        least = min(min_edges, 1)
        for types in draw(st.lists(edge_types, min_size=least, max_size=3, unique=True)):
            rows = st.tuples(*(st.integers(0, len(nodes[t]) - 1) for t in types))
            edges = draw(st.lists(rows, min_size=min_edges, max_size=max_edges))
            weight = draw(st.none() | _each(weights, edges))
            ordered = draw(st.booleans())
            edge_sets.append(EdgeSet.build(types, np.array(edges), weight, ordered=ordered))
    vocabularies = {t: Vocabulary(_column(v), node_type=t) for t, v in nodes.items()}
    return HyperNetwork(vocabularies, edge_sets, marks)


def numbered_networks(max_edges: int = 6) -> Strategy:
    """Networks to train on: nodes named by their ids, every edge set with a hyperedge."""
    return networks(names=NUMBERS, labels=None, min_edges=1, max_edges=max_edges)


def odd_networks() -> Strategy:
    """Networks whose names, labels and weights are hard to write and read back."""
    return networks(
        node_types=ODD_TYPES,
        names=ODD_NAMES,
        weights=st.floats(1e-9, 1e9),
        labels=ODD_TEXT,
        max_edges=5,
    )


def _each(values: Strategy, of: list[Any]) -> Strategy:
    return st.lists(values, min_size=len(of), max_size=len(of))


def _column(names: list[Any]) -> pa.Array:
    return pa.array(names, pa.int64() if names and isinstance(names[0], int) else pa.string())


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
