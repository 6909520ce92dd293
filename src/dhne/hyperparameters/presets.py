"""Presets: named combinations of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dhne.errors import UnknownNameError

from .declaration import declared
from .settings import Settings

PRESETS: dict[str, Settings] = {
    "default": Settings(propagation=16),
    "paper": Settings(
        activation="sigmoid",
        negatives=5,
        optimizer="sgd",
        learning_rate=0.025,
        table_rate=1.0,
        batch_size=16,
        epochs_at_thousand=70.0,
        epochs_decline=0.34,
        alpha=1.0,
        row_sample=0,
    ),
    "released": Settings(
        activation="tanh",
        negatives=5,
        optimizer="rmsprop",
        learning_rate=0.01,
        table_rate=1.0,
        decay=1.0,
        batch_size=16,
        epochs_at_thousand=70.0,
        epochs_decline=0.34,
        alpha=1.0,
        reconstruction="mean",
        row_sample=0,
    ),
    "plus": Settings(
        leave_one_out=True,
        evidence=True,
        rows="digits",
        products=None,
        alpha=None,
        decay=None,
        averaging=None,
        batch_scale=2.75,
        epochs_at_thousand=30.0,
        epochs_decline=0.13,
        propagation=16,
    ),
}


def resolve_settings(preset: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a preset, overridden by the given ones that are not None.

    Names that are not hyper-parameters, such as other arguments of `DHNE`, are ignored.

    Examples
    --------
    >>> resolve_settings("paper", {"dim": 32, "alpha": None}).activation
    'sigmoid'
    """
    if preset is not None and preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    names = declared(Settings)
    chosen = {k: v for k, v in given.items() if v is not None and k in names}
    return replace(PRESETS[preset or "default"], **chosen)
