"""A small fitted model for tests of what goes to other libraries."""

from __future__ import annotations

from functools import cache

from dhne import DHNE, HyperNetwork
from dhne.datasets import planted_clusters
from dhne.network.edge_columns import EdgeColumns
from dhne.network.edges import EdgeType


def films() -> HyperNetwork:
    """Two edge types, weights, labels, a repeated node type, a lonely node and a shared name."""
    network = HyperNetwork.from_columns(
        [
            EdgeColumns(
                EdgeType(("user", "movie", "tag")),
                [["ann", "bob", "bob"], ["Heat", "Heat", "Alien"], ["noir", "Heat", "space"]],
                [1.0, 2.0, 0.5],
            ),
            EdgeColumns(EdgeType(("user", "user")), [["ann", "bob"], ["bob", "bob"]]),
        ],
        nodes={"user": ["eve"]},
    )
    return network.with_labels({"movie": ["crime", ["horror", "space opera"]]})


@cache
def clusters() -> HyperNetwork:
    return planted_clusters(types=3, clusters=2, nodes_per_cluster=6)


@cache
def fitted() -> DHNE:
    return DHNE(dim=8, epochs=15, batch_size=256, learning_rate=0.02, kernels="reference").fit(
        clusters()
    )
