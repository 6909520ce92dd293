"""Where random draws run out: the last free tuple is found, or an error says there is none."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dhne.errors import SaturatedNetworkError
from dhne.sampling import SCHEMES, KnownEdges, NegativeSampler
from dhne.sampling.schemes import BY_DEGREE
from tests.sampling.small_networks import KINDS, Convert, grid, network, one_type


@pytest.mark.parametrize("convert", KINDS)
@pytest.mark.parametrize("scheme", ["paper", "all", "degree"])
@pytest.mark.parametrize("sizes", [(3, 4), (5, 3, 4), (2, 3, 2, 3), (1, 40, 30), (2,) * 6])
def test_the_only_tuple_that_is_no_edge_is_found(
    sizes: tuple[int, ...], scheme: str, convert: Convert
) -> None:
    every = grid(*sizes)
    missing = len(every) // 2
    net = network(np.delete(every, missing, axis=0), sizes)
    found = NegativeSampler(net, scheme=scheme, per_positive=2).sample(convert(net.edges()), 0)
    assert bool(found.valid.all())
    assert {tuple(row) for row in found.nodes.tolist()} == {tuple(every[missing].tolist())}


@pytest.mark.parametrize("convert", KINDS)
def test_the_only_set_that_is_no_edge_is_found(convert: Convert) -> None:
    every = np.array(list(combinations(range(6), 3)))
    net = one_type(np.delete(every, 7, axis=0), 6, 3, ordered=False)
    for scheme in ("paper", "all", "degree"):
        found = NegativeSampler(net, scheme=scheme).sample(convert(net.edges()), 0)
        assert {tuple(sorted(row)) for row in found.nodes.tolist()} == {tuple(every[7].tolist())}


@pytest.mark.parametrize("convert", KINDS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sizes", [(1, 1), (3, 4), (2, 1, 3), (2, 2, 2, 2)])
def test_a_saturated_network_says_so(sizes: tuple[int, ...], scheme: str, convert: Convert) -> None:
    net = network(grid(*sizes), sizes)
    with pytest.raises(SaturatedNetworkError, match="every possible tuple of type"):
        NegativeSampler(net, scheme=scheme).sample(convert(net.edges()), 0)
    fewer = NegativeSampler(net, scheme=scheme, allow_fewer=True).sample(convert(net.edges()), 0)
    assert not bool(fewer.valid.any())
    assert len(fewer) == 5 * net.num_edges()
    assert not bool(fewer.replaced.any())


def test_saturated_sets_say_so() -> None:
    pair = one_type([[0, 1]], 2, 2, ordered=False)
    with pytest.raises(SaturatedNetworkError):
        NegativeSampler(pair).sample(pair.edge_set(), 0)
    # with a known edge that repeats its node, (0, 0) and (1, 1) are tuples like any other
    loop = one_type([[0, 1], [0, 0]], 2, 2, ordered=False)
    found = NegativeSampler(loop).sample(loop.edge_set(), 0)
    assert {tuple(row) for row in found.nodes.tolist()} == {(1, 1)}


def test_a_hyperedge_without_corruptions_among_others_that_have_some() -> None:
    """All around (0, 0) is known: its one-position corruptions are all hyperedges."""
    cross = [[0, v] for v in range(5)] + [[u, 0] for u in range(1, 5)]
    net = network(cross, (5, 5))
    sampler = NegativeSampler(net, scheme="one")
    with pytest.raises(SaturatedNetworkError, match=r"1 hyperedge\(s\).*such as \(0, 0\)"):
        sampler.sample(net.edge_set(), 0)
    fewer = NegativeSampler(net, scheme="one", allow_fewer=True).sample(net.edge_set(), 0)
    assert fewer.valid.tolist() == [False] * 5 + [True] * 40
    assert NegativeSampler(net).sample(net.edge_set(), 0).valid.all()  # two positions do


def test_listing_keeps_the_odds_of_the_scheme() -> None:
    """Where draws run out the choice is from a list: all free corruptions, by their odds."""
    sizes = (2000, 3)
    every = grid(*sizes)
    free = np.array([[7, 0], [8, 0], [9, 0]])
    taken = [(np.array(every) != row).any(axis=1) for row in free]
    net = network(every[np.logical_and.reduce(taken)], sizes)
    positives = np.tile([[0, 0]], (3000, 1))
    found = NegativeSampler(net, per_positive=1).sample(positives, 0)
    tuples, counts = np.unique(found.nodes, axis=0, return_counts=True)
    assert tuples.tolist() == free.tolist()
    assert np.allclose(counts / 3000, 1 / 3, atol=0.05)


@given(st.integers(0, 2**16 - 1), st.sampled_from(SCHEMES), st.booleans())
def test_any_small_network_ends(bits: int, scheme: str, ordered: bool) -> None:
    """Every subset of the 16 pairs of four nodes: a negative wherever the scheme can reach one."""
    every = grid(4, 4)
    chosen = every[[bool(bits >> i & 1) for i in range(16)]]
    assume(len(chosen))
    net = one_type(chosen, 4, 2, ordered=ordered)
    known = KnownEdges(net)
    found = NegativeSampler(net, known, scheme=scheme, allow_fewer=True).sample(net.edge_set(), 0)
    edges = {tuple(row) for row in net.edges().tolist()}
    loops = any(u == v for u, v in edges)
    degrees = net.degrees("x")
    for row, valid in zip(np.repeat(net.edges(), 5, axis=0).tolist(), found.valid, strict=True):
        reachable = [
            (u, v)
            for u, v in every.tolist()
            if (tuple(sorted((u, v))) if not ordered else (u, v)) not in edges
            and (ordered or loops or u != v)
            and (scheme != "one" or (u == row[0]) != (v == row[1]))
            and (scheme not in BY_DEGREE or all(w in row or degrees[w] for w in (u, v)))
        ]
        assert bool(valid) == bool(reachable)
