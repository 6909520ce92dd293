"""A network that has grown still has the network it was."""

from __future__ import annotations

import pytest
from hypothesis import given

from dhne import HyperNetwork
from dhne.errors import InputError
from dhne.network.growth import first_part, sizes_of
from tests.random_networks import networks


@given(networks(labels=None, max_edges=4), networks(labels=None, max_edges=4))
def test_the_first_part_is_the_network_before(before: HyperNetwork, new: HyperNetwork) -> None:
    try:
        grown = before.merge(new, fold=False)
    except InputError:  # a set in one, ordered in the other
        return
    found = first_part(grown, sizes_of(before))
    assert found == before
    assert [found.names(t) for t in before.node_types] == [
        before.names(t) for t in before.node_types
    ]


SMALL = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Heat")], ("user", "movie"))


@pytest.mark.parametrize(
    "sizes",
    [
        None,
        {"nodes": {"user": 1}},
        {"nodes": {"user": 3, "movie": 1}, "edges": [1]},
        {"nodes": {"user": 2, "movie": 1}, "edges": [3]},
        {"nodes": {"user": 2, "movie": 1}, "edges": [1, 1]},
        {"nodes": {"user": -1, "movie": 1}, "edges": [0]},
        {"nodes": {"user": 2, "city": 1}, "edges": [1]},
        {"nodes": {"user": True, "movie": 1}, "edges": [1]},
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes: object) -> None:
    with pytest.raises(InputError, match="are damaged"):
        first_part(SMALL, sizes)
