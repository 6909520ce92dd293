"""Models that go on learning when their network grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from dhne import DHNE, HyperNetwork, load
from dhne.kernels.reference import ReferenceKernels
from dhne.model.blend import Blend
from dhne.model.place_evidence import PlaceEvidence
from dhne.network.hypernetwork import EdgeColumns
from dhne.training.assembly import Blueprint, prepare_training
from dhne.training.updating import Effort
from tests.training.tastes import TYPES, fitted, triples


def test_an_update_goes_on_from_what_was_learned() -> None:
    model = fitted(epochs=60)
    last = model.history_[-1]["loss"]
    first = model.history_[0]["loss"]
    model.partial_fit([("u0", "m0", "t0")], epochs=1)
    assert model.history_[-1]["loss"] < (last + first) / 2


def test_new_edge_types_and_node_types() -> None:
    model = fitted()
    model.partial_fit(
        HyperNetwork.from_columns(
            [EdgeColumns(("user", "city"), [["u0", "u1", "new"], ["Rome", "Oslo", "Rome"]])]
        ),
        epochs=2,
    )
    assert 0 < model.score(("new", "Rome")) < 1
    assert model.embeddings_["city"].shape == (2, 6)


def test_an_updated_model_is_an_ordinary_run(tmp_path: Path) -> None:
    model = fitted()
    for number in (1, 2):
        model.partial_fit(triples(10, number, users=40), epochs=1)
        model.save(tmp_path / "run")
        found = load(tmp_path / "run")
        for t in TYPES:
            np.testing.assert_array_equal(found.vectors_[t], model.vectors_[t])
        assert found.history_ == model.history_
        assert len(found.updates_) == number
        model = found


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop", "sgd"])
def test_the_optimizer_goes_on_with_its_moments(tmp_path: Path, optimizer: str) -> None:
    model = fitted(optimizer=optimizer)
    model.save(tmp_path / "run")
    assert (tmp_path / "run" / "optimizer.safetensors").is_file()
    loaded, without = load(tmp_path / "run"), load(tmp_path / "run")
    steps = int(model.optimizer_["steps"])
    without.optimizer_ = None  # as of a run of an earlier version
    for one in (model, loaded, without):
        one.partial_fit(triples(10, 1, users=40), epochs=1)
    for t in TYPES:
        np.testing.assert_array_equal(loaded.embeddings_[t], model.embeddings_[t])
    assert int(loaded.optimizer_["steps"]) > steps
    same = all(np.array_equal(without.embeddings_[t], model.embeddings_[t]) for t in TYPES)
    assert same == (optimizer == "sgd")


def test_moments_move_with_the_rows_they_belong_to() -> None:
    model = fitted(preset="plus")
    old, rows = model.optimizer_, model.rows_["movie"].adjacency
    network = model.network_.merge(
        HyperNetwork.from_tuples([("new", "m0", "t0"), ("u0", "m2", "fresh")], TYPES), fold=False
    )
    update = model._begin_update(1, Effort(1))
    blueprint = Blueprint.of(network, model.settings_, seed=0, dtype=torch.float32)
    training = prepare_training(blueprint, ReferenceKernels(), torch.device("cpu"), seed=0)
    update.carry_over(training, blueprint.rows)
    key, now = "autoencoders.type_movie.decoder_table:1", blueprint.rows["movie"].adjacency
    moved = training.optimizer.state_dict()[key]
    for t, size in rows.sizes.items():
        torch.testing.assert_close(
            moved[now.blocks[t] : now.blocks[t] + size],
            old[key][rows.blocks[t] : rows.blocks[t] + size],
        )
    assert not moved[now.blocks["user"] + rows.sizes["user"]].any()


def test_products_go_on_from_where_they_were() -> None:
    facts = [(f"e{i}", f"r{(i + j) % 3}", f"e{j}") for i in range(12) for j in range(12) if i != j]
    network = HyperNetwork.from_tuples(facts[:100], ("entity", "relation", "entity"))
    options = {"preset": "plus", "products": True, "product_dim": 8, "epochs": 3, "dim": 4}
    model = DHNE(**options, ranking_epochs=20, device="cpu", kernels="reference").fit(network)
    model.blend_ = Blend(1.0, 1.0)
    before, blend, calibration = model.products_, model.blend_, model.calibration_
    new = HyperNetwork.from_tuples([*facts[100:110], ("new", "r0", "e1")], network.edge_types[0])
    model.partial_fit(new, epochs=1)
    assert len(model.ranking_history_) == 2
    assert (model.blend_, model.calibration_) == (blend, calibration)
    old, now = (p.vectors["type_entity"].detach() for p in (before, model.products_))
    assert len(now) == len(old) + 1
    assert 0 < (now[: len(old)] - old).norm() < 0.5 * old.norm()
    model.blend_ = Blend(1.0, 0.0)  # products that do not help only grow
    model.partial_fit([("newer", "r0", "e1")], epochs=1)
    assert model.ranking_history_ == []
    grown = model.products_.vectors["type_entity"].detach()
    assert torch.equal(grown[: len(now)], now)


def test_weights_of_places_are_those_of_the_same_places() -> None:
    network = HyperNetwork.from_tuples([("a", "r", "b"), ("b", "s", "c"), ("a", "s", "c")], "xyx")
    larger = network.merge(HyperNetwork.from_tuples([("d", "q", "a")], "xyx"), fold=False)
    old, new = PlaceEvidence(network, "y"), PlaceEvidence(larger, "y")
    with torch.no_grad():
        old.weights.copy_(torch.arange(len(old.weights)) + 1.0)
        new.copy_weights(old)
        nodes = torch.from_numpy(network.edges().copy())
        types = network.edge_types[0]
        torch.testing.assert_close(new.of_tuples(nodes, types), old.of_tuples(nodes, types))
    assert len(new.weights) > len(old.weights)


def test_ten_updates_leave_a_run_like_one_that_was_trained_at_once(tmp_path: Path) -> None:
    everything, model = triples(120, 0), fitted()
    for number in range(10):
        batch = triples(6, number + 1, users=40)
        everything += batch
        model.partial_fit(batch, epochs=1)
    model.save(tmp_path / "updated")
    fresh = HyperNetwork.from_tuples(everything, TYPES)
    at_once = DHNE(dim=6, epochs=10, device="cpu", kernels="reference").fit(fresh)
    at_once.save(tmp_path / "fresh")
    shapes = []
    for run in (tmp_path / "updated", tmp_path / "fresh"):
        files = sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())
        tensors = {k: v.shape for k, v in load_file(run / "model.safetensors").items()}
        moments = {k: v.shape for k, v in load_file(run / "optimizer.safetensors").items()}
        shapes.append((files, tensors, moments))
    assert shapes[0] == shapes[1]
    assert (tmp_path / "updated" / "config.json").stat().st_size < 10_000
    assert len(load(tmp_path / "updated").updates_) == 10
