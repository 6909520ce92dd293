"""Neighbours and hyperedges of a node are counted as the network has them."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from dhne import HyperNetwork
from dhne.explorer.incidence import Incidence
from tests.random_networks import numbered_networks


@given(numbered_networks())
def test_incidence_is_that_of_the_network(net: HyperNetwork) -> None:
    incidence = Incidence(net)
    for t in net.node_types:
        for v in range(net.num_nodes(t)):
            met: dict[str, list[int]] = {}
            for number, edges in enumerate(net.edge_sets):
                at = [p for p, s in enumerate(edges.types) if s == t]
                rows = np.flatnonzero((edges.nodes[:, at] == v).any(axis=1))
                assert incidence.rows(number, t, v).tolist() == rows.tolist()
                for row in rows:
                    others = {
                        (s, int(u)) for s, u in zip(edges.types, edges.nodes[row], strict=True)
                    }
                    for s, u in others - {(t, v)}:
                        met.setdefault(s, []).append(u)
            for s in net.node_types:
                nodes, counts = incidence.neighbours(t, v, s)
                expected = {u: met.get(s, []).count(u) for u in met.get(s, [])}
                assert dict(zip(nodes.tolist(), counts.tolist(), strict=True)) == expected
                assert (np.diff(counts) <= 0).all()
