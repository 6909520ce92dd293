"""CP decomposition against tensors of known low rank."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.baselines.tensor import TensorDecomposition, every_order
from dhne.errors import ParameterError
from dhne.network.edges import EdgeSet

TYPES = ("a", "b", "c")


def low_rank(rank: int = 3) -> tuple[HyperNetwork, np.ndarray]:
    """Return a network whose weights are a dense tensor of this rank, and the tensor."""
    rng = np.random.default_rng(0)
    factors = [rng.random((n, rank)) + 0.05 for n in (7, 6, 5)]
    tensor = np.einsum("ir,jr,kr->ijk", *factors)
    nodes = np.argwhere(tensor > 0)
    weights = tensor[tuple(nodes.T)]
    return HyperNetwork.from_arrays({TYPES: nodes}, weights={TYPES: weights}), tensor


@pytest.mark.parametrize(("loss", "accuracy"), [("gaussian", 1e-2), ("poisson", 5e-2)])
def test_a_planted_low_rank_tensor_is_found(loss: str, accuracy: float) -> None:
    network, tensor = low_rank()
    model = TensorDecomposition(dim=3, loss=loss, max_iterations=500, tolerance=1e-9)
    scores = model.fit(network).score(np.argwhere(tensor > 0))
    error = np.linalg.norm(scores - tensor.ravel()) / np.linalg.norm(tensor)
    assert error < accuracy


@pytest.mark.parametrize("loss", ["gaussian", "poisson"])
def test_blocks_are_told_from_zeros(loss: str) -> None:
    nodes = np.concatenate(
        [np.argwhere(np.ones((4, 3, 2))) + k * np.array([4, 3, 2]) for k in range(3)]
    )
    network = HyperNetwork.from_arrays({TYPES: nodes})
    model = TensorDecomposition(dim=3, loss=loss, max_iterations=200, random_state=1).fit(network)
    everything = np.argwhere(np.ones((12, 9, 6)))
    block = everything // np.array([4, 3, 2])
    inside = (block == block[:, :1]).all(axis=1)
    scores = model.score(everything)
    assert scores[inside].min() > scores[~inside].max()


def test_embeddings_are_the_factor_rows() -> None:
    network, _ = low_rank()
    model = TensorDecomposition(dim=3).fit(network)
    factors = model.factors_[TYPES]
    share = factors.weights ** (1 / 3)
    np.testing.assert_allclose(
        model.embeddings_["b"], factors.matrices[1] * share, rtol=1e-5, atol=1e-7
    )
    vectors = [model.embeddings_[t].astype(float) for t in TYPES]
    tuples = network.edges()[:20]
    product = vectors[0][tuples[:, 0]] * vectors[1][tuples[:, 1]] * vectors[2][tuples[:, 2]]
    np.testing.assert_allclose(product.sum(axis=1), model.score(tuples), rtol=1e-4)


def test_unordered_hyperedges_stand_in_every_order() -> None:
    edges = EdgeSet.build(("a", "b", "a", "a"), [[0, 5, 1, 2], [3, 1, 3, 4]], ordered=False)
    nodes, weights = every_order(edges)
    assert len(nodes) == 6 + 3  # three different nodes in six orders, a pair and one in three
    assert len(np.unique(nodes, axis=0)) == 9
    assert (weights == 1).all()


def test_repeats_are_added_up() -> None:
    edges = EdgeSet.build(("a", "b"), [[0, 0], [0, 0], [1, 0]])
    nodes, weights = every_order(edges)
    assert nodes.tolist() == [[0, 0], [1, 0]]
    assert weights.tolist() == [2.0, 1.0]


def test_an_unknown_loss_is_named() -> None:
    with pytest.raises(ParameterError, match="'poisson' or 'gaussian'"):
        TensorDecomposition(loss="huber").fit(low_rank()[0])
