"""A whole training with products: chosen, saved, loaded, ranked and extended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import dhne
from dhne import HyperNetwork
from dhne.hyperparameters.presets import resolve_settings
from dhne.kernels import get_kernels
from dhne.training.assembly import Blueprint, prepare_training
from tests.training.divided_work import CPU, TRIPLES, mixed

PEOPLE = 12
QUICK = {"dim": 4, "epochs": 3, "product_dim": 16, "ranking_epochs": 15, "kernels": "reference"}


@pytest.fixture(scope="module")
def kinship() -> HyperNetwork:
    """Everyone met everyone; who they are to each other depends on both."""
    rows = [
        (f"p{a}", f"r{(a - b) % 3}", f"p{b}")
        for a in range(PEOPLE)
        for b in range(PEOPLE)
        if a != b
    ]
    return HyperNetwork.from_tuples(rows, ("person", "relation", "person"))


def test_products_are_chosen_saved_and_answer(kinship: HyperNetwork, tmp_path: Path) -> None:
    train, valid = kinship.split(0.2, seed=0)
    model = dhne.DHNE(preset="plus", **QUICK).fit(train, validation=valid)
    assert model.settings_.products is True
    assert model.settings_.holdout == 0
    assert model.blend_.products > 0
    model.save(tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    tuples = kinship.edges()[:30]
    np.testing.assert_allclose(again.score(tuples), model.score(tuples), rtol=1e-6)
    ranked = again.rank(("p1", "r1", None), k=5)
    whole = [("p1", "r1", name) for name in ranked.names]
    np.testing.assert_allclose(ranked.scores, again.score(whole), rtol=1e-5)


def test_without_a_validation_part_some_hyperedges_are_held_out(
    kinship: HyperNetwork, tmp_path: Path
) -> None:
    model = dhne.DHNE(preset="plus", **QUICK).fit(kinship)
    assert 0 < model.settings_.holdout <= 0.2
    assert model.blend_.products > 0
    model.save(tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    tuples = kinship.edges()[:30]
    np.testing.assert_allclose(again.score(tuples), model.score(tuples), rtol=1e-6)
    new = [("new", "r1", "p1"), ("new", "r2", "p2")]
    for t, table in model.transform(new).items():
        assert again.transform(new)[t].equals(table)


@pytest.fixture(scope="module")
def clusters() -> HyperNetwork:
    """Rows tell all there is to know."""
    rng = np.random.default_rng(0)
    cluster, member = rng.integers(4, size=400), rng.integers(10, size=(400, 2))
    rows = [
        (f"p{c}{a}", f"r{c % 2}", f"p{c}{b}") for c, (a, b) in zip(cluster, member, strict=True)
    ]
    return HyperNetwork.from_tuples(rows, ("person", "relation", "person"))


SIMILARITY = {"dim": 4, "epochs": 60, "kernels": "reference", "device": "cpu"}
USELESS = {"product_dim": 1, "ranking_epochs": 1, "dropout": 0.9}


def test_if_products_do_not_help_the_model_learns_from_everything(
    clusters: HyperNetwork, tmp_path: Path
) -> None:
    network = clusters
    model = dhne.DHNE(preset="plus", **SIMILARITY, **USELESS).fit(network)
    plain = dhne.DHNE(preset="plus", products=False, **SIMILARITY).fit(network)
    assert model.blend_.products == 0
    assert model.products_ is not None
    model.save(tmp_path / "run")
    for fitted in (model, dhne.load(tmp_path / "run")):
        for t in network.node_types:
            np.testing.assert_array_equal(fitted.embeddings_[t], plain.embeddings_[t])
        np.testing.assert_array_equal(fitted.score(network.edges()), plain.score(network.edges()))


def test_if_few_hyperedges_are_held_out_the_model_is_not_trained_again(
    clusters: HyperNetwork, tmp_path: Path
) -> None:
    model = dhne.DHNE(preset="plus", **SIMILARITY, **USELESS, holdout=0.01).fit(clusters)
    assert model.blend_.products == 0
    rest = clusters.split(0.01, seed=0)[0]
    assert rest.num_edges() < clusters.num_edges()
    alpha = model.settings_.alpha  # follows from the number of all hyperedges
    plain = dhne.DHNE(preset="plus", products=False, alpha=alpha, **SIMILARITY).fit(rest)
    model.save(tmp_path / "run")
    for fitted in (model, dhne.load(tmp_path / "run")):
        for t in clusters.node_types:
            np.testing.assert_array_equal(fitted.embeddings_[t], plain.embeddings_[t])
    again = dhne.load(tmp_path / "run").partial_fit([("p00", "r0", "p39")])
    assert np.isfinite(again.score(clusters.edges())).all()


def test_a_new_node_is_scored_by_its_row(kinship: HyperNetwork) -> None:
    model = dhne.DHNE(preset="plus", **QUICK).fit(kinship)
    other = model.extend([("new", "r1", "p1"), ("new", "r2", "p2")])
    assert np.isfinite(other.score(("new", "r1", "p4")))
    assert len(other.rank(("new", "r1", None), k=3).names) == 3


def test_where_each_type_fills_one_position_there_are_no_products() -> None:
    network = dhne.datasets.planted_clusters(types=3, clusters=2, nodes_per_cluster=5)
    model = dhne.DHNE(preset="plus", dim=4, epochs=2, kernels="reference").fit(network)
    assert model.settings_.products is False
    assert model.products_ is None


@pytest.mark.parametrize("network", [TRIPLES, mixed()])
@pytest.mark.parametrize("preset", [None, "plus"])
def test_what_is_built_on_a_device_trains_the_same_model(
    network: HyperNetwork, preset: str | None
) -> None:
    """Here the device is the CPU, which runs the same code."""
    settings = resolve_settings(preset, {"dim": 4, "epochs": 2, "products": False})
    kernels, histories = get_kernels("reference", CPU), []
    for device in (None, CPU):
        blueprint = Blueprint.of(network, settings, seed=0, dtype=torch.float64, device=device)
        histories.append(prepare_training(blueprint, kernels, CPU, seed=0).run())
    for mine, other in zip(*histories, strict=True):
        assert mine["loss"] == pytest.approx(other["loss"], rel=1e-12)
