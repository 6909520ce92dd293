"""Completion: which positions are ranked, what filters, and fitted models as they are."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dhne.errors import ParameterError, UnknownNameError
from dhne.evaluation import CompletionOptions, Data, EvaluationSettings, evaluate, held_out_data
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.matching import number_alike
from tests.evaluation.toy import CoarseScores, Remembers, random_network

TYPES = ("t0", "t1", "t2")


def split_data(**more: Any) -> Data:
    train, rest = random_network((9, 9, 9), 150).split(0.4)
    test, valid = rest.split(0.5)
    return Data("net", train, test, valid, **more)


def settings(*positions: str, ranked: int | None = None) -> EvaluationSettings:
    return EvaluationSettings(completion=CompletionOptions(positions, ranked))


def coarse(seed: int) -> CoarseScores:
    return CoarseScores(random_state=seed)


class Chooses(Remembers):
    """Notes the validation part that it was given."""

    takes_validation: ClassVar[bool] = True
    given: ClassVar[list[HyperNetwork | None]] = []

    def fit(self, network: Any, y: Any = None, *, validation: HyperNetwork | None = None) -> Any:
        type(self).given.append(validation)
        return super().fit(network, y)


def test_every_test_hyperedge_is_ranked_at_every_position() -> None:
    record = evaluate("completion", split_data(), coarse)
    assert record.config["counts"] == {"ranked": 30}
    assert record.config["edges"] == {"train": 90, "valid": 30, "test": 30}
    assert [n for n in record.mean if "/" not in n] == [
        *("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")
    ]
    assert {n.partition("/")[2] for n in record.mean if "/" in n} == set(TYPES)


def test_only_the_positions_asked_for() -> None:
    data = split_data(positions=("t1",))
    by_data = evaluate("completion", data, coarse)
    asked = evaluate("completion", data, coarse, settings=settings("t2"))
    everything = evaluate("completion", split_data(), coarse)
    assert by_data.mean["mrr"] == everything.mean["mrr/t1"]
    assert asked.mean["mrr"] == everything.mean["mrr/t2"]
    assert by_data.config["positions"] == ["t1"]
    assert asked.config["positions"] == ["t2"]
    with pytest.raises(UnknownNameError, match="node type 'tag'"):
        evaluate("completion", data, coarse, settings=settings("tag"))


def test_validation_and_known_hyperedges_are_no_rivals() -> None:
    rows = [("a", f"b{i}") for i in range(4)]
    parts = [HyperNetwork.from_tuples([row], ("x", "y")) for row in rows]
    train, test, valid, known = number_alike(parts)

    def mean_rank(**more: Any) -> float:
        data = Data("net", train, test, positions=("y",), **more)
        return evaluate("completion", data, lambda _: CoarseScores(levels=1)).mean["mean_rank"]

    # Four candidates with one score: train's is excluded, the others halve their ties.
    assert mean_rank() == 2.0
    assert mean_rank(valid=valid) == 1.5
    assert mean_rank(valid=valid, known=known) == 1.0


def test_a_method_that_takes_a_validation_part_gets_it() -> None:
    data = split_data()
    Chooses.given.clear()
    evaluate("completion", data, Chooses)
    evaluate("link-prediction", data, Chooses)
    evaluate("completion", Data("net", data.train, data.test), Chooses)
    assert Chooses.given == [data.valid, data.valid, None]


def test_no_validation_part_is_learned_from() -> None:
    data = split_data()
    Remembers.seen.clear()
    evaluate("completion", data, Remembers)
    assert Remembers.seen[0].edges().tolist() == data.train.edges().tolist()


def test_fewer_hyperedges_on_request() -> None:
    record = evaluate("completion", split_data(), coarse, settings=settings(ranked=7))
    assert record.config["counts"] == {"ranked": 7}


def test_a_clean_split_tests_nothing_that_was_learned() -> None:
    data = split_data()
    leaking = Data("net", data.train, data.train.merge(data.test, fold=False))
    record = evaluate("completion", leaking, coarse, protocol="clean")
    assert record.config["counts"] == {"ranked": 30}


def test_a_fitted_model_is_not_trained_again() -> None:
    data = split_data()
    model = Remembers(random_state=3).fit(data.train)
    Remembers.seen.clear()
    record = evaluate("completion", data, model, seeds=[0, 1])
    assert Remembers.seen == []
    assert [r.seed for r in record.results] == [3]
    assert record.method == "Remembers"
    assert record.mean == evaluate("completion", data, Remembers).mean
    assert evaluate("link-prediction", data, model).mean["auc"] == 0.5
    assert evaluate("reconstruction", Data("net", data.train), model).mean["auc"] == 1.0
    with pytest.raises(ParameterError, match="not learned from"):
        evaluate("completion", Data("net", data.train), model)
    other = random_network((8, 9, 9), 50)
    with pytest.raises(ParameterError, match="number their 't0' nodes differently"):
        evaluate("completion", Data("net", *other.split(0.2)), model)


def test_held_out_hyperedges_are_matched_by_name() -> None:
    model = Remembers().fit(HyperNetwork.from_tuples([("a", "u"), ("b", "v")], ("x", "y")))
    test = HyperNetwork.from_tuples([("b", "u"), ("c", "u")], ("x", "y"))
    with pytest.raises(ParameterError, match=r"1 of 2 test hyperedges .* unknown x 'c'"):
        held_out_data(model, test)
    data, left_out = held_out_data(model, test, skip_unknown=True)
    assert left_out == 1
    assert data.test is not None
    assert data.test.edges().tolist() == [[1, 0]]
    with pytest.raises(ParameterError, match="every test hyperedge contains a name"):
        held_out_data(model, HyperNetwork.from_tuples([("c", "u")], ("x", "y")), skip_unknown=True)


def test_pairwise_methods_choose_on_the_validation_part() -> None:
    record = evaluate("completion", split_data(), "she", dim=4)
    assert set(record.config["chosen"]["0"]) == {"aggregate", "similarity", "validation_auc"}
