"""The digest of a network's hyperedges."""

from __future__ import annotations

import hashlib
import tracemalloc

import numpy as np

from dhne.network.digest import edges_digest
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary


def test_order_weights_ids_and_kind_of_positions_count() -> None:
    rows = [("a", "b"), ("b", "c")]
    base = HyperNetwork.from_tuples(rows, ("n", "n"))
    others = [
        HyperNetwork.from_tuples(rows[::-1], ("n", "n")),
        HyperNetwork.from_tuples(rows, ("n", "n"), ordered=False),
        HyperNetwork.from_tuples(rows, ("n", "n"), weights=[1, 2]),
        HyperNetwork.from_tuples(rows[:1], ("n", "n")),
    ]
    digests = {edges_digest(net) for net in [base, *others]}
    assert len(digests) == 5
    assert edges_digest(HyperNetwork.from_tuples(rows, ("n", "n"))) == edges_digest(base)


def test_views_are_hashed_as_their_values_in_little_memory() -> None:
    """As when all weights are one number, and columns are those of a larger array."""
    size, types = 10**6, EdgeType(("a", "b"))
    vocabularies = {t: Vocabulary.of_size(size, node_type=t) for t in types}
    nodes = np.arange(4 * size).reshape(size, 4)[:, :2] // 4
    weights = np.broadcast_to(1.0, size)
    network = HyperNetwork(vocabularies, [EdgeSet(types, nodes, weights)])
    expected = hashlib.sha256(repr((types.to_record(), nodes.shape)).encode())
    expected.update(nodes.tobytes() + weights.tobytes())
    tracemalloc.start()
    found = edges_digest(network)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == expected.hexdigest()
    assert peak < 0.7 * weights.nbytes
