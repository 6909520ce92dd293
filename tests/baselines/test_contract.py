"""What every baseline must do, whatever its method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from dhne import HyperNetwork
from dhne.errors import NotFittedError, ParameterError, UnknownNameError
from dhne.methods import METHODS, find_method, make_method
from dhne.network.edge_type import EdgeType
from dhne.network.edges import EdgeSet
from dhne.network.vocabulary import Vocabulary

# Enough training for a network of a few dozen nodes, and no more.
SMALL: dict[str, dict[str, Any]] = {
    "deepwalk": {"epochs": 5, "walk_length": 20, "learning_rate": 0.05},
    "node2vec": {"epochs": 5, "walk_length": 20, "learning_rate": 0.05, "q": 0.5},
    "line": {"epochs": 50},
    "hebe": {"min_samples": 100_000, "epochs": 1},
}
ALL = sorted(name for name in METHODS if not name.startswith("dhne"))
PAIRWISE = [name for name in ALL if METHODS[name].aggregates]


def make(name: str, **params: Any) -> Any:
    return make_method(name, settings={"dim": 16, **SMALL.get(name, {}), **params})


def planted(
    types: tuple[str, ...], *, seed: int, edges: int = 300, per_group: int = 4, groups: int = 6
) -> np.ndarray:
    """Return hyperedges that lie within one of a few groups of nodes of each type."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=(edges, 1))
    return group * per_group + rng.integers(per_group, size=(edges, len(types)))


def network_of(types: tuple[str, ...], **options: Any) -> HyperNetwork:
    return HyperNetwork.from_arrays(
        {types: planted(types, seed=0)}, dict.fromkeys(types, 24), **options
    )


TRIPLES = EdgeType(("user", "movie", "tag"))


@pytest.fixture(scope="module")
def triples() -> HyperNetwork:
    names = {t: Vocabulary([f"{t}{i}" for i in range(24)], node_type=t) for t in TRIPLES}
    return HyperNetwork(names, [EdgeSet.build(TRIPLES, planted(TRIPLES, seed=0))])


@pytest.fixture(scope="module")
def fitted(triples: HyperNetwork) -> dict[str, Any]:
    return {name: make(name, random_state=3).fit(triples) for name in ALL}


@pytest.mark.parametrize("name", ALL)
class TestContract:
    def test_fit_returns_self_and_sets_what_the_contract_names(
        self, name: str, triples: HyperNetwork
    ) -> None:
        model = make(name)
        assert model.fit(triples) is model
        assert model.network_ is triples

    def test_embeddings_have_a_row_a_node(self, name: str, fitted: dict[str, Any]) -> None:
        model = fitted[name]
        assert set(model.embeddings_) == set(TRIPLES)
        for matrix in model.embeddings_.values():
            assert matrix.shape == (24, 16)
            assert matrix.dtype == np.float32
            assert np.isfinite(matrix).all()

    def test_constructor_only_stores(self, name: str) -> None:
        model = make(name, random_state=7)
        params = model.get_params()
        assert params["dim"] == 16
        assert params["random_state"] == 7
        assert clone(model).get_params() == params
        assert set(vars(model)) == set(params)

    def test_the_paper_s_size_is_the_default(self, name: str) -> None:
        assert find_method(name).load_class()().get_params()["dim"] == 64

    def test_names_and_ids_score_alike(self, name: str, fitted: dict[str, Any]) -> None:
        model, ids = fitted[name], np.array([[0, 1, 2], [23, 0, 9]])
        names = [("user0", "movie1", "tag2"), ("user23", "movie0", "tag9")]
        by_id = model.score(ids)
        assert by_id.shape == (2,)
        assert np.isfinite(by_id).all()
        np.testing.assert_array_equal(model.score(names), by_id)
        assert model.score(names[0]) == pytest.approx(by_id[0], rel=1e-6)

    def test_candidates_score_as_whole_tuples(self, name: str, fitted: dict[str, Any]) -> None:
        model, nodes = fitted[name], np.array([[0, 1, 2], [23, 0, 9]])
        for position in range(3):
            every = model.score_candidates(nodes, TRIPLES, position)
            assert every.shape == (2, 24)
            for node in (0, 11, 23):
                tuples = nodes.copy()
                tuples[:, position] = node
                np.testing.assert_allclose(
                    every[:, node], model.score(tuples), rtol=1e-4, atol=1e-5
                )

    def test_rank_and_similar_answer(self, name: str, fitted: dict[str, Any]) -> None:
        ranking = fitted[name].rank(("user0", None, "tag2"), k=5)
        assert len(ranking.names) == 5
        assert (np.diff(ranking.scores) <= 0).all()
        assert len(fitted[name].similar("movie", "movie3", k=4).names) == 4

    def test_same_seed_same_bits(
        self, name: str, triples: HyperNetwork, fitted: dict[str, Any]
    ) -> None:
        again = make(name, random_state=3).fit(triples)
        for node_type, matrix in fitted[name].embeddings_.items():
            np.testing.assert_array_equal(again.embeddings_[node_type], matrix)
        tuples = planted(TRIPLES, seed=5, edges=20)
        np.testing.assert_array_equal(again.score(tuples), fitted[name].score(tuples))

    def test_beats_chance_on_a_planted_network(self, name: str, fitted: dict[str, Any]) -> None:
        unseen = planted(TRIPLES, seed=1)
        rng = np.random.default_rng(2)
        corrupted = unseen.copy()
        corrupted[np.arange(300), rng.integers(3, size=300)] = rng.integers(24, size=300)
        labels = np.repeat([1, 0], 300)
        scores = fitted[name].score(np.concatenate([unseen, corrupted]))
        # a sixth of the corruptions stay within their group: no method can reach 1
        assert roc_auc_score(labels, scores) > 0.7

    @pytest.mark.parametrize("length", [2, 4])
    def test_tuples_of_any_length(self, name: str, length: int) -> None:
        types = tuple("abcd"[:length])
        model = make(name).fit(network_of(types))
        assert np.isfinite(model.score(planted(types, seed=4, edges=10))).all()

    def test_several_edge_types_share_their_nodes(self, name: str) -> None:
        edges = {
            ("user", "movie"): planted(("user", "movie"), seed=0),
            ("user", "movie", "tag"): planted(TRIPLES, seed=1),
        }
        model = make(name).fit(HyperNetwork.from_arrays(edges))
        assert {m.shape for m in model.embeddings_.values()} == {(24, 16)}
        for types in edges:
            scores = model.score(planted(types, seed=4, edges=10), edge_type=types)
            assert np.isfinite(scores).all()

    def test_order_does_not_matter_in_a_set(self, name: str) -> None:
        types = ("author",) * 3
        network = network_of(types, ordered=False)
        model = make(name).fit(network)
        tuples = np.array([[0, 5, 7], [1, 9, 20]])
        scores = model.score(tuples)
        for order in ([1, 0, 2], [2, 1, 0], [1, 2, 0]):
            np.testing.assert_array_equal(model.score(tuples[:, order]), scores)

    def test_a_set_of_another_size_has_a_score(self, name: str) -> None:
        model = make(name).fit(network_of(("author",) * 3, ordered=False))
        assert np.isfinite(model.score(np.array([[0, 1], [3, 20]]))).all()
        assert np.isfinite(model.score(np.array([[0, 1, 4, 7]]))).all()

    def test_a_type_at_two_ordered_places(self, name: str) -> None:
        model = make(name).fit(network_of(("node", "relation", "node")))
        assert model.embeddings_["node"].shape == (24, 16)
        assert np.isfinite(model.score(np.array([[0, 3, 5], [5, 3, 0]]))).all()

    def test_weights_and_nodes_without_edges_are_welcome(self, name: str) -> None:
        edges = planted(TRIPLES, seed=0)
        weights = np.random.default_rng(0).random(len(edges)) + 0.1
        network = HyperNetwork.from_arrays(
            {TRIPLES: edges}, dict.fromkeys(TRIPLES, 30), weights={TRIPLES: weights}
        )
        model = make(name).fit(network)
        assert model.embeddings_["tag"].shape == (30, 16)
        assert np.isfinite(model.score(np.array([[29, 29, 29], [0, 1, 29]]))).all()

    def test_a_network_smaller_than_the_dimension(self, name: str) -> None:
        network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [2, 0], [2, 2]]})
        model = make(name).fit(network)
        assert model.embeddings_["a"].shape == (3, 16)
        assert np.isfinite(model.score(np.array([[0, 1], [2, 2]]))).all()

    def test_nothing_is_answered_before_fit(self, name: str) -> None:
        with pytest.raises(NotFittedError):
            make(name).score([("a", "b")])


