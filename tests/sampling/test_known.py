"""Known hyperedges are found exactly, whatever the order of unordered positions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dhne.errors import DHNEError, InputError, ParameterError, UnknownNameError
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges
from dhne.workers import Group
from tests.random_networks import networks


def all_tuples(net: HyperNetwork, types: tuple[str, ...]) -> np.ndarray:
    return np.array(list(product(*(range(n) for n in net.position_sizes(types)))))


@given(networks(labels=None))
def test_contains_exactly_the_hyperedges(net: HyperNetwork) -> None:
    known = KnownEdges(net)
    for e in net.edge_sets:
        same = [p for p, t in enumerate(e.types) if e.types.count(t) > 1]
        edges = {tuple(row) for row in e.nodes.tolist()}

        def canonical(row: tuple[int, ...], e: object = e, same: object = same) -> tuple[int, ...]:
            row_list = list(row)
            if e.types.has_sets:  # type: ignore[attr-defined]
                for t in set(e.types):  # type: ignore[attr-defined]
                    places = [p for p in same if e.types[p] == t]  # type: ignore[attr-defined]
                    for p, v in zip(places, sorted(row[p] for p in places), strict=True):
                        row_list[p] = v
            return tuple(row_list)

        tuples = all_tuples(net, e.types)
        expected = [canonical(tuple(row)) in edges for row in tuples.tolist()]
        assert known.contains(tuples, e.types).tolist() == expected
        assert known.contains(torch.tensor(tuples), e.types).tolist() == expected
        assert len(known.index(e.types)) == len(edges)


@given(networks(labels=None), st.floats(0.2, 0.8))
def test_several_networks_are_known_together(net: HyperNetwork, fraction: float) -> None:
    parts = KnownEdges(*net.split(fraction))
    whole = KnownEdges(net)
    assert len(parts) == len(whole)
    for types in net.edge_types:
        tuples = all_tuples(net, types)
        assert parts.contains(tuples, types).tolist() == whole.contains(tuples, types).tolist()


@given(networks(labels=None))
def test_keys_sorted_on_a_device_are_the_same(net: HyperNetwork) -> None:
    """Here the device is the CPU, which runs the same code."""
    host, there = KnownEdges(net), KnownEdges(net, device=torch.device("cpu"))
    assert len(there) == len(host)
    for types in net.edge_types:
        mine, other = there.index(types), host.index(types)
        assert mine.repeats_nodes == other.repeats_nodes
        tuples = all_tuples(net, types)
        for given_as in (tuples, torch.tensor(tuples)):
            found, expected = there.contains(given_as, types), host.contains(given_as, types)
            assert found.tolist() == expected.tolist()
        np.testing.assert_array_equal(mine.keys, other.keys)


class Silent(Group):
    """A worker whose sums are its own contribution."""

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor


@given(networks(labels=None), st.integers(1, 5), st.sampled_from([None, torch.device("cpu")]))
def test_every_key_is_known_to_one_worker(
    net: HyperNetwork, size: int, device: torch.device | None
) -> None:
    whole = KnownEdges(net)
    parts = [KnownEdges(net, group=Silent(rank, size), device=device) for rank in range(size)]
    for types in net.edge_types:
        keys = np.concatenate([p.index(types).keys for p in parts])
        np.testing.assert_array_equal(np.sort(keys), whole.index(types).keys)
        tuples = all_tuples(net, types)
        found = [p.contains(tuples, types) for p in parts]
        np.testing.assert_array_equal(np.sum(found, axis=0), whole.contains(tuples, types))


@given(st.lists(st.tuples(*[st.integers(0, 2**40 - 1)] * 3), min_size=1, max_size=50))
def test_huge_vocabularies(edges: list[tuple[int, int, int]]) -> None:
    """Keys that do not fit into 64 bits are hashes; everything known is still found."""
    from dhne.network.edges import EdgeSet
    from dhne.sampling.known import EdgeIndex

    index = EdgeIndex([EdgeSet.build(("a", "b", "c"), edges)], np.full(3, 2**40))
    nodes = np.array(edges)
    assert index.has(index.keys_of(nodes)).all()
    shifted = (nodes + 1) % 2**40
    expected = [tuple(row) in set(edges) for row in shifted.tolist()]
    assert index.has(index.keys_of(shifted)).tolist() == expected


def test_many_edges() -> None:
    rng = np.random.default_rng(0)
    nodes = rng.integers(0, 1000, (50_000, 3))
    known = KnownEdges(HyperNetwork.from_arrays({("a", "b", "c"): nodes}))
    assert known.contains(nodes).all()
    edges = {tuple(row) for row in nodes.tolist()}
    others = np.concatenate([rng.integers(0, 1000, (20_000, 3)), nodes[:5000] ^ 1])
    expected = [tuple(row) in edges for row in others.tolist()]
    assert known.contains(others).tolist() == expected


def test_ids_that_no_node_has_are_in_no_edge() -> None:
    known = KnownEdges(HyperNetwork.from_arrays({("a", "b"): [[0, 1], [1, 0]]}))
    asked = [[0, 1], [-1, 3], [0, 3], [0, -1], [2, -1]]  # (0, 3) would have the key of (1, 1) …
    assert known.contains(asked).tolist() == [True, False, False, False, False]
    assert known.contains(torch.tensor(asked)).tolist() == [True, False, False, False, False]


def test_nothing_known_and_nothing_asked() -> None:
    known = KnownEdges(HyperNetwork.from_arrays({("a", "b"): []}, {"a": 2, "b": 2}))
    assert known.contains([[0, 0]]).tolist() == [False]
    assert known.contains([]).tolist() == []
    assert known.contains(torch.zeros((1, 2), dtype=torch.int64)).tolist() == [False]
    assert len(known) == 0


@pytest.mark.parametrize(
    ("types", "sizes", "ordered", "edges", "possible"),
    [
        (("a", "b"), (3, 4), True, [[0, 0]], 12),
        (("a", "a"), (3, 3), True, [[0, 1]], 9),
        (("a", "a"), (3, 3), False, [[0, 1]], 3),
        (("a", "a"), (3, 3), False, [[0, 1], [2, 2]], 6),
        (("a", "b", "a", "a"), (4, 2, 4, 4), False, [[0, 1, 2, 3]], 8),
    ],
)
def test_how_many_tuples_are_possible(
    types: tuple[str, ...],
    sizes: tuple[int, ...],
    ordered: bool,
    edges: list[list[int]],
    possible: int,
) -> None:
    counts = dict(zip(types, sizes, strict=True))
    net = HyperNetwork.from_arrays({types: edges}, counts, ordered=ordered)
    index = KnownEdges(net).index()
    assert index.num_possible() == possible
    free = index.free_tuples(10**6)
    assert free is not None
    assert len(free) == possible - len(edges)
    assert not index.has(index.keys_of(free)).any()


def test_free_tuples_are_not_listed_where_there_are_too_many() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]}, {"a": 1000, "b": 1000})
    assert KnownEdges(net).index().free_tuples(1000) is None


def test_repr_and_edge_types() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 0]], ("a", "a"): [[0, 0]]})
    known = KnownEdges(net)
    assert known.edge_types == (("a", "b"), ("a", "a"))
    assert repr(known) == "KnownEdges(2 distinct hyperedges of 2 type(s))"


def test_mistakes_are_told() -> None:
    one = HyperNetwork.from_tuples([("a", "b")], ("x", "x"))
    with pytest.raises(ParameterError, match="at least one network"):
        KnownEdges()
    with pytest.raises(ParameterError, match="number their nodes of type 'x' differently"):
        KnownEdges(one, HyperNetwork.from_tuples([("b", "a")], ("x", "x")))
    with pytest.raises(InputError, match="ordered in one network"):
        KnownEdges(one, HyperNetwork.from_tuples([("a", "b")], ("x", "x"), ordered=False))
    with pytest.raises(UnknownNameError, match="unknown edge type"):
        KnownEdges(one).contains([[0, 0]], ("y", "y"))
    two = HyperNetwork.from_arrays({("a", "b"): [[0, 0]], ("a", "a"): [[0, 0]]})
    with pytest.raises(DHNEError, match="2 edge types, name one of"):
        KnownEdges(two).contains([[0, 0]])
