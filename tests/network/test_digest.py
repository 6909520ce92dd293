"""The digest of a network's hyperedges."""

from __future__ import annotations

from dhne.network.digest import edges_digest
from dhne.network.hypernetwork import HyperNetwork


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
