"""The tuplewise similarity: the theorem, and what its value may depend on."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from dhne import DHNE
from dhne.datasets import planted_clusters
from dhne.kernels.open_counts import Near
from dhne.model.open_evidence import OpenEvidence
from dhne.model.similarities import HiddenSimilarity, SimilarityShape
from dhne.network.edges import EdgeType
from tests.kernels.backends import BACKENDS, device_of, kernels_of


def planted_auc(activation: str, seed: int) -> float:
    """AUC over *all* tuples of the paper's counter-example; a hyperedge shares a cluster."""
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=4)
    model = DHNE(
        dim=8,
        activation=activation,
        epochs=60,
        batch_size=32,
        learning_rate=0.02,
        kernels="reference",
        random_state=seed,
    )
    tuples = np.array(list(itertools.product(range(8), repeat=3)))
    cluster = tuples // 4
    is_edge = (cluster == cluster[:, :1]).all(1)
    return float(roc_auc_score(is_edge, model.fit(network).score(tuples)))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_non_linear_similarity_separates_the_counter_example(seed: int) -> None:
    assert planted_auc("tanh", seed) == 1.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_linear_similarity_cannot_tell_the_counter_example_from_chance(seed: int) -> None:
    """The theorem: Σ_p W_p x_p cannot be large on both clusters and small on every mixture.

    With s_p the difference that the cluster makes at position p, the scores of the eight kinds of
    tuples are ±s_1 ± s_2 ± s_3: as many mixtures lie above one kind of hyperedge as below the
    other.
    """
    assert abs(planted_auc("linear", seed) - 0.5) < 0.1


def similarity(activation: str = "tanh", *, ordered: bool = True) -> HiddenSimilarity:
    types = EdgeType.of(("a", "a", "b"), ordered=ordered)
    shape = SimilarityShape(types, {"a": 4, "b": 3}, activation=activation)
    module = HiddenSimilarity(shape).double()
    module.reset(torch.Generator().manual_seed(0))
    return module


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_the_logit_is_not_a_sum_over_positions(activation: str) -> None:
    """For a sum f(x) + g(y) + h(z), every mixed second difference is zero."""
    module, kernels = similarity(activation), kernels_of("reference")
    source = torch.Generator().manual_seed(1)
    x = torch.randn(2, 4, generator=source, dtype=torch.float64)
    y = torch.randn(2, 3, generator=source, dtype=torch.float64)
    index = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]])
    a, b, c, d = module.logits(kernels, [x, x, y], index, module.shape.edge_type).tolist()
    assert abs(a - b - c + d) > 1e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_order_matters_where_positions_are_ordered_and_only_there(backend: str) -> None:
    kernels, device = kernels_of(backend), device_of(backend)
    source = torch.Generator().manual_seed(1)
    x = torch.randn(2, 4, generator=source, dtype=torch.float64).to(device)
    y = torch.randn(1, 3, generator=source, dtype=torch.float64).to(device)
    index = torch.tensor([[0, 1, 0], [1, 0, 0]], device=device)
    for ordered in (True, False):
        module = similarity(ordered=ordered).to(device)
        one, other = module.logits(kernels, [x, x, y], index, module.shape.edge_type).tolist()
        assert (one == other) != ordered


def test_a_layer_saved_with_fewer_features_gives_the_logits_it_gave() -> None:
    family = EdgeType.of(("a", "a"), ordered=False).family
    shape = SimilarityShape(family, {"a": 3}, num_features=5)
    earlier, later = (HiddenSimilarity(replace(shape, num_features=n)) for n in (5, 8))
    earlier.reset(torch.Generator().manual_seed(0))
    later.load_state_dict(earlier.state_dict())
    known = torch.rand(4, 8)
    x, members = torch.rand(6, 3), torch.tensor([[0, 1], [2, 3], [4, 5], [0, 5]])
    kernels = kernels_of("reference")
    was = earlier.combine(kernels, [earlier.project(x, 0)] * 2, members, known[:, :5])
    assert torch.allclose(was, later.combine(kernels, [later.project(x, 0)] * 2, members, known))


@pytest.mark.parametrize("parts", [0, 1, 2])
@pytest.mark.parametrize("hidden", [(), (6, 5)])
@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_implied_evidence_gives_the_logits_of_evidence_spelt_out(
    activation: str, hidden: tuple[int, ...], parts: int
) -> None:
    shape = SimilarityShape(
        EdgeType(("a", "b")), {"a": 4, "b": 3}, hidden, activation, num_features=5
    )
    module = HiddenSimilarity(shape).double()
    source = torch.Generator().manual_seed(0)
    module.reset(source)

    def drawn(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=source, dtype=torch.float64)

    evidence = OpenEvidence(
        far=drawn(3, 5),
        degrees=drawn(7),
        degree_feature=4,
        near=tuple(
            Near(
                columns=torch.tensor(columns),
                lines=torch.tensor(lines),
                begins=torch.tensor(begins),
                ids=torch.tensor(ids, dtype=torch.int32),
                values=drawn(len(ids), 3) * torch.tensor([1, 0, 1]),
            )
            for columns, lines, begins, ids in (
                ([0, 2, 3], [0, 1, 2], [0, 2, 2, 5], [1, 6, 0, 2, 3]),
                ([1, 2, 0], [1, 0, 1], [0, 3, 5], [1, 3, 6, 2, 6]),
            )[:parts]
        ),
    )
    fixed, candidates = drawn(3, module.width), drawn(7, module.width)
    with torch.no_grad():
        spelt_out = module.open_logits(fixed, candidates, evidence.dense())
        implied = module.logits_with_evidence(fixed, candidates, evidence)
    torch.testing.assert_close(implied, spelt_out, rtol=1e-12, atol=1e-12)
