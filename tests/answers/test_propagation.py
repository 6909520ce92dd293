"""Propagated vectors: classes two hops away, new nodes by the same formula, bounded hubs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dhne
from dhne import DHNE, HyperNetwork
from dhne.adjacency import adjacency
from dhne.answers.propagation import Propagation, before_activation
from dhne.network.edges import EdgeSet
from dhne.network.vocabulary import Vocabulary

CLASSES, PER_CLASS = 4, 60


def two_hop_classes(seed: int = 0) -> tuple[HyperNetwork, np.ndarray]:
    """Papers with two words each, of a vocabulary of their class that is large.

    Two papers of a class rarely share a word; words that meet in a paper are of the same class.
    """
    rng = np.random.default_rng(seed)
    words = 60
    kind = np.repeat(np.arange(CLASSES), PER_CLASS)
    edges = [
        (paper, CLASSES * word + kind[paper])  # ids do not tell the class by their order
        for paper in range(len(kind))
        for word in rng.choice(words, size=2, replace=False)
    ]
    network = HyperNetwork.from_arrays({("paper", "word"): np.array(edges)})
    return network, kind


def accuracy(vectors: np.ndarray, kind: np.ndarray) -> float:
    """Of a linear classifier that sees a third of the nodes."""
    order = np.random.default_rng(1).permutation(len(kind))
    train, test = order[: len(kind) // 3], order[len(kind) // 3 :]
    scaled = (vectors - vectors.mean(0)) / (vectors.std(0) + 1e-9)
    return LogisticRegression(max_iter=500).fit(scaled[train], kind[train]).score(
        scaled[test], kind[test]
    )  # fmt: skip


def test_classes_that_only_neighbours_of_neighbours_show() -> None:
    network, kind = two_hop_classes()
    options = {"dim": 16, "kernels": "reference", "epochs": 10}
    plain = DHNE(propagation=0, **options).fit(network)
    model = DHNE(**options).fit(network)
    assert plain.vectors_ is plain.embeddings_
    np.testing.assert_array_equal(model.embeddings_["paper"], plain.embeddings_["paper"])
    before, after = (accuracy(m.vectors_["paper"], kind) for m in (plain, model))
    assert before < 0.7
    assert after > 0.9
    near = model.similar("paper", 0, k=10).names
    assert np.mean(kind[near] == kind[0]) >= 0.8


def test_scores_do_not_depend_on_propagation() -> None:
    network, _ = two_hop_classes()
    tuples = network.edge_sets[0].nodes[:20]
    scores = [
        DHNE(dim=4, epochs=2, kernels="reference", propagation=rounds).fit(network).score(tuples)
        for rounds in (0, 3)
    ]
    np.testing.assert_array_equal(*scores)


def mixed_network() -> HyperNetwork:
    """Weighted triples, unordered sets of one type, and a hub."""
    rng = np.random.default_rng(3)
    triples = np.stack([rng.integers(n, size=200) for n in (30, 20, 3)], axis=1)
    sets = np.array([rng.choice(30, size=3, replace=False) for _ in range(40)])
    edges = [
        EdgeSet.build(("user", "movie", "hub"), triples, rng.random(200) + 0.1),
        EdgeSet.build(("user", "user", "user"), sets, ordered=False),
    ]
    sizes = {"user": 30, "movie": 20, "hub": 3}
    names = {t: Vocabulary(list(range(n)), node_type=t) for t, n in sizes.items()}
    return HyperNetwork(names, edges)


def test_several_edge_types_sets_and_weights() -> None:
    matrices = adjacency(mixed_network())
    rng = np.random.default_rng(0)
    for t, matrix in matrices.items():
        start = rng.normal(size=(matrix.shape[0], 8)).astype(np.float32)
        propagation = Propagation(matrix)
        found = propagation.propagate(start, 4)
        assert found.vectors.shape == start.shape
        assert np.isfinite(found.vectors).all()
        dense = propagation.matrix.toarray()
        expected = dense @ (dense.T @ found.basis)
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(found.vectors, expected / lengths**0.75, atol=1e-5, err_msg=t)


def test_the_matrix_is_that_of_the_formula() -> None:
    network = HyperNetwork.from_arrays(
        {("a", "b", "c"): [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]]}
    )
    counts = {"b": np.array([[2, 0], [1, 1], [0, 1]]), "c": np.array([[2], [2], [1]])}
    blocks = []
    for s, n in (("b", 2), ("c", 1)):
        values = np.log1p(counts[s])
        rows, columns = values.sum(1), values.sum(0)
        rows, columns = rows + 0.2 * rows.mean(), columns + 0.2 * columns.mean()
        blocks.append(np.sqrt(n / 2) * values / np.sqrt(np.outer(rows, columns)))
    found = Propagation(adjacency(network)["a"]).matrix.toarray()
    np.testing.assert_allclose(found, np.hstack(blocks), rtol=1e-5)


def test_a_hub_costs_no_more_than_a_bounded_sample_of_each_type() -> None:
    rng = np.random.default_rng(0)
    edges = np.stack([np.zeros(3000, int), np.arange(3000), rng.integers(5, size=3000)], axis=1)
    matrix = adjacency(HyperNetwork.from_arrays({("hub", "leaf", "kind"): edges}))["hub"]
    whole, sampled = Propagation(matrix, most=10**6), Propagation(matrix, most=100)
    assert whole.matrix.nnz == 3005
    assert sampled.matrix.nnz == 105
    assert sampled.matrix.indices[:100].min() < 60  # evenly over all of them
    assert sampled.matrix.indices[:100].max() > 2940
    assert sampled.matrix.sum() == pytest.approx(whole.matrix.sum(), rel=1e-5)
    again = sampled.rows(matrix.matrix)
    np.testing.assert_array_equal(again.indices, sampled.matrix.indices)


def test_fewer_nodes_than_dimensions_leave_the_rest_at_zero() -> None:
    matrix = adjacency(HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [1, 0]]}))["a"]
    start = np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32)
    vectors = Propagation(matrix).propagate(start, 3).vectors
    assert np.isfinite(vectors).all()
    assert (np.abs(vectors).sum(0) > 0).sum() <= 2


def test_activations_are_undone() -> None:
    z = np.array([-1.5, 0.0, 2.0], np.float32)
    np.testing.assert_allclose(before_activation(np.tanh(z), "tanh"), z, rtol=1e-5)
    np.testing.assert_allclose(before_activation(1 / (1 + np.exp(-z)), "sigmoid"), z / 2, rtol=1e-5)
    assert before_activation(z, "linear") is z


def test_runs_keep_the_vectors_and_their_formula(tmp_path: Path) -> None:
    network, _ = two_hop_classes()
    model = DHNE(dim=4, epochs=1, kernels="reference").fit(network)
    model.save(tmp_path / "run")
    loaded = dhne.load(tmp_path / "run")
    for t in network.node_types:
        np.testing.assert_array_equal(loaded.vectors_[t], model.vectors_[t])
        np.testing.assert_array_equal(loaded.embeddings_[t], model.embeddings_[t])
    tables = [m.transform([(999, 0), (999, 4)])["paper"] for m in (model, loaded)]
    assert tables[0].equals(tables[1])
