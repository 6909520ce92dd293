"""AUC, average precision, ROC and F1 against scikit-learn and against hand-computed cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from dhne.errors import ParameterError
from dhne.evaluation.metrics import auc, average_precision, f1_scores, roc

SCORES = st.lists(st.integers(0, 6), min_size=1, max_size=40)


@given(SCORES, SCORES)
def test_auc_is_the_share_of_pairs_in_order(positive: list[int], negative: list[int]) -> None:
    p, q = np.array(positive, float), np.array(negative, float)
    pairs = (p[:, None] > q).mean() + (p[:, None] == q).mean() / 2
    truth = np.r_[np.ones(len(p)), np.zeros(len(q))]
    assert auc(p, q) == pytest.approx(pairs)
    assert auc(p, q) == pytest.approx(roc_auc_score(truth, np.r_[p, q]))
    assert average_precision(p, q) == pytest.approx(average_precision_score(truth, np.r_[p, q]))


def test_average_precision_by_hand() -> None:
    # Ranked + - + -: precision 1 at the first hit, 2/3 at the second.
    assert average_precision(np.array([4.0, 2.0]), np.array([3.0, 1.0])) == pytest.approx(5 / 6)


@given(st.integers(0, 100))
def test_a_thinned_roc_curve_keeps_ends_and_area(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive, negative = rng.normal(0.7, 1, 3000), rng.normal(0, 1, 9000)
    curve = roc(positive, negative, points=150)
    assert len(curve.fpr) <= 150
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(auc(positive, negative), abs=2e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_numbers_are_refused(bad: float) -> None:
    with pytest.raises(ParameterError, match="not finite"):
        auc(np.array([bad]), np.array([0.0]))


def test_auc_without_negatives_says_so() -> None:
    with pytest.raises(ParameterError, match="negatives"):
        auc(np.array([1.0]), np.array([]))


@given(st.integers(0, 200))
def test_f1_of_several_labels_a_node_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.random((2, 30, 7)) < rng.random(7) * 0.5
    micro, macro = f1_scores(truth, predicted)
    assert micro == pytest.approx(f1_score(truth, predicted, average="micro", zero_division=0))
    assert macro == pytest.approx(f1_score(truth, predicted, average="macro", zero_division=np.nan))


@given(st.integers(0, 200))
def test_f1_of_one_label_a_node_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 5, (2, 40))
    one_hot = np.eye(5, dtype=bool)
    micro, macro = f1_scores(one_hot[truth], one_hot[predicted])
    assert micro == pytest.approx((truth == predicted).mean())
    assert macro == pytest.approx(f1_score(truth, predicted, average="macro"))
