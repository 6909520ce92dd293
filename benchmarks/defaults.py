"""The defaults against nearby settings: validation AUC of link prediction, one change per row.

A tenth of the training hyperedges is held out, ``DHNE()`` is trained on the rest, and the AUC is
that of the last epoch; the test parts are not used. GPS, which is small, has three seeds; drug
appears twice, as released and with the protocol `clean`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any
from unittest.mock import patch

from benchmarks._data import load, names
from benchmarks._options import devices
from benchmarks._table import Row
from dhne import DHNE
from dhne.evaluation import Data
from dhne.hyperparameters import resolve_settings
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.optimizers import RULES


def adam(beta1: float, beta2: float) -> Callable[[], AbstractContextManager[None]]:
    """Change Adam's constants during a training."""

    @contextmanager
    def changed() -> Iterator[None]:
        with patch.dict(RULES, adam=replace(RULES["adam"], beta1=beta1, beta2=beta2)):
            yield

    return changed


@dataclass(frozen=True)
class Change:
    """The change of a row: parameters, a factor on the epochs, or a patch while training."""

    params: Mapping[str, Any] = field(default_factory=dict)
    epochs: float = 1.0
    during: Callable[[], AbstractContextManager[Any]] = nullcontext


CHANGES = {
    "the defaults": Change(),
    "alpha 0.1": Change({"alpha": 0.1}),
    "alpha 0.01": Change({"alpha": 0.01}),
    "one negative": Change({"negatives": 1}),
    "three negatives": Change({"negatives": 3}),
    "learning rate 0.004": Change({"learning_rate": 0.004}),
    "learning rate 0.01": Change({"learning_rate": 0.01}),
    "tables at the same rate": Change({"table_rate": 1.0}),
    "tables five times as fast": Change({"table_rate": 5.0}),
    "half as many epochs again": Change(epochs=1.5),
    "two thirds of the epochs": Change(epochs=1 / 1.5),
    "β 0, 0.98": Change(during=adam(0.0, 0.98)),
    "β 0.5, 0.98": Change(during=adam(0.5, 0.98)),
    "β 0.8, 0.9": Change(during=adam(0.8, 0.9)),
    "β 0.8, 0.95": Change(during=adam(0.8, 0.95)),
    "β 0.8, 0.99": Change(during=adam(0.8, 0.99)),
    "β 0.9, 0.98": Change(during=adam(0.9, 0.98)),
    "β 0.9, 0.999": Change(during=adam(0.9, 0.999)),
}


def run(quick: bool) -> list[Row]:
    return rows_of(CHANGES, None, quick)


def rows_of(changes: Mapping[str, Change], preset: str | None, quick: bool) -> list[Row]:
    """Return the validation AUC per dataset for each change of a preset."""
    here = _networks(quick)
    return [{"what": what} | _aucs(change, preset, here, quick) for what, change in changes.items()]


def _networks(quick: bool) -> dict[str, HyperNetwork]:
    here = {name: load(name).train for name in names(quick)}
    if "drug" in here:
        here["drug clean"] = Data("drug", *load("drug")).prepared("clean").train
    return here


def _aucs(
    change: Change, preset: str | None, here: Mapping[str, HyperNetwork], quick: bool
) -> dict[str, float]:
    aucs = {}
    for name, network in here.items():
        rule = resolve_settings(preset, {}).epochs_for(network.num_edges())
        params = {"epochs": 2 if quick else round(change.epochs * rule), **change.params}
        seeds = (0, 1, 2) if name == "gps" and not quick else (0,)
        with change.during():
            found = [_validation_auc(network, seed, preset=preset, **params) for seed in seeds]
        aucs[f"{name} AUC"] = mean(found)
    return aucs


def _validation_auc(network: HyperNetwork, seed: int, **params: Any) -> float:
    params = {"device": devices()[-1], "random_state": seed, "validation": 0.1, **params}
    model = DHNE(patience=10**6, **params).fit(network)
    auc: float = model.history_[-1]["validation_auc"]
    return auc
