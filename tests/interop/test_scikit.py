"""scikit-learn's own tools over hyperedges: cross-validation, grid search, pipelines, clone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dhne import DHNE, HyperNetwork
from dhne.errors import NotFittedError, ParameterError, UnknownNameError
from dhne.interop import Hyperedges, LinkPredictionScorer, NodeVectors, link_prediction_auc
from dhne.sampling import KnownEdges
from tests.interop.models import clusters, films, fitted

MODEL = DHNE(dim=6, epochs=12, batch_size=256, learning_rate=0.02, kernels="reference")
FOLDS = KFold(3, shuffle=True, random_state=0)


def test_rows_are_hyperedges_of_the_same_nodes() -> None:
    network = films()
    samples = Hyperedges.of(network)
    assert samples == network
    assert len(samples) == samples.shape[0] == 5
    assert list(samples)[1] == ("bob", "Heat", "Heat")
    part = samples[np.array([True, False, False, False, True])]
    assert list(part) == [("ann", "Heat", "noir"), ("bob", "bob")]
    assert part.weights(("user", "movie", "tag")).tolist() == [1.0]
    assert part.num_nodes() == network.num_nodes()
    assert part.labels("movie") == network.labels("movie")
    assert list(samples[3:]) == [("ann", "bob"), ("bob", "bob")]
    assert list(samples[-1]) == [("bob", "bob")]
    with pytest.raises(ParameterError, match="rows out of range"):
        samples[[7]]


def test_cross_validation_scores_each_fold_on_hyperedges_that_were_held_out() -> None:
    samples = Hyperedges.of(clusters())
    scores = cross_val_score(MODEL, samples, scoring=link_prediction_auc, cv=FOLDS)
    by_hand = []
    for train, test in FOLDS.split(samples):
        model = clone(MODEL).fit(samples[train])
        assert (
            not KnownEdges(samples[train])
            .contains(samples[test].edges(), samples.edge_types[0])
            .any()
        )
        by_hand.append(link_prediction_auc(model, samples[test]))
    assert scores.tolist() == by_hand
    assert scores.min() > 0.6


def test_several_metrics_at_once() -> None:
    scoring = {"auc": link_prediction_auc, "aupr": LinkPredictionScorer("aupr")}
    found = cross_validate(MODEL, Hyperedges.of(clusters()), scoring=scoring, cv=FOLDS)
    assert len(found["test_auc"]) == len(found["test_aupr"]) == 3
    assert (found["test_aupr"] > 1 / 6).all()


def test_grid_search_prefers_training_to_none() -> None:
    samples = Hyperedges.of(clusters())
    grid = {"learning_rate": [1e-9, 0.02], "alpha": [0.1]}
    search = GridSearchCV(MODEL, grid, scoring=link_prediction_auc, cv=FOLDS).fit(samples)
    assert search.best_params_ == {"alpha": 0.1, "learning_rate": 0.02}
    assert search.best_estimator_.network_.num_edges() == len(samples)
    assert 0 <= search.best_estimator_.score(next(iter(samples))) <= 1


def test_a_pipeline_prepares_the_network_and_is_searched() -> None:
    doubled = Hyperedges.of(clusters().merge(clusters(), fold=False))
    fold = FunctionTransformer(HyperNetwork.fold, validate=False)
    pipeline = Pipeline([("fold", fold), ("dhne", MODEL)])
    whole = clone(pipeline).fit(doubled)
    assert whole[-1].network_.num_edges() == len(clusters().fold().edges()) == len(doubled) // 2
    search = GridSearchCV(
        pipeline, {"dhne__dim": [2, 4]}, scoring=link_prediction_auc, cv=FOLDS
    ).fit(doubled)
    assert search.best_params_["dhne__dim"] in (2, 4)


def test_names_become_vectors_in_front_of_a_classifier() -> None:
    model = fitted()
    t = model.network_.node_types[0]
    names = np.array(model.network_.names(t).to_pylist())
    target = np.array([x[0] for x in model.network_.labels(t).to_pylist()])
    pipeline = make_pipeline(NodeVectors(model.vectors(t)), StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(names, target)
    assert search.score(names, target) == 1
    assert list(pipeline[0].fit(names).get_feature_names_out())[:2] == ["dimension0", "dimension1"]
    np.testing.assert_array_equal(
        NodeVectors(model.vectors(t)).fit_transform(names[:, None]), model.vectors_[t]
    )
    with pytest.raises(UnknownNameError):
        search.predict(np.array([10**6]) if names.dtype.kind == "i" else np.array(["nobody"]))


def test_a_clone_is_unfitted_and_equal_in_its_parameters() -> None:
    copy = clone(fitted())
    assert copy.get_params() == fitted().get_params()
    assert not hasattr(copy, "network_")
    assert clone(MODEL.set_params(alpha=2.0)).alpha == 2.0
    MODEL.set_params(alpha=None)


def test_mistakes() -> None:
    with pytest.raises(ParameterError, match=r"Hyperedges\.of"):
        link_prediction_auc(fitted(), [("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="got LogisticRegression"):
        link_prediction_auc(LogisticRegression(), clusters())
    with pytest.raises(NotFittedError):
        link_prediction_auc(DHNE(), clusters())
    with pytest.raises(ParameterError, match="no hyperedges"):
        link_prediction_auc(fitted(), Hyperedges.of(clusters())[[]])
    with pytest.raises(ParameterError, match="'auc' or 'aupr'"):
        LinkPredictionScorer("f1")(fitted(), clusters())  # type: ignore[arg-type]
