"""Splits and negatives: what `paper` and `clean` do, and that no negative is a known hyperedge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.datasets import load_dataset
from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.evaluation.protocols import (
    Data,
    Split,
    link_prediction_split,
    reconstruction_split,
    validation_split,
)
from dhne.network.hypernetwork import HyperNetwork
from tests.evaluation.toy import random_network

SIZES = {"a": 4, "b": 5}


def leaky() -> Data:
    """Train with a repeat; of three test rows two stand in train as well, one twice."""
    train = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 0], [1, 1], [2, 2]]}, SIZES)
    test = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [3, 3], [3, 3]]}, SIZES)
    return Data("leaky", train, test)


def rows(network: HyperNetwork) -> set[tuple[int, ...]]:
    return {tuple(r) for e in network.edge_sets for r in e.nodes.tolist()}


def test_paper_takes_the_released_rows_as_they_are() -> None:
    split = link_prediction_split(leaky(), "paper", seed=0)
    assert (split.train.num_edges(), split.test.num_edges()) == (4, 3)
    assert split.how == "released"
    assert reconstruction_split(leaky(), "paper").test.num_edges() == 7


def test_clean_folds_repeats_and_removes_what_train_has_seen() -> None:
    split = link_prediction_split(leaky(), "clean", seed=0)
    assert split.train.weights().tolist() == [2, 1, 1]
    assert split.test.edges().tolist() == [[3, 3]]
    whole = reconstruction_split(leaky(), "clean").train
    assert rows(whole) == {(0, 0), (1, 1), (2, 2), (3, 3)}
    assert whole.num_edges() == 4


@given(seed=st.integers(0, 50))
def test_a_random_split_on_clean_never_leaks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = Data("net", HyperNetwork.from_arrays({("a", "b"): rng.integers(0, 4, (60, 2))}))
    split = link_prediction_split(data, "clean", seed=seed)
    assert not rows(split.train) & rows(split.test)
    assert rows(split.known) == rows(split.train) | rows(split.test)


def test_a_network_without_a_split_is_split_by_the_seed() -> None:
    data = Data("net", random_network((9, 9, 9), 100))
    one, again, other = (link_prediction_split(data, "paper", seed=s) for s in (1, 1, 2))
    assert one.test.num_edges() == 20
    assert one.test == again.test
    assert one.test != other.test
    assert "20%" in one.how


def test_keep_overrides_the_released_split() -> None:
    whole = random_network((9, 9, 9), 100)
    data = Data("net", *whole.split(0.2))
    split = link_prediction_split(data, "paper", seed=0, keep=0.3)
    assert (split.train.num_edges(), split.test.num_edges()) == (30, 70)
    assert rows(split.train) | rows(split.test) == rows(whole)


@given(
    seed=st.integers(0, 30),
    ordered=st.booleans(),
    which=st.sampled_from(["link-prediction", "reconstruction", "validation"]),
)
def test_negatives_are_in_no_edge_set(seed: int, ordered: bool, which: str) -> None:
    net = random_network((6, 6, 6), 70, seed=seed, types=("a", "b", "a"), ordered=ordered)
    data = Data("net", *net.split(0.3, seed=seed))
    split = _split(which, data)
    edges = split.test.edge_set()
    negatives = split.negatives()[edges.types]
    assert len(negatives) == 5 * len(edges)
    kept = np.repeat(edges.nodes, 5, axis=0) == negatives
    assert (kept.sum(axis=1) >= 1).all()  # one or two of three positions are replaced
    assert not kept.all(axis=1).any()
    moved = HyperNetwork.from_arrays({edges.types: negatives}, {"a": 6, "b": 6}, ordered=ordered)
    # Validation knows nothing of the test, so its negatives may be test edges; others may not.
    assert not rows(moved) & rows(data.train if which == "validation" else net)


def _split(which: str, data: Data) -> Split:
    if which == "reconstruction":
        return reconstruction_split(data, "paper")
    split = link_prediction_split(data, "paper", seed=0)
    return validation_split(split.train, fraction=0.2, seed=0) if which == "validation" else split


def test_negatives_depend_on_the_evaluation_seed_alone() -> None:
    split = link_prediction_split(
        Data("n", *random_network((9, 9), 40).split(0.2)), "paper", seed=0
    )
    again = link_prediction_split(Data("n", split.train, split.test), "paper", seed=7)
    key = split.test.edge_types[0]
    np.testing.assert_array_equal(split.negatives()[key], again.negatives()[key])
    assert not np.array_equal(split.negatives()[key], split.negatives(seed=1)[key])


def test_validation_never_holds_a_test_edge() -> None:
    split = link_prediction_split(Data("n", random_network((9, 9, 9), 200)), "clean", seed=0)
    inner = validation_split(split.train, fraction=0.1, seed=0)
    assert rows(inner.train) | rows(inner.test) == rows(split.train)
    assert not rows(inner.train) & rows(inner.test)
    assert not rows(inner.known) & rows(split.test)


def test_mistakes_are_named() -> None:
    net = random_network((5, 5), 10)
    with pytest.raises(UnknownNameError, match="did you mean 'clean'"):
        link_prediction_split(Data("n", net), "claen", seed=0)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        link_prediction_split(Data("n", net), "paper", seed=0, keep=1.5)
    with pytest.raises(ParameterError, match="too few"):
        link_prediction_split(Data("n", net.subset(np.array([0]))), "paper", seed=0)
    with pytest.raises(InputError, match="differently"):
        Data("n", net, random_network((6, 5), 10))


def test_drug_leaks_and_clean_does_not(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    dataset = load_dataset("drug", download=False)
    data = Data("drug", dataset.train, dataset.test)
    paper = link_prediction_split(data, "paper", seed=0)
    clean = link_prediction_split(data, "clean", seed=0)
    assert (paper.train.num_edges(), paper.test.num_edges()) == (137_404, 34_352)
    assert clean.train.num_edges() == 137_404 - 75_691
    assert clean.test.num_edges() <= 34_352 - 23_025
    assert clean.known.num_edges() == clean.train.num_edges() + clean.test.num_edges()


def test_negatives_matched_by_size_and_degree() -> None:
    """Popular nodes are as frequent in them as in hyperedges, which uniform ones are not."""
    rng = np.random.default_rng(0)
    chance = np.arange(1, 41) ** -1.0
    sets = [rng.choice(40, 4, replace=False, p=chance / chance.sum()) for _ in range(300)]
    network = HyperNetwork.from_arrays({("a",) * 4: sets}, {"a": 40}, ordered=False)
    split = link_prediction_split(Data("sets", network), "paper", seed=0)
    degree = network.degrees("a")
    mean = {
        scheme: degree[next(iter(split.negatives(scheme=scheme).values()))].mean()
        for scheme in ("all", "matched")
    }
    known = degree[split.test.edge_set().nodes].mean()
    assert abs(mean["matched"] - known) < abs(mean["all"] - known) / 3
