"""Classification: labels that stand in the embeddings are read off them, others are not."""

from __future__ import annotations

import numpy as np
import pytest

from dhne.errors import ParameterError
from dhne.evaluation.classification import classify_nodes, predict
from dhne.network.hypernetwork import HyperNetwork


def network(labels: dict[str, list[object]], n: int = 120) -> HyperNetwork:
    edges = np.stack([np.arange(n), np.arange(n)], axis=1)
    return HyperNetwork.from_arrays({("a", "b"): edges}).with_labels(labels)


def one_label(n: int = 120) -> tuple[HyperNetwork, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    vectors = np.eye(3)[kind] + 0.05 * rng.normal(size=(n, 3))
    return network({"a": [f"c{k}" for k in kind]}), {"a": vectors, "b": vectors}


def test_separable_classes_are_found_and_noise_is_not() -> None:
    net, vectors = one_label()
    metrics = classify_nodes(net, vectors, shares=[0.3, 0.6])
    assert metrics["micro_f1"] > 0.98
    assert metrics["macro_f1"] > 0.98
    assert set(metrics) == {
        "micro_f1", "macro_f1", "micro_f1@0.3", "macro_f1@0.3", "micro_f1@0.6", "macro_f1@0.6",
        "neighbours@10",
    }  # fmt: skip
    assert metrics["micro_f1"] == pytest.approx(
        (metrics["micro_f1@0.3"] + metrics["micro_f1@0.6"]) / 2
    )
    noise = {"a": np.random.default_rng(1).normal(size=(120, 3))}
    assert classify_nodes(net, noise, shares=[0.3])["micro_f1"] < 0.6


def test_several_labels_a_node() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((120, 4)) < 0.4
    truth[np.arange(120), rng.integers(0, 4, 120)] = True
    vectors = {"a": truth + 0.05 * rng.normal(size=truth.shape)}
    labels = [[f"g{c}" for c in np.flatnonzero(row)] for row in truth]
    metrics = classify_nodes(network({"a": labels}), vectors, repeats=2)
    assert metrics["micro_f1"] > 0.95
    assert [n for n in metrics if n.startswith("micro_f1@")] == [
        f"micro_f1@0.{k}" for k in range(1, 10)
    ]


def test_nodes_without_a_label_take_no_part() -> None:
    net, vectors = one_label()
    column = net.labels("a").to_pylist()
    more = network({"a": [*column[:100], *[None] * 20]})
    wild = {"a": vectors["a"].copy()}
    wild["a"][100:] = 1e6  # would ruin the scaling
    assert classify_nodes(more, wild, shares=[0.5])["micro_f1"] > 0.95


def test_the_same_seed_draws_the_same_nodes() -> None:
    net, vectors = one_label()
    noisy = {"a": vectors["a"] + np.random.default_rng(2).normal(size=(120, 3))}
    one, again, other = (
        classify_nodes(net, noisy, shares=[0.2], repeats=2, seed=s) for s in (0, 0, 1)
    )
    assert one == again
    assert one != other


def test_every_labelled_type_counts_alike() -> None:
    net, vectors = one_label()
    both = net.with_labels({"a": net.labels("a"), "b": net.labels("a")})
    mixed = {"a": vectors["a"], "b": np.random.default_rng(0).normal(size=(120, 3))}
    metrics = classify_nodes(both, mixed, shares=[0.5])
    mean = (metrics["micro_f1/a"] + metrics["micro_f1/b"]) / 2
    assert metrics["micro_f1"] == pytest.approx(mean)
    assert "micro_f1/a" not in classify_nodes(both, mixed, shares=[0.5], node_type="a")


def test_a_class_unseen_in_training_is_never_predicted() -> None:
    net, vectors = one_label()
    labels = net.labels("a").to_pylist()
    labels[7] = ["rare"]
    metrics = classify_nodes(network({"a": labels}), vectors, shares=[0.1], repeats=2)
    assert metrics["micro_f1"] > 0.9


def test_how_many_labels_are_predicted() -> None:
    decision = np.array([[0.3, 0.2, -0.1], [-0.3, -0.2, -0.1]])
    truth = np.array([[True, False, False], [True, True, False]])
    positive = predict(decision, truth, True, "positive")
    known = predict(decision, truth, True, "known")
    single = predict(decision, truth, False, "positive")
    assert positive.tolist() == [[True, True, False], [False, False, True]]
    assert known.tolist() == [[True, False, False], [False, True, True]]
    assert single.sum(axis=1).tolist() == [1, 1]


def test_mistakes_are_named() -> None:
    net, vectors = one_label()
    with pytest.raises(ParameterError, match="labelled types: a"):
        classify_nodes(net, vectors, node_type="b")
    with pytest.raises(ParameterError, match="has none"):
        classify_nodes(network({}), vectors)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        classify_nodes(net, vectors, shares=[10])
    with pytest.raises(ParameterError, match="label_count"):
        classify_nodes(net, vectors, label_count="all")
    with pytest.raises(ParameterError, match="repeats"):
        classify_nodes(net, vectors, repeats=0)
