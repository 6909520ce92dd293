"""Settings: presets, rules, plain data, and clear messages for mistakes."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters import (
    PRESETS,
    Settings,
    declared,
    resolve_settings,
    rule_batch_size,
    rule_epochs,
)
from dhne.model.losses import loss_names
from dhne.model.similarities import similarity_names
from dhne.sampling.schemes import SCHEMES
from dhne.training.optimizers import RULES


def test_what_is_not_given_comes_from_the_preset() -> None:
    released = resolve_settings("released", {"dim": 16, "alpha": None})
    assert (released.dim, released.alpha) == (16, PRESETS["released"].alpha)
    assert resolve_settings(None, {}) == PRESETS["default"]


def test_the_papers_and_the_released_settings_have_names() -> None:
    paper, released = PRESETS["paper"], PRESETS["released"]
    assert (paper.activation, paper.reconstruction) == ("sigmoid", "sum")
    assert (released.activation, released.reconstruction) == ("tanh", "mean")
    assert (released.optimizer, released.learning_rate, released.decay) == ("rmsprop", 0.01, 1.0)
    assert released.batch_size == 16
    assert paper.dim == released.dim == 64
    assert paper.negatives == released.negatives == 5
    for faithful in (paper, released, PRESETS["default"]):
        assert not faithful.evidence
        assert not faithful.leave_one_out
    assert PRESETS["plus"].evidence
    assert PRESETS["plus"].leave_one_out


def test_a_value_that_says_no_wins_over_the_preset() -> None:
    plus = resolve_settings("plus", {"evidence": False, "validation": 0, "leave_one_out": False})
    assert not plus.evidence
    assert not plus.validation
    assert not plus.leave_one_out


def test_batch_size_and_epochs_follow_from_the_number_of_hyperedges() -> None:
    sizes = [10, 1_000, 46_000, 150_000, 10_000_000]
    batches, epochs = [rule_batch_size(m) for m in sizes], [rule_epochs(m) for m in sizes]
    assert batches == sorted(batches)
    assert epochs == sorted(epochs, reverse=True)
    filled = Settings().for_network(46_000, 1000)
    assert (filled.batch_size, filled.epochs) == (batches[2], epochs[2])
    given = Settings(batch_size=7, epochs=2).for_network(46_000, 1000)
    assert (given.batch_size, given.epochs) == (7, 2)


def test_plus_averages_only_long_trainings_and_decays_to_zero_otherwise() -> None:
    short, long = (PRESETS["plus"].for_network(m, 1000) for m in (1_000, 100_000))
    assert (short.averaging, short.decay) == (0.0, 0.0)
    assert (long.averaging, long.decay) == (0.5, 0.6)
    assert resolve_settings("plus", {"decay": 0.2}).for_network(100_000, 1000).decay == 0.2
    assert PRESETS["default"].for_network(100_000, 1000).averaging == 0


def test_a_batch_is_smaller_with_a_smaller_scale_up_to_the_share_of_large_networks() -> None:
    assert rule_batch_size(46_000, 2.75) < rule_batch_size(46_000)
    assert rule_batch_size(10_000_000, 2.75) == rule_batch_size(10_000_000)


def test_beside_products_the_similarity_has_at_most_the_default_presets_epochs() -> None:
    plus, m = PRESETS["plus"], 60_000
    with_them = plus.with_products(m, 1000, fit=True, given=False)
    assert with_them.products
    assert with_them.epochs == rule_epochs(m) < plus.epochs_for(m)
    without = plus.with_products(m, 1000, fit=False, given=False)
    assert (without.products, without.epochs, without.holdout) == (False, None, 0.0)
    given = resolve_settings("plus", {"epochs": 3})
    assert given.with_products(m, 1000, fit=True, given=False).epochs == 3


def test_sizes_of_layers() -> None:
    settings = Settings(dim={"user": 8, "tag": 4}, encoder_layers=(32, 16), hidden=5)
    assert settings.sizes("user") == (32, 16, 8)
    assert settings.sizes("tag") == (32, 16, 4)
    assert settings.hidden_sizes == (5,)
    assert resolve_settings(None, {"hidden": [9, 3]}).hidden_sizes == (9, 3)
    assert Settings().hidden_sizes == ()
    with pytest.raises(UnknownNameError, match="movie"):
        settings.sizes("movie")


def test_numpys_integers_are_integers() -> None:
    settings = resolve_settings(None, {"dim": np.int64(8), "hidden": np.int32(4)})
    assert settings.sizes("user") == (8,)
    assert settings.hidden_sizes == (4,)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("dim", 0, "dim must be an integer of at least 1, or one per node type, got 0"),
        ("dim", {"user": -1}, "dim must be an integer of at least 1"),
        ("dim", {}, "dim must be an integer of at least 1"),
        ("dim", 2.5, "dim must be an integer of at least 1"),
        ("alpha", -1, "alpha must be a number of at least 0, got -1"),
        ("alpha", float("nan"), "alpha must"),
        ("hidden", 0, "hidden must be"),
        ("hidden", [4, 0], "hidden must be"),
        ("encoder_layers", [0], "encoder_layers must be"),
        ("negatives", 0, "negatives must be an integer of at least 1"),
        ("learning_rate", 0, "learning_rate must be a number above 0"),
        ("learning_rate", float("inf"), "learning_rate must be"),
        ("decay", 2, "decay must be a number between 0 and 1"),
        ("validation", 1, "validation must be a number of at least 0 and below 1"),
        ("epochs", 0, "epochs must be an integer of at least 1"),
        ("epochs", 0.5, "epochs must be an integer of at least 1, got 0.5"),
        ("epochs", True, "epochs must be an integer"),
        ("batch_size", 0, "batch_size must be an integer of at least 1"),
        ("patience", 0, "patience must be an integer of at least 1"),
        ("learning_rate", "fast", "learning_rate must be a number above 0, got 'fast'"),
        ("evidence", "yes", "evidence must be true or false"),
        ("optimizer", 3, "optimizer must be one of adam"),
        ("epochs", "9" * 500, "…$"),
    ],
)
def test_values_outside_their_range_are_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        resolve_settings(None, {name: value})


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("optimizer", "adamm", "adam"),
        ("activation", "tan", "tanh"),
        ("reconstruction", "sums", "sum"),
        ("negative_scheme", "papers", "paper"),
    ],
)
def test_unknown_words_get_a_suggestion(name: str, value: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{near}'"):
        resolve_settings(None, {name: value})


def test_an_unknown_preset_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'released'"):
        resolve_settings("release", {})


def test_settings_that_were_saved_come_back() -> None:
    settings = Settings(dim={"user": 3}, hidden=(4, 5), encoder_layers=(6,), epochs=7)
    assert Settings.from_dict(json.loads(json.dumps(asdict(settings)))) == settings
    assert Settings.from_dict({"dim": 8}) == Settings(dim=8)  # saved before the others existed
    with pytest.raises(UnknownNameError, match="unknown hyper-parameter 'dimm': did you mean"):
        Settings.from_dict({"dimm": 8})


def test_the_names_that_are_declared_are_those_there_are() -> None:
    known = declared(Settings)
    assert set(known["similarity"].choices or ()) == set(similarity_names())
    assert set(known["loss"].choices or ()) == set(loss_names())
    assert set(known["optimizer"].choices or ()) == set(RULES)
    assert set(known["negative_scheme"].choices or ()) == set(SCHEMES)
