"""Whole evaluations on small networks: what is fitted on what, what is chosen where, what told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dhne.baselines.pairwise import PairwiseEmbedder
from dhne.errors import ParameterError, SaturatedNetworkError, UnknownNameError
from dhne.evaluation import Data, EvaluationSettings, Options, evaluate
from dhne.network.hypernetwork import HyperNetwork
from tests.evaluation.toy import CoarseScores, Remembers, random_network

RANKING = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")


def rows(network: HyperNetwork) -> set[tuple[int, ...]]:
    return {tuple(r) for r in network.edges().tolist()}


class Pairs(PairwiseEmbedder):
    """Vectors by chance; notes the networks it was fitted on."""

    fitted: list[HyperNetwork] = []  # noqa: RUF012

    def __init__(
        self,
        dim: int = 3,
        aggregate: str = "mean",
        similarity: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.dim = dim
        self.aggregate = aggregate
        self.similarity = similarity
        self.random_state = random_state

    def _fit(self, network: HyperNetwork) -> None:
        type(self).fitted.append(network)
        rng = np.random.default_rng(self.random_state)
        self.embeddings_ = {
            t: rng.normal(size=(network.num_nodes(t), self.dim)).astype(np.float32)
            for t in network.node_types
        }


def test_link_prediction_is_fitted_on_train_only() -> None:
    data = Data("net", *random_network((9, 9, 9), 150).split(0.2))
    Remembers.seen.clear()
    record = evaluate("link-prediction", data, Remembers, seeds=[0, 1])
    assert [rows(n) for n in Remembers.seen] == [rows(data.train)] * 2
    assert record.mean["auc"] == 0.5  # it remembers train, and no test edge stands there
    assert record.config["split"] == "released"
    assert record.config["edges"] == {"train": 120, "test": 30}
    assert record.config["counts"] == {"positives": 30, "negatives": 150, "ranked": 30}


def test_reconstruction_is_fitted_and_scored_on_the_whole() -> None:
    data = Data("net", *random_network((9, 9, 9), 150).split(0.2))
    record = evaluate("reconstruction", data, Remembers)
    assert record.mean["auc"] == 1.0
    assert record.mean["aupr"] == 1.0
    assert record.mean["mean_rank"] == 1.0
    assert record.config["counts"]["positives"] == 150


def test_metric_names_are_those_of_the_contract() -> None:
    data = Data("net", random_network((9, 9, 9), 150))
    record = evaluate("link-prediction", data, lambda s: CoarseScores(random_state=s))
    plain_names = [n for n in record.mean if "/" not in n]
    assert plain_names == ["auc", "aupr", *RANKING]
    assert {n for n in record.mean if "/" in n} == {f"{m}/t{p}" for m in RANKING for p in range(3)}
    json.loads(record.to_json())


def test_pairwise_methods_report_both_aggregates_and_choose_on_validation() -> None:
    data = Data("net", *random_network((9, 9, 9), 300).split(0.2))
    Pairs.fitted.clear()
    record = evaluate("link-prediction", data, lambda s: Pairs(random_state=s), seeds=[3])
    final, trial = Pairs.fitted
    assert rows(final) == rows(data.train)
    assert rows(trial) < rows(data.train)
    chosen = record.config["chosen"]["3"]
    judged = chosen["validation_auc"]
    assert {tuple(by_similarity) for by_similarity in judged.values()} == {("dot", "cosine")}
    for aggregate, similarity in chosen["similarity"].items():
        assert judged[aggregate][similarity] == max(judged[aggregate].values())
    assert chosen["aggregate"] == max(judged, key=lambda name: max(judged[name].values()))
    assert record.mean["auc"] == record.mean[f"auc_{chosen['aggregate']}"]
    assert record.mean["aupr"] == record.mean[f"aupr_{chosen['aggregate']}"]


class Norms(Pairs):
    """Directions by chance, lengths that tell which nodes have hyperedges."""

    def _fit(self, network: HyperNetwork) -> None:
        super()._fit(network)
        for t, vectors in self.embeddings_.items():
            vectors[:] = np.abs(vectors) * (1 + network.degrees(t)[:, None])


def test_pairs_are_compared_by_the_similarity_that_validation_prefers() -> None:
    edges = random_network((30, 30), 400).edges() ** 2 // 30  # low numbers have most hyperedges
    data = Data("net", HyperNetwork.from_arrays({("a", "b"): edges}, {"a": 30, "b": 30}).fold())
    record = evaluate("link-prediction", data, lambda s: Norms(random_state=s))
    chosen = record.config["chosen"]["0"]
    assert chosen["similarity"] == {"mean": "dot", "min": "dot"}
    fixed = evaluate("link-prediction", data, lambda s: Norms(similarity="cosine"))
    assert fixed.config["chosen"]["0"]["similarity"] == {"mean": "cosine", "min": "cosine"}
    assert fixed.mean["auc"] < record.mean["auc"]


def test_the_test_edges_have_no_say_in_what_is_chosen() -> None:
    """Other test edges and other evaluation negatives leave every choice as it was."""
    train, rest = random_network((9, 9, 9), 300).split(0.4)
    one, other = rest.split(0.5)
    choices = [
        evaluate("link-prediction", Data("net", train, test), lambda s: Pairs(random_state=s))
        for test in (one, other)
    ]
    assert choices[0].config["chosen"] == choices[1].config["chosen"]
    assert choices[0].mean["auc"] != choices[1].mean["auc"]


def test_reconstruction_chooses_on_other_negatives_than_it_is_scored_on() -> None:
    data = Data("net", random_network((9, 9, 9), 300))
    record = evaluate("reconstruction", data, lambda s: Pairs(random_state=s))
    chosen = record.config["chosen"]["0"]
    aggregate = chosen["aggregate"]
    judged = chosen["validation_auc"][aggregate][chosen["similarity"][aggregate]]
    assert judged != record.mean[f"auc_{aggregate}"]


def test_seeds_share_negatives_on_a_released_split() -> None:
    data = Data("net", *random_network((9, 9, 9), 150).split(0.2))
    record = evaluate("link-prediction", data, lambda s: CoarseScores(), seeds=[0, 1, 2])
    assert record.std["auc"] == 0.0


def test_ranking_can_be_left_out_or_limited() -> None:
    data = Data("net", random_network((9, 9), 50))
    none = evaluate(
        "link-prediction", data, lambda s: CoarseScores(),
        settings=EvaluationSettings(Options(ranked=0)),
    )  # fmt: skip
    assert set(none.mean) == {"auc", "aupr"}
    few = evaluate(
        "link-prediction", data, lambda s: CoarseScores(),
        settings=EvaluationSettings(Options(ranked=4)),
    )  # fmt: skip
    assert few.config["counts"]["ranked"] == 4
    assert few.config["ranked"] == 4


def test_a_curve_is_kept_on_request() -> None:
    data = Data("net", random_network((9, 9), 50))
    settings = EvaluationSettings(Options(roc=True))
    record = evaluate("link-prediction", data, lambda s: CoarseScores(9), settings=settings)
    curve = record.curves["0"]
    assert np.trapezoid(curve["tpr"], curve["fpr"]) == pytest.approx(record.mean["auc"])


def test_sparsity_keeps_a_share() -> None:
    data = Data("net", *random_network((9, 9), 60).split(0.2))
    record = evaluate(
        "link-prediction", data, lambda s: CoarseScores(), settings=EvaluationSettings(keep=0.25)
    )
    assert record.config["edges"] == {"train": 15, "test": 45}
    assert record.config["keep"] == 0.25


def test_classification_reads_the_embeddings_of_the_whole_network() -> None:
    net = random_network((40, 9), 120)
    labels = ["x" if i % 2 else "y" for i in range(40)]
    data = Data("net", *net.with_labels({"t0": labels}).split(0.3))
    Remembers.seen.clear()
    settings = EvaluationSettings(classification={"shares": [0.5], "repeats": 2})
    record = evaluate("classification", data, Remembers, settings=settings)
    assert rows(Remembers.seen[0]) == rows(net)
    assert set(record.mean) == {
        "micro_f1", "macro_f1", "micro_f1@0.5", "macro_f1@0.5", "neighbours@10",
    }  # fmt: skip


def test_classification_without_labels_fails_before_the_fit() -> None:
    Remembers.seen.clear()
    with pytest.raises(ParameterError, match="needs labels"):
        evaluate("classification", random_network((9, 9), 30), Remembers)
    assert not Remembers.seen


def test_a_real_method_by_name() -> None:
    record = evaluate(
        "link-prediction",
        random_network((9, 9, 9), 150),
        "she",
        dim=4,
        params={"similarity": "dot"},
    )
    assert record.method == "she"
    assert record.config["method"]["dim"] == 4
    assert record.config["chosen"]["0"]["similarity"] == {"mean": "dot", "min": "dot"}
    assert {"auc", "auc_mean", "auc_min", "aupr"} <= set(record.mean)


def test_several_edge_types_in_one_network() -> None:
    one = random_network((9, 9, 9), 100, types=("a", "b", "c"))
    two = random_network((9, 9), 40, types=("a", "b"))
    record = evaluate("link-prediction", one.merge(two), lambda s: CoarseScores(random_state=s))
    assert record.config["counts"]["positives"] == 28


def test_progress_is_told() -> None:
    told: list[str] = []
    evaluate(
        "link-prediction",
        random_network((9, 9), 40),
        lambda s: CoarseScores(),
        seeds=[0, 1],
        report=lambda what, done, total: told.append(what),
    )
    assert told[0] == "seed 0 (1/2) fitting"
    assert "seed 1 (2/2) ranking" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "link-predicton"}, "did you mean 'link-prediction'"),
        ({"method": "deepwak"}, "did you mean 'deepwalk'"),
        ({"protocol": "papers"}, "did you mean 'paper'"),
        ({"method": "she", "params": {"similarty": "dot"}}, "did you mean 'similarity'"),
    ],
)
def test_mistyped_names_get_a_suggestion(arguments: dict[str, object], message: str) -> None:
    given = {"task": "link-prediction", "method": "she"} | arguments
    task, method = given.pop("task"), given.pop("method")
    with pytest.raises(UnknownNameError, match=message):
        evaluate(task, random_network((9, 9), 40), method, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_must_be_there_and_differ(seeds: list[int]) -> None:
    with pytest.raises(ParameterError, match="seed"):
        evaluate("link-prediction", random_network((9, 9), 40), "she", seeds=seeds)


def test_a_network_without_negatives_is_refused() -> None:
    pairs = [[i, j] for i in range(4) for j in range(4)]
    network = HyperNetwork.from_arrays({("a", "b"): np.array(pairs)})
    with pytest.raises(SaturatedNetworkError, match="no negatives"):
        evaluate("reconstruction", network, lambda s: CoarseScores())
