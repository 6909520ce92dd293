"""Pair evidence against counting the hyperedges one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.kernels import counts
from dhne.kernels.counts import SHARED
from dhne.model.evidence import PairEvidence, counted_pairs, num_features
from dhne.model.joint import Architecture
from dhne.network.edges import EdgeType
from tests.dense_reference import DenseDHNE, Tuple
from tests.kernels.backends import BACKENDS, DTYPES, assert_near, device_of, kernels_of
from tests.model_building import build, corrupt, make_batches
from tests.random_networks import numbered_networks


def evidence_of(
    network: HyperNetwork, dtype: torch.dtype, backend: str = "reference"
) -> PairEvidence:
    matrices = adjacency(network, dtype=np.float64 if dtype == torch.float64 else np.float32)
    return PairEvidence(
        network, matrices, device=device_of(backend), dtype=dtype, kernels=kernels_of(backend)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(
    network=numbered_networks(),
    seed=st.integers(0, 999),
    left_out=st.sampled_from(["nothing", "each", "batch", "known"]),
)
def test_features_are_counts_with_the_hyperedge_left_out(
    backend: str, dtype: torch.dtype, network: HyperNetwork, seed: int, left_out: str
) -> None:
    """Tuple by tuple, or in one go with the hyperedges they were drawn from."""
    model = build(network, Architecture(dict.fromkeys(network.node_types, (1,))))
    device = device_of(backend)
    reference, evidence = DenseDHNE(network, model), evidence_of(network, dtype, backend)
    _, items = corrupt(make_batches(network, kernels_of(backend), backend, dtype), seed)
    for edges in network.edge_sets:
        mine = [i for i in items if i.types == edges.types]
        sources = [i.source for i in mine if i.source is not None]
        if not mine:
            continue
        nodes = torch.tensor([i.nodes for i in mine], device=device)
        source = torch.tensor([s.nodes for s in sources], device=device)
        weights = torch.tensor([s.weight for s in sources], dtype=dtype, device=device)
        m = sum(i.target == 1 for i in mine)  # hyperedges come first
        options: dict[str, Any] = {}
        if left_out == "nothing":
            mine = [Tuple(i.types, i.nodes, i.target) for i in mine]
        else:
            options = {"source": source, "left_out": weights}
        if left_out in ("batch", "known"):
            options["num_edges"] = m
        if left_out == "known":
            options["of_edges"] = evidence.counts_of_edges(nodes[:m], weights[:m], edges.types)
        got = evidence.features(nodes, edges.types, **options)
        assert got.shape[1] == num_features(edges.types)
        expected = [reference.evidence(i) for i in mine]
        assert_near(got, torch.tensor(expected, dtype=torch.float64), dtype)


@pytest.mark.parametrize("types", [("a", "b", "c"), ("a", "b", "a"), ("a", "a")])
@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_of_hubs_every_backend_takes_the_same_sample(backend: str, types: tuple[str, ...]) -> None:
    """More neighbours than are looked at: an even sample of them, weighted up."""
    types = EdgeType(types)
    rng = np.random.default_rng(0)
    nodes = (90 * rng.random((2000, len(types))) ** 3).astype(np.int64)
    weights = 1 + rng.integers(5, size=2000) / 4
    network = HyperNetwork.from_arrays(
        {types: nodes}, dict.fromkeys(types, 90), weights={types: weights}
    )
    degrees = [np.diff(a.matrix.indptr).max() for a in adjacency(network).values()]
    assert min(degrees) > SHARED
    edges, negatives = nodes[:50], np.repeat(nodes[:50], 5, axis=0)
    changed = np.arange(250), rng.integers(len(types), size=250)
    negatives[changed] = rng.integers(90, size=250)
    source = np.concatenate([edges, np.repeat(edges, 5, axis=0)])
    outs = []
    for name in ("reference", backend):
        evidence, device = evidence_of(network, torch.float64, name), device_of(name)
        out = evidence.features(
            torch.from_numpy(np.concatenate([edges, negatives])).to(device),
            EdgeType(types),
            source=torch.from_numpy(source).to(device),
            left_out=torch.from_numpy(np.append(weights[:50], np.repeat(weights[:50], 5))).to(
                device
            ),
            num_edges=50,
        )
        outs.append(out.cpu())
    assert_near(outs[1], outs[0], torch.float64)


@pytest.mark.parametrize("backend", BACKENDS)
def test_paths_through_a_hub_are_not_counted(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Item 0 has four users; with at most three neighbours a node, no path of its is counted."""
    types = EdgeType(("user", "item"))
    network = HyperNetwork.from_arrays({types: [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1]]})
    nodes = torch.tensor([[0, 0], [0, 1]], device=device_of(backend))
    for hub, counted in ((4, [True, True]), (3, [False, True])):
        monkeypatch.setattr(counts, "HUB", hub)
        features = evidence_of(network, torch.float64, backend).features(nodes, types)
        assert (features[:, 4] > 0).tolist() == counted


