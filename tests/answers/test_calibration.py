"""Probabilities: fitted on what was held out, right at any number of negatives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dhne
from dhne import DHNE, HyperNetwork
from dhne.answers.calibration import Calibration, Reliability
from dhne.errors import ParameterError


def test_the_fit_is_a_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(1.5, 2, 3000), rng.normal(-1, 1, 9000)
    found = Calibration.fit(x, y)
    both = np.concatenate([x, y])[:, None]
    expected = LogisticRegression(C=1e9, tol=1e-10).fit(both, np.repeat([1, 0], [3000, 9000]))
    assert found.scale == pytest.approx(expected.coef_[0, 0], rel=0.01)
    assert found.offset == pytest.approx(expected.intercept_[0], rel=0.01)
    assert (found.negatives, found.held_out) == (3.0, 3000)


@pytest.mark.parametrize("negatives", [1, 5, 40])
def test_probabilities_hold_at_any_number_of_negatives(negatives: int) -> None:
    rng = np.random.default_rng(1)
    found = Calibration.fit(rng.normal(1, 1, 5000), rng.normal(-1, 1, 15000))
    x, y = rng.normal(1, 1, 2000), rng.normal(-1, 1, 2000 * negatives)
    p = [found.probability(z, negatives=negatives) for z in (x, y)]
    assert Reliability.of(*p).error < 0.02
    uncorrected = Reliability.of(found.probability(x), found.probability(y)).error
    assert negatives == 3 or uncorrected > 0.02


@pytest.mark.parametrize(
    ("x", "y"),
    [([9.0, 10.0], [-9.0, -10.0]), ([0.0], [0.0]), ([-1.0, -2.0], [3.0, 1.0]), ([1e8], [-1e8])],
)
def test_few_or_odd_logits_give_finite_rising_probabilities(x: list[float], y: list[float]) -> None:
    found = Calibration.fit(np.array(x), np.array(y))
    p = found.probability(np.array([-50.0, 0.0, 50.0]))
    assert np.isfinite(p).all()
    assert (np.diff(p) >= 0).all()


def test_the_error_is_the_mean_gap_over_bins() -> None:
    curve = Reliability.of(np.array([0.95, 0.95, 0.15]), np.array([0.15, 0.15, 0.15, 0.15]))
    np.testing.assert_allclose(curve.predicted, [0.15, 0.95])
    np.testing.assert_allclose(curve.observed, [0.2, 1.0])
    assert curve.error == pytest.approx((5 * 0.05 + 2 * 0.05) / 7)


def network() -> HyperNetwork:
    return dhne.load_dataset("wordnet-sample").train


def test_validation_calibrates_and_the_run_keeps_it(tmp_path: Path) -> None:
    model = DHNE(dim=8, epochs=2, validation=0.1, kernels="reference").fit(network())
    assert model.calibration_.held_out > 0
    some = network().edge_set().nodes[:5]
    p = model.probability(some)
    assert ((p > 0) & (p < 1)).all()
    assert (model.probability(some, negatives=100) < p).all()
    assert model.probability(some[0]) == pytest.approx(p[0])
    model.save(tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    assert again.calibration_ == model.calibration_
    np.testing.assert_allclose(again.probability(some), p)


def test_without_held_out_hyperedges_it_is_what_training_aims_at() -> None:
    train, test = network().split(0.2, seed=0)
    model = DHNE(dim=8, epochs=2, negatives=3, kernels="reference").fit(train)
    assert model.calibration_ == Calibration(negatives=3.0)
    some = train.edge_set().nodes[:5]
    np.testing.assert_allclose(model.probability(some), model.score(some))
    assert model.calibrate(test).calibration_.held_out == len(test.edge_set())


def test_mistakes_are_explained() -> None:
    with pytest.raises(ParameterError, match="got 0 and 2"):
        Calibration.fit(np.empty(0), np.zeros(2))
    with pytest.raises(ParameterError, match="negatives must be a positive number, got 0"):
        Calibration().probability(np.zeros(1), negatives=0)
    for record in ({}, {"scale": "x"}, {"scale": -1, "offset": 0, "negatives": 1, "held_out": 0}):
        with pytest.raises(ParameterError, match="the calibration"):
            Calibration.from_record(record)
