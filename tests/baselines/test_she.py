"""SHE against a Laplacian computed by hand, and against a dense eigensolver."""

from __future__ import annotations

import numpy as np

from dhne import HyperNetwork
from dhne.baselines.she import SHE, scaled_incidence
from dhne.baselines.spectral import leading_eigenvectors


def test_the_laplacian_of_three_hyperedges_by_hand() -> None:
    # nodes a0 a1 | b0 b1; hyperedges {a0,b0} of weight 2, {a0,b1}, {a1,b1}
    network = HyperNetwork.from_arrays(
        {("a", "b"): [[0, 0], [0, 1], [1, 1]]}, weights={("a", "b"): [2.0, 1.0, 1.0]}
    )
    B = scaled_incidence(network)
    laplacian = np.eye(4) - (B @ B.T).toarray()
    # degrees: a0 3, a1 1, b0 2, b1 2; off the diagonal −w/2/√(d_u d_v), on it 1 − d/2/d
    off = {(0, 2): 1 / np.sqrt(6), (0, 3): 0.5 / np.sqrt(6), (1, 3): 0.5 / np.sqrt(2)}
    expected = np.eye(4) / 2
    for (i, j), value in off.items():
        expected[i, j] = expected[j, i] = -value
    np.testing.assert_allclose(laplacian, expected, atol=1e-12)


def test_embeddings_are_the_smallest_eigenvectors_without_the_trivial() -> None:
    rng = np.random.default_rng(0)
    network = HyperNetwork.from_arrays({("a", "b", "c"): rng.integers(8, size=(60, 3))})
    B = scaled_incidence(network)
    n = B.shape[0]
    values, vectors = np.linalg.eigh(np.eye(n) - (B @ B.T).toarray())
    model = SHE(dim=4, skip_trivial=True).fit(network)
    np.testing.assert_allclose(model.eigenvalues_, values[1:5], atol=1e-8)
    assert abs(values[0]) < 1e-12
    found = np.concatenate([model.embeddings_[t] for t in "abc"])
    scale = np.diag(np.sqrt(1 - values[1:5]))
    np.testing.assert_allclose(np.abs(found.T @ vectors[:, 1:5]), scale, atol=1e-5)


def test_with_all_eigenvectors_inner_products_are_the_laplacian_s_complement() -> None:
    rng = np.random.default_rng(1)
    network = HyperNetwork.from_arrays({("a", "b", "c"): rng.integers(6, size=(40, 3))})
    B = scaled_incidence(network)
    model = SHE(dim=18).fit(network)
    X = np.concatenate([model.embeddings_[t] for t in "abc"]).astype(float)
    np.testing.assert_allclose(X @ X.T, (B @ B.T).toarray(), atol=1e-6)


def test_the_first_eigenvector_is_the_root_of_the_degrees() -> None:
    rng = np.random.default_rng(1)
    network = HyperNetwork.from_arrays({("a", "b", "c"): rng.integers(6, size=(40, 3))})
    model = SHE(dim=1).fit(network)
    assert abs(model.eigenvalues_[0]) < 1e-12
    first = np.concatenate([model.embeddings_[t] for t in "abc"])[:, 0]
    degrees = np.concatenate([network.degrees(t) for t in "abc"])
    np.testing.assert_allclose(first, np.sqrt(degrees / degrees.sum()), rtol=1e-5)


def test_a_node_that_stands_twice_is_in_its_hyperedge_once() -> None:
    network = HyperNetwork.from_arrays({("a", "a"): [[0, 0], [0, 1]]})
    B = scaled_incidence(network).toarray()
    np.testing.assert_allclose(B[:, 0], [1 / np.sqrt(2), 0])


def test_sparse_and_dense_solvers_agree() -> None:
    rng = np.random.default_rng(0)
    network = HyperNetwork.from_arrays({("a", "b", "c"): rng.integers(300, size=(3000, 3))})
    B = scaled_incidence(network)
    theta = B @ B.T
    values, vectors = leading_eigenvectors(theta, 6, rng=rng, tolerance=1e-10)
    dense_values, dense_vectors = np.linalg.eigh(theta.toarray())
    np.testing.assert_allclose(values, dense_values[::-1][:6], atol=1e-8)
    overlap = np.abs(vectors.T @ dense_vectors[:, ::-1][:, :6])
    np.testing.assert_allclose(overlap, np.eye(6), atol=1e-4)