@pytest.mark.parametrize("backend", BACKENDS)
def test_nobody_has_a_neighbour_and_nobody_asks(backend: str) -> None:
    types = EdgeType(("a", "a"))
    network = HyperNetwork.from_arrays({types: [[0, 0], [1, 1]]})
    evidence = evidence_of(network, torch.float64, backend)
    nodes = torch.tensor([[0, 1], [1, 1]], device=device_of(backend))
    features = evidence.features(nodes, types).cpu()
    assert torch.equal(features[:, :6], torch.tensor([[0.0, 1.0] * 3] * 2, dtype=torch.float64))
    assert evidence.features(nodes[:0], types).shape == (0, features.shape[1])


@pytest.mark.parametrize("weight", [0.01, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_left_of_a_weight_taken_away_from_itself_is_zero(
    backend: str, weight: float
) -> None:
    """In float32 a scaled count comes back as not quite what it was."""
    rng = np.random.default_rng(0)
    pairs = np.stack([np.arange(50), rng.integers(3, size=50)], axis=1)
    weights = weight * (1 + rng.random(50))
    types = EdgeType(("user", "item"))
    network = HyperNetwork.from_arrays({types: pairs}, weights={types: weights})
    nodes = torch.from_numpy(pairs).to(device_of(backend))
    left_out = torch.from_numpy(weights).to(nodes.device, torch.float32)
    evidence = evidence_of(network, torch.float32, backend)
    features = evidence.features(nodes, types, source=nodes, left_out=left_out).cpu()
    assert torch.equal(features[:, 0], torch.zeros(50))  # log(1 + 0)
    assert torch.equal(features[:, 1], torch.ones(50))  # and it is zero


def test_order_of_a_set_and_its_size_do_not_matter() -> None:
    network = HyperNetwork.from_arrays(
        {("a", "a", "a"): [[0, 1, 2], [1, 2, 3]], ("a", "a"): [[0, 3], [2, 3]]}, ordered=False
    )
    evidence = evidence_of(network, torch.float64)
    features = lambda *v: evidence.features(  # noqa: E731
        torch.tensor([v]), EdgeType.of(("a",) * len(v), ordered=False)
    )
    assert_near(features(0, 1, 3), features(3, 0, 1), torch.float64)
    assert features(0, 1).shape == features(0, 1, 2, 3).shape == (1, 15)


def test_one_stranger_in_a_set_shows_whatever_its_size() -> None:
    """The least count and degree are those of the member that does not belong."""
    members = np.arange(12)
    network = HyperNetwork.from_arrays(
        {("a",) * 12: [members, members], ("a", "a"): [[12, 13]]}, ordered=False
    )
    evidence, types = evidence_of(network, torch.float64), EdgeType.of(("a",) * 12, ordered=False)
    least_c, least_degree = 7, 9  # after the averages of c, s, t and degrees
    known = evidence.features(torch.tensor([[*range(12)]]), types)[0]
    strange = evidence.features(torch.tensor([[*range(11), 12]]), types)[0]
    assert known[least_c] == pytest.approx(np.log(3))
    assert strange[least_c] == 0
    assert known[least_degree] == pytest.approx(np.log(3))
    assert strange[least_degree] == pytest.approx(np.log(2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(network=numbered_networks(), data=st.data())
def test_candidates_have_the_features_of_whole_tuples(
    backend: str, dtype: torch.dtype, network: HyperNetwork, data: st.DataObject
) -> None:
    """Up to rounding: what the fixed nodes share is only counted once."""
    evidence, device = evidence_of(network, dtype, backend), device_of(backend)
    edges = data.draw(st.sampled_from(network.edge_sets))
    chosen = data.draw(st.lists(st.integers(0, len(edges) - 1), min_size=1, max_size=3))
    rows = torch.from_numpy(edges.nodes[chosen].copy())
    position = data.draw(st.integers(0, edges.length - 1))
    got = evidence.open_evidence(rows.to(device), edges.types, position).dense()
    size = network.num_nodes(edges.types[position])
    every = rows.repeat_interleave(size, dim=0).numpy()
    every[:, position] = np.tile(np.arange(size), len(rows))
    tuples = torch.from_numpy(edges.types.canonical(every)).to(device)
    whole = evidence.features(tuples, edges.types).reshape(len(rows), size, -1)
    torch.testing.assert_close(got, whole, rtol=4 * torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_candidates_of_nodes_with_very_many_neighbours(backend: str, position: int) -> None:
    """Samples of neighbours, hubs without paths, and a type that neighbours itself."""
    rng = np.random.default_rng(0)
    nodes = np.stack([rng.integers(n, size=1500) for n in (2, 90, 700, 90)], axis=1)
    types = EdgeType(("few", "some", "many", "some"))
    network = HyperNetwork.from_arrays(
        {types: [*nodes]}, num_nodes={"few": 3, "some": 91, "many": 700}
    )
    evidence = evidence_of(network, torch.float64, backend)
    rows = torch.from_numpy(nodes[:3].copy()).to(device_of(backend))
    got = evidence.open_evidence(rows, types, position)
    size = network.num_nodes(types[position])
    tuples = rows.repeat_interleave(size, dim=0)
    tuples[:, position] = torch.arange(size, device=rows.device).repeat(len(rows))
    whole = evidence.features(tuples, types).reshape(len(rows), size, -1)
    torch.testing.assert_close(got.dense(), whole, rtol=1e-12, atol=1e-12)


def test_of_long_sets_every_member_is_in_as_many_pairs_and_these_are_few() -> None:
    for n in (9, 10, 33, 200):
        pairs = counted_pairs(EdgeType.of(("a",) * n, ordered=False))
        assert len(set(pairs)) == len(pairs) <= max(36, n)
        members = Counter(p for pair in pairs for p in pair)
        assert len(members) == n
        assert len(set(members.values())) == 1
    directed = EdgeType(("a", "a"), ("head", "tail"), (True, True)).form((40, 3))
    across = [(p, q) for p, q in counted_pairs(directed) if p < 40 <= q]
    assert len(across) == 40
    assert {p for p, _ in across} == set(range(40))


def test_of_many_positions_the_pairs_nearby_are_counted() -> None:
    all_pairs = counted_pairs(EdgeType(tuple(f"c{i}" for i in range(33))))
    assert len(all_pairs) == 33 * 32 // 2
    for n in (34, 100, 300):
        types = EdgeType(tuple(f"c{i}" for i in range(n)))
        pairs = counted_pairs(types)
        assert len(pairs) <= max(600, n)
        assert num_features(types) == 6 * len(pairs) + n
        met = Counter(p for pair in pairs for p in pair)
        assert len(met) == n
        assert len(set(met.values())) == 1
