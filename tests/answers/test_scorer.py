"""Scores of tuples and of every candidate: the same numbers, in any order and any chunks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from dhne import DHNE, HyperNetwork
from dhne.answers.scorer import encode_all
from dhne.datasets import power_law
from dhne.kernels.reference import ReferenceKernels

QUICK = {"dim": 4, "epochs": 3, "kernels": "reference", "device": "cpu"}


@pytest.fixture(scope="module", params=["plain", "plus"])
def fitted(request: pytest.FixtureRequest) -> DHNE:
    network = power_law(300, nodes=(30, 40, 20), clusters=4, seed=1).fold()
    options = {"preset": "plus"} if request.param == "plus" else {}
    return DHNE(**{**QUICK, **options}).fit(network)


def test_ranking_one_position_is_scoring_every_candidate(fitted: DHNE) -> None:
    for query in [(3, 5, None), (None, 5, 7), (3, None, 7)]:
        position = query.index(None)
        n = fitted.network_.num_nodes(fitted.network_.node_types[position])
        tuples = np.array([[*query[:position], v, *query[position + 1 :]] for v in range(n)])
        names, scores = fitted.rank(query, k=n)
        expected = fitted.score(tuples)
        np.testing.assert_allclose(scores, expected[names], rtol=1e-5)
        assert sorted(names) == list(range(n))
        np.testing.assert_allclose(scores, np.sort(expected)[::-1], rtol=1e-5)
        head = fitted.rank(query, k=5)
        assert head.names == names[:5]


def test_answers_come_in_chunks_without_a_seam(
    fitted: DHNE, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = fitted.network_.edges()
    whole, ranked = fitted.score(edges), fitted.rank((3, 5, None), k=20)
    monkeypatch.setattr("dhne.answers.scorer._NUMBERS", 7 * 12)
    np.testing.assert_allclose(fitted.score(edges), whole, rtol=1e-6)
    np.testing.assert_allclose(fitted.rank((3, 5, None), k=20).scores, ranked.scores, rtol=1e-6)


@pytest.mark.parametrize("plus", [False, True])
def test_the_order_of_a_set_changes_no_bit(plus: bool) -> None:
    rng = np.random.default_rng(0)
    sets = {("a",) * n: np.array([rng.permutation(12)[:n] for _ in range(12)]) for n in (2, 3, 4)}
    network = HyperNetwork.from_arrays(sets, {"a": 12}, ordered=False)
    options = {"preset": "plus"} if plus else {}
    model = DHNE(**{**QUICK, **options}).fit(network)
    for members in [(3, 7), (0, 5, 9), (1, 4, 8, 11), (2, 3, 5, 7, 11)]:
        assert len({model.score(order) for order in itertools.permutations(members)}) == 1
        answers = set()
        for order in itertools.permutations((*members[1:], None)):
            names, scores = model.rank(order, k=12)
            assert not set(names) & set(members[1:]), "no member is proposed again"
            answers.add((tuple(names), scores.tobytes()))
        assert len(answers) == 1


def test_rows_encoded_in_chunks_are_the_embeddings(
    fitted: DHNE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dhne.answers.scorer._NON_ZEROS", 5)
    for t, rows in fitted.rows_.items():
        matrix = rows.matrix(device=torch.device("cpu"), dtype=torch.float32)
        found = encode_all(fitted.model_, ReferenceKernels(), t, matrix)
        np.testing.assert_allclose(found.numpy(), fitted.embeddings_[t], atol=1e-6)
