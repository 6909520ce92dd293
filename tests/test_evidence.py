"""Pair evidence against counting the hyperedges one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.datasets import power_law
from dhne.evidence import PairEvidence, num_features
from dhne.model import Architecture
from tests.dense_reference import DenseDHNE, Tuple
from tests.kernels.backends import BACKENDS, DTYPES, assert_near, device_of, kernels_of
from tests.networks import networks
from tests.test_model import build, corrupt


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
@given(network=networks(), seed=st.integers(0, 999), leave_out=st.booleans())
def test_features_are_counts_with_the_hyperedge_left_out(
    backend: str, dtype: torch.dtype, network: HyperNetwork, seed: int, leave_out: bool
) -> None:
    model = build(network, Architecture(dict.fromkeys(network.node_types, (1,))))
    device = device_of(backend)
    reference, evidence = DenseDHNE(network, model), evidence_of(network, dtype, backend)
    _, items = corrupt(network, seed, dtype, device)
    for edges in network.edge_sets:
        mine = [i for i in items if i.types == edges.types]
        sources = [i.source for i in mine]
        if not leave_out:
            mine = [Tuple(i.types, i.nodes, i.target) for i in mine]
        if not mine:
            continue
        left_out = {
            "source": torch.tensor([s.nodes for s in sources if s is not None], device=device),
            "left_out": torch.tensor(
                [s.weight for s in sources if s is not None], dtype=dtype, device=device
            ),
        }
        got = evidence.features(
            torch.tensor([i.nodes for i in mine], device=device),
            edges.types,
            ordered=edges.ordered,
            **(left_out if leave_out else {}),
        )
        assert got.shape[1] == num_features(edges.types, ordered=edges.ordered)
        expected = [reference.evidence(i) for i in mine]
        assert_near(got, torch.tensor(expected, dtype=torch.float64), dtype)


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_of_hubs_every_backend_takes_the_same_sample(backend: str) -> None:
    """More neighbours than are looked at: an even sample of them, weighted up."""
    network = power_law(4000, nodes=(300, 60, 8), clusters=2, seed=0)
    nodes, weights = network.edges().copy(), network.weights().copy()
    outs = []
    for name in ("reference", backend):
        evidence, device = evidence_of(network, torch.float64, name), device_of(name)
        out = evidence.features(
            torch.from_numpy(nodes[:500]).to(device),
            network.edge_types[0],
            ordered=True,
            source=torch.from_numpy(nodes[500:1000]).to(device),
            left_out=torch.from_numpy(weights[500:1000]).to(device),
        )
        outs.append(out.cpu())
    assert_near(outs[1], outs[0], torch.float64)


@pytest.mark.parametrize("weight", [0.01, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_left_of_a_weight_taken_away_from_itself_is_zero(
    backend: str, weight: float
) -> None:
    """In float32 a scaled count comes back as not quite what it was."""
    rng = np.random.default_rng(0)
    pairs = np.stack([np.arange(50), rng.integers(3, size=50)], axis=1)
    weights = weight * (1 + rng.random(50))
    types = ("user", "item")
    network = HyperNetwork.from_arrays({types: pairs}, weights={types: weights})
    nodes = torch.from_numpy(pairs).to(device_of(backend))
    left_out = torch.from_numpy(weights).to(nodes.device, torch.float32)
    evidence = evidence_of(network, torch.float32, backend)
    features = evidence.features(nodes, types, ordered=True, source=nodes, left_out=left_out).cpu()
    assert torch.equal(features[:, 0], torch.zeros(50))  # log(1 + 0)
    assert torch.equal(features[:, 1], torch.ones(50))  # and it is zero


def test_order_of_a_set_and_its_size_do_not_matter() -> None:
    network = HyperNetwork.from_arrays(
        {("a", "a", "a"): [[0, 1, 2], [1, 2, 3]], ("a", "a"): [[0, 3], [2, 3]]}, ordered=False
    )
    evidence = evidence_of(network, torch.float64)
    features = lambda *v: evidence.features(  # noqa: E731
        torch.tensor([v]), ("a",) * len(v), ordered=False
    )
    assert_near(features(0, 1, 3), features(3, 0, 1), torch.float64)
    assert features(0, 1).shape == features(0, 1, 2, 3).shape == (1, 7)
