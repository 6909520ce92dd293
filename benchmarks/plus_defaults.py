"""The preset "plus" against nearby settings: like `defaults`, one change per row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from benchmarks._table import Row
from benchmarks.defaults import Change, adam, rows_of
from dhne.hyperparameters import settings
from dhne.kernels import counts


def _alpha(factor: float) -> Callable[[], AbstractContextManager[Any]]:
    """Multiply the α of the rule by a factor."""
    rule = settings.rule_alpha
    return lambda: patch.object(settings, "rule_alpha", lambda *size: factor * rule(*size))


def _neighbours(shared: int, paths: int) -> Callable[[], AbstractContextManager[Any]]:
    """Change the number of neighbours that the counts use."""
    return lambda: patch.multiple(counts, SHARED=shared, PATHS=paths)


CHANGES = {
    "the preset": Change(),
    "rows of counts": Change({"rows": "counts"}),
    "a third of alpha": Change(during=_alpha(1 / 3)),
    "three times alpha": Change(during=_alpha(3)),
    "alpha 0": Change({"alpha": 0.0}),
    "alpha 100": Change({"alpha": 100.0}),
    "three negatives": Change({"negatives": 3}),
    "learning rate 0.004": Change({"learning_rate": 0.004}),
    "learning rate 0.01": Change({"learning_rate": 0.01}),
    "tables at the same rate": Change({"table_rate": 1.0}),
    "tables twice as fast": Change({"table_rate": 2.0}),
    "half as many epochs again": Change(epochs=1.5),
    "two thirds of the epochs": Change(epochs=1 / 1.5),
    "β 0, 0.98": Change(during=adam(0.0, 0.98)),
    "β 0.9, 0.999": Change(during=adam(0.9, 0.999)),
    "32 neighbours, 12 on paths": Change(during=_neighbours(32, 12)),
    "8 neighbours, 6 on paths": Change(during=_neighbours(8, 6)),
    "8 neighbours, 4 on paths": Change(during=_neighbours(8, 4)),
    "4 neighbours, 4 on paths": Change(during=_neighbours(4, 4)),
    "a second hidden layer": Change({"hidden": (192, 64)}),
    "384 hidden": Change({"hidden": 384}),
}


def run(quick: bool) -> list[Row]:
    return rows_of(CHANGES, "plus", quick)
