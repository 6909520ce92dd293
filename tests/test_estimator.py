"""`DHNE` as people use it: hyper-parameters, fitting, answers, and runs on disk."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import dhne
from dhne import DHNE, HyperNetwork
from dhne.datasets import planted_clusters, power_law
from dhne.errors import (
    InputWarning,
    MemoryLimitError,
    ParameterError,
    RunError,
    SaturatedNetworkError,
    UnknownNameError,
)
from dhne.network.edges import EdgeSet
from dhne.network.vocabulary import Vocabulary
from tests.random_networks import numbered_networks

QUICK = {"dim": 4, "epochs": 3, "kernels": "reference", "device": "cpu"}


def tags() -> HyperNetwork:
    return HyperNetwork.from_tuples(
        [
            ("ann", "Heat", "heist"), ("ann", "Alien", "space"), ("bob", "Heat", "noir"),
            ("bob", "Alien", "noir"), ("eve", "Solaris", "space"), ("eve", "Heat", "heist"),
        ],
        types=("user", "movie", "tag"),
    )  # fmt: skip


# -- a scikit-learn estimator ----------------------------------------------------------------------


def test_the_constructor_only_stores() -> None:
    model = DHNE(dim="many", optimizer="none", alpha=-3, preset="no such")
    params = model.get_params()
    assert (params["dim"], params["alpha"], params["preset"]) == ("many", -3, "no such")
    assert not [name for name in vars(model) if name.endswith("_")]
    copy = clone(model)
    assert copy.get_params() == params
    assert copy.set_params(dim=5).dim == 5
    with pytest.raises(ValueError, match="Invalid parameter 'dimension'"):
        model.set_params(dimension=5)


def test_fit_returns_itself_and_leaves_attributes() -> None:
    network = tags()
    model = DHNE(**QUICK)
    assert model.fit(network) is model
    assert model.network_ is network
    assert model.get_params()["dim"] == 4
    assert model.settings_.batch_size is not None
    assert [r["epoch"] for r in model.history_] == [1, 2, 3]
    for t, x in model.embeddings_.items():
        assert x.shape == (network.num_nodes(t), 4)
        assert x.dtype == np.float32
        assert np.isfinite(x).all()


def test_fitting_again_forgets_the_first_fit() -> None:
    model = DHNE(**QUICK).fit(tags())
    model.score(("ann", "Heat", "noir"))
    other = planted_clusters(types=2, clusters=2, nodes_per_cluster=3)
    assert model.fit(other).score((0, 1)) == DHNE(**QUICK).fit(other).score((0, 1))


@pytest.mark.parametrize("preset", ["default", "paper", "released", "plus"])
def test_every_preset_trains(preset: str) -> None:
    model = DHNE(preset=preset, dim=4, epochs=2, kernels="reference").fit(tags())
    assert model.settings_.epochs == 2
    assert 0 < model.score(("ann", "Heat", "noir")) < 1


def test_an_embedding_is_the_encoders_of_its_adjacency_row() -> None:
    network = tags()
    model = DHNE(**QUICK).fit(network)
    for t, rows in model.rows_.items():
        coder = model.model_.autoencoder(t)
        row = torch.from_numpy(rows.adjacency.matrix.toarray())
        expected = torch.tanh(row @ coder.encoder_table + coder.encoder_bias).detach().numpy()
        np.testing.assert_allclose(model.embeddings_[t], expected, atol=1e-6)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"preset": "papers"}, UnknownNameError, "did you mean 'paper'"),
        ({"dim": {"user": 4}}, UnknownNameError, "movie"),
        ({"kernels": "fast"}, UnknownNameError, "choose from: auto, reference, cpu, cuda"),
        ({"kernels": "cuda"}, ParameterError, "cuda kernels need device='cuda'"),
        ({"dtype": "float16"}, UnknownNameError, "did you mean 'float64' or 'float32'"),
        ({"device": "tpu9"}, ParameterError, "unknown device 'tpu9'; use auto, cpu or cuda"),
        ({"random_state": -1}, ParameterError, "random_state must be an integer between 0 and"),
        ({"random_state": None}, ParameterError, "random_state must be an integer between 0 and"),
    ],
)
def test_mistakes_in_hyper_parameters_are_told_at_fit(
    params: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        DHNE(**{**QUICK, **params}).fit(tags())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_asking_for_cuda_where_there_is_none_says_so() -> None:
    with pytest.raises(ParameterError, match="torch finds no CUDA device here"):
        DHNE(device="cuda").fit(tags())


@pytest.mark.parametrize("params", [{"dim": 10**9}, {"dim": 10**6}, {"dim": 4, "hidden": 10**11}])
def test_what_cannot_fit_into_memory_is_refused_before_it_is_begun(
    params: dict[str, int],
) -> None:
    with pytest.raises(MemoryLimitError, match=r"would take about [\d.]+ GiB, but .* smaller"):
        DHNE(**params).fit(tags())


def test_a_saturated_network_is_told_plainly() -> None:
    full = np.array(list(itertools.product(range(2), repeat=3)))
    with pytest.raises(SaturatedNetworkError, match="no negatives to learn from"):
        DHNE(**QUICK).fit(HyperNetwork.from_arrays({("a", "b", "c"): full}))


# -- every kind of network -------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["one type each", "ordered", "unordered"])
def test_tuples_of_every_length(length: int, kind: str) -> None:
    rng = np.random.default_rng(length)
    types = tuple(f"t{p}" for p in range(length)) if kind == "one type each" else ("a",) * length
    nodes = np.array([rng.permutation(9)[:length] for _ in range(20)])
    sizes = dict.fromkeys(types, 9)
    network = HyperNetwork.from_arrays({types: nodes}, sizes, ordered=kind != "unordered")
    model = DHNE(**QUICK).fit(network)
    scores = model.score(nodes)
    assert ((scores > 0) & (scores < 1)).all()
    backwards = model.score(nodes[:, ::-1].copy())
    assert np.array_equal(scores, backwards) == (kind == "unordered")


@settings(max_examples=20)
@given(network=numbered_networks(), seed=st.integers(0, 99), plus=st.booleans(), data=st.data())
def test_any_network_trains_scores_and_ranks(
    network: HyperNetwork, seed: int, plus: bool, data: st.DataObject
) -> None:
    options = {"preset": "plus"} if plus else {}
    model = DHNE(**{**QUICK, "epochs": 2, "random_state": seed, **options})
    try:
        model.fit(network)
    except SaturatedNetworkError:
        return
    edges = data.draw(st.sampled_from(network.edge_sets))
    scores = model.score(edges.nodes, edges.types)
    assert ((scores > 0) & (scores < 1)).all()
    query = edges.nodes[:1].copy()
    query[0, data.draw(st.integers(0, edges.length - 1))] = -1
    (ranking,) = model.rank(query, edge_type=edges.types)
    assert len(ranking.names) == len(ranking.scores)


def test_several_edge_types_of_the_same_nodes() -> None:
    rng = np.random.default_rng(0)
    edges = {
        ("user", "item"): rng.integers(8, size=(30, 2)),
        ("user", "item", "tag"): rng.integers(8, size=(30, 3)),
        ("item", "item"): rng.integers(8, size=(10, 2)),
    }
    network = HyperNetwork.from_arrays(edges, {"user": 8, "item": 8, "tag": 8})
    model = DHNE(**QUICK, batch_size=7).fit(network)
    triple = model.score((1, 2, 3))
    assert triple == model.score([(1, 2, 3)], ("user", "item", "tag"))[0]
    with pytest.raises(ParameterError, match="several edge types have 2 positions"):
        model.score((1, 2))
    pair, own = (model.score((1, 2), r) for r in (("user", "item"), ("item", "item")))
    assert len({triple, pair, own}) == 3


def test_node_types_and_nodes_without_an_edge() -> None:
    network = HyperNetwork(
        {t: Vocabulary.of_size(5, node_type=t) for t in ("a", "b", "lonely")},
        [EdgeSet.build(("a", "b"), [[0, 0], [1, 1], [2, 1]])],
    )
    model = DHNE(**QUICK).fit(network)
    assert model.embeddings_["lonely"].shape == (5, 4)
    np.testing.assert_array_equal(model.embeddings_["a"][3], model.embeddings_["a"][4])
    cpu = DHNE(**{**QUICK, "kernels": "cpu"}).fit(network)
    np.testing.assert_allclose(cpu.embeddings_["a"], model.embeddings_["a"], atol=1e-4)


@pytest.mark.parametrize("kernels", ["reference", "cpu"])
def test_layers_and_dimensions(kernels: str) -> None:
    network = tags()
    model = DHNE(
        dim={"user": 3, "movie": 4, "tag": 5},
        encoder_layers=[7, 6],
        hidden=[8, 2],
        epochs=2,
        kernels=kernels,
        device="cpu",
    ).fit(network)
    assert {t: x.shape[1] for t, x in model.embeddings_.items()} == {
        "user": 3,
        "movie": 4,
        "tag": 5,
    }
    coder = model.model_.autoencoder("tag")
    assert [tuple(x.weight.shape) for x in coder.encoder_layers] == [(6, 7), (5, 6)]
    assert [tuple(x.weight.shape) for x in coder.decoder_layers] == [(6, 5), (7, 6)]
    assert 0 < model.score(("ann", "Heat", "noir")) < 1


def test_float64_all_the_way() -> None:
    model = DHNE(**QUICK, dtype="float64").fit(tags())
    assert {p.dtype for p in model.model_.parameters()} == {torch.float64}
    assert model.embeddings_["user"].dtype == np.float32
    single = DHNE(**QUICK).fit(tags())
    assert {p.dtype for p in single.model_.parameters()} == {torch.float32}


def test_both_backends_learn_the_same() -> None:
    network = power_law(120, nodes=(20, 15, 10), clusters=3, seed=0)
    options = {
        "dim": 4, "epochs": 4, "dtype": "float64", "preset": "plus", "validation": 0.1,
        "device": "cpu",
    }  # fmt: skip
    one = DHNE(**options, kernels="reference").fit(network)
    other = DHNE(**options, kernels="cpu").fit(network)
    for key in ("loss", "first_order", "second_order", "validation_auc"):
        np.testing.assert_allclose(
            [r[key] for r in one.history_], [r[key] for r in other.history_], rtol=1e-6
        )
    for t in network.node_types:
        np.testing.assert_allclose(one.embeddings_[t], other.embeddings_[t], atol=1e-5)


def test_the_released_mean_divides_by_the_columns() -> None:
    """With one step of one batch, the second-order loss differs by the number of columns alone."""
    network = planted_clusters(types=2, clusters=2, nodes_per_cluster=4)
    options = {**QUICK, "epochs": 1, "batch_size": 1000, "alpha": 1.0}
    total = DHNE(**options).fit(network).history_[0]["second_order"]
    mean = DHNE(**options, reconstruction="mean").fit(network).history_[0]["second_order"]
    assert mean == pytest.approx(total / 8)


# -- answers ---------------------------------------------------------------------------------------


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


def test_known_completions_can_be_dropped(fitted: DHNE) -> None:
    edges = fitted.network_.edges()
    user, movie, _ = edges[0].tolist()
    known = set(edges[(edges[:, 0] == user) & (edges[:, 1] == movie), 2].tolist())
    every = fitted.rank((user, movie, None), k=20).names
    kept = fitted.rank((user, movie, None), k=20, known="drop").names
    assert kept == [v for v in every if v not in known]


def test_ranking_two_positions_is_exact_where_the_beam_is_wide(fitted: DHNE) -> None:
    names, scores = fitted.rank((None, 4, None), k=12)
    tuples = np.array([(u, 4, t) for u in range(30) for t in range(20)])
    expected = fitted.score(tuples)
    np.testing.assert_allclose(scores, np.sort(expected)[::-1][:12], rtol=1e-5)
    np.testing.assert_allclose(scores, [fitted.score((u, 4, t)) for u, t in names], rtol=1e-5)


def test_a_narrow_beam_gives_true_scores(fitted: DHNE) -> None:
    names, scores = fitted.rank((None, 4, None), k=12, beam=3)
    assert len({t for _, t in names}) <= 3  # of the smaller type
    np.testing.assert_allclose(scores, [fitted.score((u, 4, t)) for u, t in names], rtol=1e-5)


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


def test_every_scheme_of_negatives_trains_a_model_of_its_own() -> None:
    schemes = ("paper", "one", "all", "degree", "matched")
    models = [DHNE(**QUICK, negatives=1, negative_scheme=scheme).fit(tags()) for scheme in schemes]
    assert len({model.embeddings_["user"].tobytes() for model in models}) == len(schemes)


# -- runs on disk ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"preset": "plus", "validation": 0.2},
        {"encoder_layers": (6,), "hidden": (5, 3), "dim": {"user": 2, "movie": 3, "tag": 4}},
        {"dtype": "float64"},
        {"kernels": "cpu", "alpha": 0},
    ],
    ids=["plain", "plus", "layers", "float64", "cpu"],
)
def test_a_saved_model_comes_back_bit_for_bit(tmp_path: Path, params: dict[str, object]) -> None:
    network = tags()
    model = DHNE(**{**QUICK, **params}).fit(network)
    model.save(tmp_path / "run")
    loaded = dhne.load(tmp_path / "run")
    tuples = list(itertools.product(("ann", "bob"), ("Heat", "Alien"), ("noir", "space")))
    np.testing.assert_array_equal(loaded.score(tuples), model.score(tuples))
    for t in network.node_types:
        np.testing.assert_array_equal(loaded.embeddings_[t], model.embeddings_[t])
    for name, tensor in model.model_.state_dict().items():
        assert torch.equal(loaded.model_.state_dict()[name], tensor)
    assert loaded.rank(("ann", "Heat", None)).names == model.rank(("ann", "Heat", None)).names
    assert loaded.settings_ == model.settings_
    assert loaded.history_ == model.history_
    assert loaded.network_ == network
    assert clone(loaded).fit(network).score(tuples).tolist() == model.score(tuples).tolist()
    new = [("zoe", "Heat", "noir")]
    one, other = model.transform(new)["user"], loaded.transform(new)["user"]
    assert one.equals(other)


def test_sets_of_several_sizes_come_back(tmp_path: Path) -> None:
    sets = {("a",) * n: np.array([np.arange(n), np.arange(n) + 2]) for n in (3, 2, 4)}
    network = HyperNetwork.from_arrays(sets, {"a": 8}, ordered=False)
    model = DHNE(**QUICK).fit(network)
    model.save(tmp_path / "run")
    assert dhne.load(tmp_path / "run").score((1, 5, 6)) == model.score((1, 5, 6))


def test_another_methods_run_is_refused(tmp_path: Path) -> None:
    model = DHNE(**QUICK).fit(tags())
    model.config = lambda: {"method": "other"}  # type: ignore[method-assign]
    model.save(tmp_path / "run")
    with pytest.raises(RunError, match="a run of the method 'other', which is not registered"):
        dhne.load(tmp_path / "run")


def test_long_hyperedges_train_and_very_long_ones_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    types = tuple(f"c{i}" for i in range(40))
    network = HyperNetwork.from_arrays({types: rng.integers(0, 3, (5, 40))})
    model = DHNE(preset="plus", dim=2, epochs=1, kernels="reference").fit(network)
    assert np.isfinite(model.score(network.edge_set().nodes)).all()
    long = HyperNetwork.from_arrays({("a",) * 101: [np.arange(101)]}, {"a": 110}, ordered=False)
    with pytest.warns(InputWarning, match="up to 101 nodes"):
        DHNE(dim=2, epochs=1, kernels="reference").fit(long)
