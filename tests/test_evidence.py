"""Pair evidence against counting the hyperedges one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.evidence import PairEvidence, num_features
from dhne.model import Architecture
from tests.dense_reference import DenseDHNE, Tuple
from tests.kernels.backends import DTYPES, assert_near
from tests.networks import networks
from tests.test_model import build, corrupt


def evidence_of(network: HyperNetwork, dtype: torch.dtype) -> PairEvidence:
    matrices = adjacency(network, dtype=np.float64 if dtype == torch.float64 else np.float32)
    return PairEvidence(network, matrices, device=torch.device("cpu"), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=40)
@given(network=networks(), seed=st.integers(0, 999), leave_out=st.booleans())
def test_features_are_counts_with_the_hyperedge_left_out(
    dtype: torch.dtype, network: HyperNetwork, seed: int, leave_out: bool
) -> None:
    model = build(network, Architecture(dict.fromkeys(network.node_types, (1,))))
    reference, evidence = DenseDHNE(network, model), evidence_of(network, dtype)
    _, items = corrupt(network, seed, dtype, torch.device("cpu"))
    for item in items:
        assert item.source is not None
        options = {}
        if leave_out:
            options["left_out"] = torch.tensor([item.source.weight], dtype=dtype)
            options["kept"] = torch.tensor([item.kept])
        else:
            item = Tuple(item.types, item.nodes, item.target)
        ordered = network.edge_set(item.types).ordered
        got = evidence.features(torch.tensor([item.nodes]), item.types, ordered=ordered, **options)
        assert got.shape[1] == num_features(item.types, ordered=ordered)
        expected = torch.tensor([reference.evidence(item)], dtype=torch.float64)
        assert_near(got, expected, dtype)


@pytest.mark.parametrize("weight", [0.01, 1.0, 1e3, 1e6])
def test_what_is_left_of_a_weight_taken_away_from_itself_is_zero(weight: float) -> None:
    """In float32 a scaled count comes back as not quite what it was."""
    rng = np.random.default_rng(0)
    pairs = np.stack([np.arange(50), rng.integers(3, size=50)], axis=1)
    weights = weight * (1 + rng.random(50))
    types = ("user", "item")
    network = HyperNetwork.from_arrays({types: pairs}, weights={types: weights})
    features = evidence_of(network, torch.float32).features(
        torch.from_numpy(pairs),
        types,
        ordered=True,
        left_out=torch.from_numpy(weights).float(),
    )
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
    assert features(0, 1).shape == features(0, 1, 2, 3).shape == (1, 3)
