"""The quick way to rank gives what the model gives, whatever the model's form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.answers.completion import Completer, Question
from dhne.answers.ranking import top_k
from dhne.model.similarities import Similarity
from dhne.network.edges import EdgeType

SIZES = {"user": 30, "movie": 30, "tag": 12}
TYPES = EdgeType(SIZES)


def network() -> HyperNetwork:
    rng = np.random.default_rng(0)
    nodes = np.stack([rng.integers(0, n, 300) for n in SIZES.values()], axis=1)
    return HyperNetwork.from_arrays({TYPES: nodes}, SIZES)


def fitted(**settings: Any) -> DHNE:
    return DHNE(dim=6, epochs=2, kernels="reference", **settings).fit(network())


def completer(model: DHNE) -> Completer:
    """An engine that uses its tables even for the few candidates here."""
    return Completer(model, model._scorer, least_quick=1)


def similarity(model: DHNE) -> Similarity:
    return model.model_.similarity(TYPES)


@pytest.mark.parametrize(
    ("settings", "quick"),
    [
        ({}, True),
        ({"activation": "sigmoid"}, True),
        ({"dtype": "float64"}, True),
        ({"activation": "linear"}, False),
        ({"hidden": (16, 8)}, False),
        ({"evidence": True}, False),
    ],
)
def test_completions_are_the_model_s(settings: dict[str, Any], quick: bool) -> None:
    model = fitted(**settings)
    assert similarity(model).has_quick_form == quick
    asked = [Question(TYPES, (u, m, -1), k=5) for u, m in ((0, 1), (7, 3), (29, 29))]
    for question, found in zip(asked, completer(model).answer(asked), strict=True):
        tuples = np.array([[*question.nodes[:2], tag] for tag in range(SIZES["tag"])])
        scores = model.score_ids(tuples, TYPES)
        best = top_k(scores, 5)
        np.testing.assert_array_equal(found.tuples, tuples[best])
        np.testing.assert_allclose(found.scores, scores[best], rtol=1e-6)


def test_rank_gives_what_the_engine_gives_and_score_the_same_numbers() -> None:
    model = fitted()
    queries = [(u, None, t) for u, t in ((0, 1), (7, 3), (29, 11))]
    asked = [Question(TYPES, (u, -1, t), k=4) for u, _, t in queries]
    ranked = model.rank(queries, k=4)
    for ranking, found in zip(ranked, completer(model).answer(asked), strict=True):
        assert ranking.names == found.tuples[:, 1].tolist()
        np.testing.assert_allclose(ranking.scores, model.score(found.tuples), rtol=1e-6)


@pytest.mark.parametrize("quick", [True, False])
def test_two_open_positions_are_completed_from_either_form(quick: bool) -> None:
    model = fitted(**({} if quick else {"evidence": True}))
    found = completer(model).answer([Question(TYPES, (3, -1, -1), k=8)])[0]
    every = np.array([[3, m, t] for m in range(30) for t in range(12)])
    scores = model.score_ids(every, TYPES)
    np.testing.assert_allclose(found.scores, np.sort(scores)[::-1][:8], rtol=1e-6)


def test_projections_too_large_for_exponentials_are_left_to_the_model() -> None:
    model = fitted()
    for projection in similarity(model).projections:  # type: ignore[union-attr]
        projection.data.mul_(1e4)
    engine = completer(model)
    assert model._scorer.quick_form(TYPES, 2) is None
    found = engine.answer([Question(TYPES, (0, 1, -1), k=5)])[0]
    expected = model.score_candidates(np.array([[0, 1, -1]]), TYPES, 2)[0]
    np.testing.assert_allclose(found.scores, np.sort(expected)[::-1][:5], rtol=1e-5)


def test_equal_candidates_come_in_the_order_of_their_ids() -> None:
    """Equal but for the last bit, which depends on where in a product a row is."""
    model = fitted()
    model.embeddings_["movie"][:] = 0
    found = completer(model).answer([Question(TYPES, (0, -1, 0), k=6)])[0]
    np.testing.assert_allclose(found.scores, found.scores[0], rtol=1e-6)
    for score in set(found.scores.tolist()):
        ids = found.tuples[found.scores == score, 1]
        assert (np.diff(ids) > 0).all()


def test_a_model_that_was_fitted_again_answers_anew() -> None:
    model = fitted()
    before = model.rank((0, None, 0), k=30), model.similar("movie", 0, k=29)
    other = network().split(0.5, seed=1)[0]
    model.fit(other)
    after = model.rank((0, None, 0), k=30), model.similar("movie", 0, k=29)
    fresh = DHNE(dim=6, epochs=2, kernels="reference").fit(other)
    for old, new, expected in zip(
        before, after, (fresh.rank((0, None, 0), k=30), fresh.similar("movie", 0, k=29)),
        strict=True,
    ):  # fmt: skip
        assert not np.array_equal(old.scores, new.scores)
        np.testing.assert_array_equal(new.scores, expected.scores)
