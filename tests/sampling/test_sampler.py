"""Negatives are never hyperedges, are found wherever one exists, and the seed decides which."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from dhne.errors import ParameterError, SaturatedNetworkError
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import SCHEMES, KnownEdges, NegativeSampler, evaluation_negatives
from dhne.sampling.schemes import BY_DEGREE
from tests.random_networks import networks

Convert = Callable[[np.ndarray], Any]
KINDS = [
    pytest.param(np.asarray, id="array"),
    pytest.param(torch.tensor, id="tensor"),
]
if torch.cuda.is_available():
    KINDS.append(
        pytest.param(lambda n: torch.tensor(n, device="cuda"), id="cuda", marks=pytest.mark.gpu)
    )


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(product(*(range(n) for n in sizes))))


def network(nodes: np.ndarray | list[Any], sizes: tuple[int, ...], **options: Any) -> HyperNetwork:
    """Return a network of one edge type, all positions of different node types."""
    types = tuple("abcdef"[: len(sizes)])
    return HyperNetwork.from_arrays({types: nodes}, dict(zip(types, sizes, strict=True)), **options)


def one_type(nodes: Any, n: int, length: int, *, ordered: bool) -> HyperNetwork:
    return HyperNetwork.from_arrays({("x",) * length: nodes}, {"x": n}, ordered=ordered)


# -- what every negative is ------------------------------------------------------------------------


@given(networks(labels=None), st.sampled_from(SCHEMES), st.integers(1, 4), st.integers(0, 99))
def test_negatives_keep_their_contract(net: HyperNetwork, scheme: str, k: int, seed: int) -> None:
    known = KnownEdges(net)
    sampler = NegativeSampler(net, known, scheme=scheme, per_positive=k, allow_fewer=True)
    for e in net.edge_sets:
        for edges in (e, torch.tensor(e.nodes)):
            found = sampler.sample(edges, seed, edge_type=e.types)
            nodes, valid = np.asarray(found.nodes), np.asarray(found.valid)
            assert nodes.shape == (len(e) * k, e.length)
            assert nodes.dtype == np.int64
            assert ((nodes >= 0) & (nodes < net.position_sizes(e.types))).all()
            assert not known.contains(nodes[valid], e.types).any()
            positives = np.repeat(e.nodes, k, axis=0)
            replaced = np.asarray(found.replaced)
            assert (replaced == (nodes != positives)).all()
            assert (replaced.any(axis=1) == valid).all()
            if scheme == "one":
                assert (replaced.sum(axis=1) <= 1).all()


@given(networks(labels=None), st.sampled_from(SCHEMES))
def test_sets_have_no_node_twice(net: HyperNetwork, scheme: str) -> None:
    """Unordered positions are sets, so negatives are too, unless known edges repeat nodes."""
    sampler = NegativeSampler(net, scheme=scheme, allow_fewer=True)
    for e in net.edge_sets:
        pairs = [(p, q) for p, q in combinations(range(e.length), 2) if e.types[p] == e.types[q]]
        if (not e.types.has_sets) or any((e.nodes[:, p] == e.nodes[:, q]).any() for p, q in pairs):
            continue
        negatives = sampler.sample(e, 0)
        for p, q in pairs:
            found = negatives.nodes[negatives.valid]
            assert (found[:, p] != found[:, q]).all()


@pytest.mark.parametrize("convert", KINDS)
@pytest.mark.parametrize("length", range(2, 7))
def test_every_length(length: int, convert: Convert) -> None:
    rng = np.random.default_rng(length)
    net = network(rng.integers(0, 9, (200, length)), (9,) * length)
    known = KnownEdges(net)
    found = NegativeSampler(net, known).sample(convert(net.edges()), 1)
    assert bool(found.valid.all())
    assert len(found) == 1000
    assert not known.contains(found.nodes).any()


@pytest.mark.parametrize("convert", KINDS)
def test_positions_stay_those_of_the_positive(convert: Convert) -> None:
    edges = [[0, 5, 9], [2, 3, 7], [1, 4, 8]]
    net = one_type(edges, 40, 3, ordered=False)
    found = NegativeSampler(net, scheme="one", per_positive=50).sample(convert(net.edges()), 0)
    assert (torch.as_tensor(found.replaced).sum(1) == 1).all()


def test_what_one_position_is_replaced_by_is_uniform() -> None:
    edges = grid(3, 4)[:1]
    net = network(edges, (3, 4))
    found = NegativeSampler(net, scheme="one", per_positive=40_000).sample(net.edge_set(), 0)
    tuples, counts = np.unique(found.nodes, axis=0, return_counts=True)
    share = {tuple(t): c / 40_000 for t, c in zip(tuples.tolist(), counts, strict=True)}
    # a draw of the positive itself is drawn again as a whole: positions weigh 2/3 : 3/4
    expected = {(1, 0): 1 / 6, (2, 0): 1 / 6, (0, 1): 1 / 8, (0, 2): 1 / 8, (0, 3): 1 / 8}
    total = sum(expected.values())
    assert share.keys() == expected.keys()
    assert all(abs(share[t] - expected[t] / total) < 0.01 for t in share)


def test_negatives_of_the_paper_are_nine_parts_one_position() -> None:
    rng = np.random.default_rng(0)
    net = network(rng.integers(0, 500, (5000, 3)), (500, 500, 500))
    replaced = NegativeSampler(net).sample(net.edge_set(), 0).replaced
    assert abs((replaced.sum(axis=1) == 1).mean() - 0.9) < 0.01
    assert np.allclose(replaced[replaced.sum(axis=1) == 1].mean(axis=0), 1 / 3, atol=0.02)


def test_a_positive_that_is_not_known_is_no_negative_of_its_own() -> None:
    net = network([[0, 0]], (2, 2))
    found = NegativeSampler(net, per_positive=50).sample(np.array([[1, 1]]), 0)
    assert found.replaced.any(axis=1).all()
    almost = network([[0, 0], [0, 1], [1, 0]], (2, 2))
    with pytest.raises(SaturatedNetworkError):
        NegativeSampler(almost).sample(np.array([[1, 1]]), 0)


# -- nearly and wholly saturated -------------------------------------------------------------------


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


def test_a_type_of_one_node_never_changes() -> None:
    net = network([[0, 0, v] for v in range(50)], (1, 1, 100))
    found = NegativeSampler(net).sample(net.edge_set(), 0)
    assert found.replaced[:, 2].all()
    assert not found.replaced[:, :2].any()


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


# -- fixed by the seed -----------------------------------------------------------------------------


@pytest.mark.parametrize("convert", KINDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_seed_decides(scheme: str, convert: Convert) -> None:
    net = network(np.random.default_rng(0).integers(0, 30, (100, 3)), (30, 30, 30))
    draw = NegativeSampler(net, scheme=scheme).sample
    one, two, other = (draw(convert(net.edges()), seed).nodes.tolist() for seed in (4, 4, 5))
    assert one == two
    assert one != other


def test_a_generator_goes_on() -> None:
    net = network(np.random.default_rng(0).integers(0, 30, (10, 3)), (30, 30, 30))
    rng = np.random.default_rng(0)
    sampler = NegativeSampler(net)
    first, second = (sampler.sample(net.edge_set(), rng).nodes.tolist() for _ in range(2))
    assert first != second
    assert first == sampler.sample(net.edge_set(), 0).nodes.tolist()


@given(networks(labels=None), st.floats(0.2, 0.8), st.integers(0, 99))
def test_evaluation_negatives_are_in_neither_part(
    net: HyperNetwork, fraction: float, seed: int
) -> None:
    train, test = net.split(fraction, seed=seed)
    known = KnownEdges(train, test)
    for e in test.edge_sets:
        fixed = evaluation_negatives(e, known, seed=seed, allow_fewer=True)
        again = evaluation_negatives(e, KnownEdges(train, test), seed=seed, allow_fewer=True)
        assert fixed.nodes.tolist() == again.nodes.tolist()
        assert not KnownEdges(net).contains(fixed.nodes[fixed.valid], e.types).any()
        assert len(fixed) == 5 * len(e)


# -- without waiting for a device ------------------------------------------------------------------


@pytest.mark.parametrize("convert", KINDS[1:])
def test_without_waiting_what_is_valid_is_a_negative(convert: Convert) -> None:
    rng = np.random.default_rng(0)
    net = network(rng.integers(0, 12, (600, 3)), (12, 12, 12))
    known = KnownEdges(net)
    found = NegativeSampler(net, known).sample(convert(net.edges()), 0, wait=False)
    valid = np.asarray(found.valid.cpu())
    assert valid.mean() > 0.95
    assert (np.asarray(known.contains(found.nodes).cpu()) == ~valid).all()
    assert (np.asarray(found.replaced.any(1).cpu()) == valid).all()


# -- mistakes --------------------------------------------------------------------------------------


def test_mistakes_are_told() -> None:
    net = network([[0, 0]], (3, 3))
    sampler = NegativeSampler(net)
    with pytest.raises(ParameterError, match="per_positive must be at least 1"):
        NegativeSampler(net, per_positive=0)
    with pytest.raises(ParameterError, match="per_positive must be at least 1"):
        sampler.sample(net.edge_set(), 0, per_positive=-1)
    with pytest.raises(ParameterError, match=r"shape \[m, 2\], got \[1, 3\]"):
        sampler.sample([[0, 0, 0]], 0)
    with pytest.raises(ParameterError, match="ids that do not exist"):
        sampler.sample([[0, 3]], 0)
    with pytest.raises(ParameterError, match=r"numpy.random.Generator or a seed, got str"):
        sampler.sample(net.edge_set(), "seed")
    with pytest.raises(ParameterError, match=r"torch.Generator or a seed, got Generator"):
        sampler.sample(torch.zeros((1, 2), dtype=torch.int64), np.random.default_rng(0))


@pytest.mark.parametrize("convert", KINDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_positives_no_negatives(scheme: str, convert: Convert) -> None:
    net = network([[0, 0]], (3, 3))
    empty = np.empty((0, 2), dtype=np.int64)
    found = NegativeSampler(net, scheme=scheme).sample(convert(empty), 0)
    assert found.nodes.shape == found.replaced.shape == (0, 2)
    assert found.valid.shape == (0,)


def test_more_positives_than_are_drawn_at_once() -> None:
    rng = np.random.default_rng(0)
    net = network(rng.integers(0, 100, (30_000, 3)), (100, 100, 100))
    found = NegativeSampler(net).sample(net.edge_set(), 0)
    assert found.valid.all()
    assert not KnownEdges(net).contains(found.nodes).any()
    assert (found.replaced.sum(axis=1) <= 2).all()
