"""The defaults against their neighbours: link prediction on validation, one setting changed a row.

A tenth of the training hyperedges is held back, the rest trained on as ``DHNE()`` does, and the AUC
is that of the last epoch; the test parts are not looked at. GPS, which is small, has three seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from statistics import mean
from typing import Any
from unittest.mock import patch

from benchmarks._data import load, names
from benchmarks._options import devices
from benchmarks._table import Row
from dhne import DHNE
from dhne.network import HyperNetwork
from dhne.optimizers import RULES
from dhne.settings import rule_epochs

SETTINGS: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "alpha 0.1": {"alpha": 0.1},
    "alpha 0.01": {"alpha": 0.01},
    "one negative": {"negatives": 1},
    "three negatives": {"negatives": 3},
    "learning rate 0.004": {"learning_rate": 0.004},
    "learning rate 0.01": {"learning_rate": 0.01},
    "tables at the same rate": {"table_rate": 1.0},
    "tables five times as fast": {"table_rate": 5.0},
}
EPOCHS = {"half as many epochs again": 1.5, "two thirds of the epochs": 1 / 1.5}
BETAS = {
    "β 0.8, 0.9": (0.8, 0.9),
    "β 0.8, 0.95": (0.8, 0.95),
    "β 0.8, 0.99": (0.8, 0.99),
    "β 0.9, 0.98": (0.9, 0.98),
    "β 0.9, 0.999": (0.9, 0.999),
}


def run(quick: bool) -> list[Row]:
    here = {name: load(name).train for name in names(quick)}
    rows = [_row(what, params, 1.0, here, quick) for what, params in SETTINGS.items()]
    rows += [_row(what, {}, times, here, quick) for what, times in EPOCHS.items()]
    for what, betas in BETAS.items():
        with _betas(*betas):
            rows.append(_row(what, {}, 1.0, here, quick))
    return rows


def _row(
    what: str, params: dict[str, Any], times: float, here: dict[str, HyperNetwork], quick: bool
) -> Row:
    row: Row = {"what": what}
    for name, network in here.items():
        epochs = 2 if quick else round(times * rule_epochs(network.num_edges()))
        seeds = (0, 1, 2) if name == "gps" and not quick else (0,)
        aucs = [_validation_auc(network, seed, params | {"epochs": epochs}) for seed in seeds]
        row[f"{name} AUC"] = mean(aucs)
    return row


def _validation_auc(network: HyperNetwork, seed: int, params: dict[str, Any]) -> float:
    model = DHNE(
        device=devices()[-1], random_state=seed, validation=0.1, patience=10**6, **params
    ).fit(network)
    auc: float = model.history_[-1]["validation_auc"]
    return auc


@contextmanager
def _betas(beta1: float, beta2: float) -> Iterator[None]:
    """Let Adam have other constants for as long as this lasts."""
    with patch.dict(RULES, adam=replace(RULES["adam"], beta1=beta1, beta2=beta2)):
        yield
