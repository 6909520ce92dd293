"""A short list holds the best of very many candidates, or says that it may not."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.answers.completion import Completer, Question
from dhne.answers.ranking import top_k
from dhne.answers.shortlist import Sketch
from dhne.kernels.compiled.ranking import largest_sums
from dhne.network.edges import EdgeType

N = 5000
TYPES = EdgeType(("user", "item", "tag"))


@pytest.mark.parametrize(("depth", "wanted"), [(1, 1), (3, 7), (16, 300), (5, N)])
def test_the_largest_sums_are_found_and_the_lower_of_equals(depth: int, wanted: int) -> None:
    rng = np.random.default_rng(depth)
    features = rng.integers(-3, 4, (depth, N)).astype(np.float32)  # many equal sums
    factors = rng.integers(-3, 4, (4, depth)).astype(np.float32)
    margins = rng.integers(0, 2, N).astype(np.float32)
    ids = np.empty((4, wanted), np.int64)
    bars = largest_sums(features, margins, factors, ids)
    for row, bar, sums in zip(ids, bars, factors @ features + margins, strict=True):
        best = top_k(sums, wanted)
        np.testing.assert_array_equal(row, np.sort(best))
        assert bar == sums[best[-1]]


@pytest.fixture(scope="module")
def model() -> DHNE:
    rng = np.random.default_rng(0)
    nodes = {"user": 50, "item": N, "tag": 20}
    edges = np.stack([rng.integers(0, n, 2 * N) for n in nodes.values()], axis=1)
    network = HyperNetwork.from_arrays({tuple(nodes): edges}, nodes)
    return DHNE(dim=8, epochs=2, kernels="reference").fit(network)


def engine(model: DHNE) -> Completer:
    return Completer(model, model._scorer, least_listed=1000)


@pytest.mark.parametrize("drop_known", [False, True])
def test_short_lists_give_what_all_candidates_give(model: DHNE, drop_known: bool) -> None:
    asked = [Question(TYPES, (u, -1, u % 20), k=10, drop_known=drop_known) for u in range(40)]
    completer = engine(model)
    expected = completer.answer(asked)
    completer.make_short_lists()
    found = completer.answer(asked)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.tuples, b.tuples)
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-5)
    nodes = np.array([q.nodes for q in asked])
    none = [np.empty(0, np.int64)] * len(asked)
    lists = completer._short_lists(asked, nodes, none, 1)
    assert any(ids is not None for ids in lists)


def test_where_a_short_list_is_not_certain_all_candidates_are_looked_at(model: DHNE) -> None:
    asked = [Question(TYPES, (1, -1, 2), k=10)]
    completer = engine(model)
    expected = completer.answer(asked)[0]
    completer.make_short_lists()
    blind = Sketch(np.zeros((N, 16), np.float32), np.full(N, 1e6, np.float32))
    for landmarks in completer._landmarks.values():
        landmarks.sketch = blind
    np.testing.assert_array_equal(completer.answer(asked)[0].tuples, expected.tuples)
