"""Random small hyper-networks of every kind, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.network.edges import EdgeSet
from dhne.network.vocabulary import Vocabulary

TYPES = ("user", "item", "tag.s")  # a dot is a name too


@st.composite
def networks(draw: st.DrawFn, *, max_edges: int = 6, isolated: bool = True) -> HyperNetwork:
    """Lengths 2 to 4, several edge types, repeated node types, ordered or sets, weighted or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    types = TYPES[: draw(st.integers(1, 3))]
    sizes = {t: draw(st.integers(2, 5)) for t in types}
    edge_types = draw(
        st.lists(
            st.lists(st.sampled_from(types), min_size=2, max_size=4).map(tuple),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    edge_sets = []
    for r in edge_types:
        m = draw(st.integers(1, max_edges))
        nodes = np.stack([rng.integers(sizes[t], size=m) for t in r], axis=1)
        weights = draw(st.sampled_from([np.ones(m), 1 + rng.integers(400, size=m) / 4]))
        edge_sets.append(EdgeSet.build(r, nodes, weights, ordered=draw(st.booleans())))
    if not isolated:
        types = tuple(t for t in types if any(t in r for r in edge_types))
    names = {t: Vocabulary.of_size(sizes[t], node_type=t) for t in types}
    return HyperNetwork(names, edge_sets)
