"""The quick way to rank gives what the model gives, whatever the model's form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dhne import DHNE
from dhne.explorer.completion import Completer, Question

from .conftest import network

TYPES = ("user", "movie", "tag")


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
    model = DHNE(dim=6, epochs=2, kernels="reference", **settings).fit(network())
    completer = Completer(model)
    asked = [Question(0, (u, m, -1), k=5, drop_known=False) for u, m in ((0, 1), (7, 3), (29, 29))]
    for question, found in zip(asked, completer.answer(asked), strict=True):
        expected = model.rank(np.array(question.nodes), k=5, edge_type=TYPES)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
        names = model.network_.vocabulary("tag").take(found.tuples[:, 2]).to_pylist()
        assert names == expected.names
    assert (completer._table(TYPES, 2) is not None) == quick


def test_projections_too_large_for_exponentials_are_left_to_the_model() -> None:
    model = DHNE(dim=6, epochs=1, kernels="reference").fit(network())
    for projection in model.model_.similarity(TYPES).projections:
        projection.data.mul_(1e4)
    completer = Completer(model)
    found = completer.answer([Question(0, (0, 1, -1), k=5, drop_known=False)])[0]
    expected = model.rank(np.array([0, 1, -1]), k=5, edge_type=TYPES)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    assert completer._table(TYPES, 2) is None


def test_equal_candidates_come_in_the_order_of_their_ids() -> None:
    model = DHNE(dim=6, epochs=1, kernels="reference").fit(network())
    model.embeddings_["movie"][:] = 0  # equal to the last bit, however a product is rounded
    found = Completer(model).answer([Question(0, (0, -1, 0), k=6, drop_known=False)])[0]
    assert found.tuples[:, 1].tolist() == [0, 1, 2, 3, 4, 5]
