"""Searching for hyper-parameters: judged on validation data, resumable, the same for a seed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dhne import HyperNetwork
from dhne.datasets import planted_clusters
from dhne.errors import DHNEError, MissingExtraError, ParameterError, RunError, UnknownNameError
from dhne.training.callbacks import Callback, Progress
from dhne.tuning import Choice, Range, Trial, tune

FIXED = {"dim": 4, "negatives": 2, "batch_size": 256, "kernels": "reference"}


@pytest.fixture(scope="module")
def network() -> HyperNetwork:
    return planted_clusters(types=3, clusters=2, nodes_per_cluster=5)


def plan(trials: list[Trial]) -> list[tuple[str, float | None, dict[str, Any], int]]:
    """Everything about trials but the time they took."""
    return [(t.outcome, t.auc, t.params, t.epochs) for t in trials]


class Interrupt(Callback):
    """Presses Ctrl-C in the n-th training."""

    def __init__(self, after: int) -> None:
        self.left = after

    def on_train_begin(self, progress: Progress) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_a_search_that_was_interrupted_goes_on_as_if_it_had_not_been(
    network: HyperNetwork, tmp_path: Path
) -> None:
    fixed = {**FIXED, "epochs": 4}
    whole = tune(network, 4, params=fixed)
    interrupt = Interrupt(after=2)
    with pytest.raises(KeyboardInterrupt):
        tune(network, 4, params=fixed, storage=tmp_path / "s.jsonl", callbacks=lambda: [interrupt])
    seen: list[tuple[int, int, int]] = []
    resumed = tune(
        network,
        4,
        params=fixed,
        storage=tmp_path / "s.jsonl",
        report=lambda t, done, total: seen.append((t.number, done, total)),
    )
    assert plan(resumed.trials) == plan(whole.trials)
    assert seen == [(3, 3, 4), (4, 4, 4)]
    assert resumed.params == whole.params

    again = tune(network, 4, params=fixed, storage=tmp_path / "s.jsonl")
    assert plan(again.trials) == plan(whole.trials)
    more = tune(network, 5, params=fixed, storage=tmp_path / "s.jsonl")
    assert plan(more.trials[:4]) == plan(whole.trials)
    assert len(more.trials) == 5


def test_the_best_trial_is_the_one_that_learns(network: HyperNetwork) -> None:
    space = {"learning_rate": Choice((1e-9, 0.03)), "alpha": Choice((0.1,))}
    found = tune(network, 6, params={**FIXED, "epochs": 12}, space=space, prune=False)
    assert found.best.params["learning_rate"] == 0.03
    assert found.auc == max(t.auc for t in found.trials if t.auc is not None) > 0.6
    assert found.params["epochs"] == found.best.epochs <= 12
    assert found.params["validation"] == 0
    model = found.model().fit(network)
    assert model.learning_rate == 0.03
    assert model.network_.num_edges() == network.num_edges()


def test_the_judgement_is_that_of_training_with_validation(network: HyperNetwork) -> None:
    from dhne import DHNE

    found = tune(network, 1, params={**FIXED, "epochs": 5}, validation=0.2, seed=3)
    params = {**found.params, "epochs": 5, "validation": 0.2}
    history = DHNE(**params).fit(network).history_
    assert found.auc == max(r["validation_auc"] for r in history)


def test_trials_that_fall_behind_are_given_up(network: HyperNetwork) -> None:
    space = {"learning_rate": Choice((1e-9, 0.03)), "alpha": Choice((0.1,))}
    found = tune(network, 14, params={**FIXED, "epochs": 12}, space=space, seed=1)
    pruned = [t for t in found.trials if t.outcome == "pruned"]
    assert pruned
    assert all(t.auc is None and t.params["learning_rate"] == 1e-9 for t in pruned)
    assert found.best.params["learning_rate"] == 0.03


def test_a_diverging_trial_is_no_result(network: HyperNetwork) -> None:
    space = {"alpha": Choice((1e300,)), "learning_rate": Range(0.1, 0.2)}
    fixed = {**FIXED, "epochs": 2}
    with pytest.raises(DHNEError, match="none of 2 trials gave a result"):
        tune(network, 2, params=fixed, space=space)


def test_another_search_is_refused(network: HyperNetwork, tmp_path: Path) -> None:
    fixed, file = {**FIXED, "epochs": 1}, tmp_path / "s.jsonl"
    tune(network, 1, params=fixed, storage=file)
    with pytest.raises(RunError, match=r"other settings \(seed\)"):
        tune(network, 1, params=fixed, storage=file, seed=1)
    other, _ = network.split(0.5)
    with pytest.raises(RunError, match=r"other settings \(hyperedges\)"):
        tune(other, 1, params=fixed, storage=file)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"params": {"alhpa": 1}}, UnknownNameError, "did you mean 'alpha'"),
        ({"space": {"dimm": Choice((1,))}}, UnknownNameError, "did you mean 'dim'"),
        ({"params": {"dim": -1}}, ParameterError, "dim must be"),
        ({"validation": 0.0}, ParameterError, "between 0 and 1"),
        ({"trials": 0}, ParameterError, "trials must be at least 1"),
        (
            {"params": {"alpha": 1, "learning_rate": 0.1, "dim": 2, "negatives": 1, "epochs": 1}},
            ParameterError,
            "nothing to search",
        ),
    ],
)
def test_mistakes(
    network: HyperNetwork, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tune(network, **arguments)


def test_too_few_hyperedges() -> None:
    tiny = HyperNetwork.from_tuples([("a", "b"), ("a", "c")], ("x", "y"))
    with pytest.raises(ParameterError, match="too few hyperedges"):
        tune(tiny, 1)


def test_without_optuna(network: HyperNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"dhne\[tuning\]"):
        tune(network, 1)