@pytest.mark.parametrize("name", PAIRWISE)
class TestPairwise:
    def test_both_aggregates_come_from_one_fit(self, name: str, fitted: dict[str, Any]) -> None:
        model, tuples = fitted[name], planted(TRIPLES, seed=6, edges=30)
        before = model.get_params()
        ways = {a: model.scored_by(a, model.usual_similarity) for a in model.aggregates}
        both = {aggregate: way.score(tuples) for aggregate, way in ways.items()}
        assert model.get_params() == before
        pairs = model._pair_scores(tuples, TRIPLES)
        assert pairs.shape == (30, 3)
        np.testing.assert_allclose(both["mean"], pairs.mean(axis=1))
        np.testing.assert_allclose(both["min"], pairs.min(axis=1))
        for aggregate, scores in both.items():
            every = ways[aggregate].score_candidates(tuples, TRIPLES, 1)
            chosen = every[np.arange(30), tuples[:, 1]]
            np.testing.assert_allclose(chosen, scores, rtol=1e-4, atol=1e-5)

    def test_a_pair_s_similarity_is_that_of_its_vectors(
        self, name: str, fitted: dict[str, Any]
    ) -> None:
        model = fitted[name]
        a, b = model.embeddings_["user"][3], model.embeddings_["tag"][5]
        expected = float(a @ b)
        if model.usual_similarity == "cosine":
            expected /= float(np.linalg.norm(a) * np.linalg.norm(b))
        if name == "line":  # the mean of two orders, learned apart
            expected /= 2
        pairs = model._pair_scores(np.array([[3, 0, 5]]), TRIPLES)
        assert pairs[0, 1] == pytest.approx(expected, rel=1e-4, abs=1e-6)

    @pytest.mark.parametrize("similarity", ["cosine", "dot", "sigmoid"])
    def test_every_similarity_has_scores(
        self, name: str, similarity: str, fitted: dict[str, Any]
    ) -> None:
        model = fitted[name].scored_by("mean", similarity)
        pairs = model._pair_scores(planted(TRIPLES, seed=6, edges=30), TRIPLES)
        assert np.isfinite(pairs).all()
        if similarity != "dot":
            assert np.abs(pairs).max() <= 1 + 1e-5

    def test_unknown_choices_are_named(self, name: str, triples: HyperNetwork) -> None:
        model = make(name, aggregate="median").fit(triples)
        with pytest.raises(ParameterError, match="'mean' or 'min'"):
            model.score(np.array([[0, 0, 0]]))
        model.set_params(aggregate="mean", similarity="jaccard")
        with pytest.raises(ParameterError, match="similarity must be"):
            model.score(np.array([[0, 0, 0]]))


def test_an_unknown_method_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'deepwalk'"):
        make_method("deepwlk")
