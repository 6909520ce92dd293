"""One position ranked over what may hold anything, against trying everything."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.answers import free_positions
from dhne.errors import ParameterError
from tests.toy import Toy

SIZES = {"patient": 9, "drug": 8, "ward": 7, "hospital": 5}
TYPES = tuple(SIZES)


def network() -> HyperNetwork:
    rng = np.random.default_rng(0)
    nodes = np.stack([rng.integers(0, n, 60) for n in SIZES.values()], axis=1)
    return HyperNetwork.from_arrays({TYPES: nodes}, SIZES)


@pytest.fixture(scope="module")
def model() -> DHNE:
    return DHNE(dim=5, epochs=3, kernels="reference").fit(network())


def every_score(model: DHNE | Toy, patient: int) -> np.ndarray:
    """S of all tuples of one patient, as an array [drug, ward, hospital]."""
    sizes = list(SIZES.values())[1:]
    rest = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, 3)
    tuples = np.concatenate([np.full((len(rest), 1), patient), rest], axis=1)
    scores: np.ndarray = model.score_ids(tuples, model.network_.edge_types[0]).reshape(sizes)
    return scores


def test_few_rests_are_all_tried(model: DHNE) -> None:
    found = model.rank({"patient": 3, "drug": None}, k=8)
    best = every_score(model, 3).max(axis=(1, 2))
    assert found.exact
    np.testing.assert_allclose(found.scores, np.sort(best)[::-1], rtol=1e-6)
    np.testing.assert_allclose(best[found.names], found.scores, rtol=1e-6)
    np.testing.assert_allclose(model.score(found.tuples), found.scores, rtol=1e-6)
    assert all(t[0] == 3 for t in found.tuples)
    assert model.rank((3, None, ..., ...), k=8).names == found.names


def test_a_beam_gives_lower_bounds_that_whole_tuples_attain(
    model: DHNE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_positions, "_ALL", 0)
    for patient in range(9):
        found = model.rank({"patient": patient, "drug": None}, k=3, beam=2)
        best = every_score(model, patient).max(axis=(1, 2))
        assert not found.exact
        assert list(found.scores) == sorted(found.scores, reverse=True)
        np.testing.assert_allclose(model.score(found.tuples), found.scores, rtol=1e-6)
        assert (found.scores <= best[found.names] * (1 + 1e-6)).all()
        # No single position of the rest could be changed for the better.
        for t, score in zip(found.tuples, found.scores, strict=True):
            for p in (2, 3):
                query = tuple(None if q == p else v for q, v in enumerate(t))
                assert model.rank(query, k=1).scores[0] <= score * (1 + 1e-6)


def test_the_expected_rest_is_that_of_known_hyperedges() -> None:
    model = Toy().fit(network())
    found = model.rank({"patient": 3, "drug": None}, k=8, rest="expected", beam=100)
    rests = model.network_.edge_set().nodes[:, 2:]
    mean = every_score(model, 3)[:, rests[:, 0], rests[:, 1]].mean(axis=1)
    assert found.exact
    np.testing.assert_allclose(found.scores, np.sort(mean)[::-1])
    np.testing.assert_allclose(mean[found.names], found.scores)
    assert not model.rank({"patient": 3, "drug": None}, rest="expected", beam=5).exact


def test_candidates_seen_with_what_is_given_can_be_dropped(model: DHNE) -> None:
    nodes = model.network_.edge_set().nodes
    seen = set(nodes[nodes[:, 0] == 3, 1].tolist())
    found = model.rank({"patient": 3, "drug": None}, k=8, known="drop")
    assert seen
    assert set(found.names) == set(range(8)) - seen


def test_what_cannot_be_asked_is_explained(model: DHNE) -> None:
    with pytest.raises(ParameterError, match="rest must be 'best' or 'expected', got 'worst'"):
        model.rank({"patient": 3, "drug": None}, rest="worst")
    with pytest.raises(ParameterError, match="leave exactly one position open, not 2"):
        model.rank({"patient": None, "drug": None})
    sets = HyperNetwork.from_tuples([("a", "b", "c")], ("x", "x", "x"), ordered=False)
    with pytest.raises(ParameterError, match="has sets"):
        Toy().fit(sets).rank(("a", None, ...))
