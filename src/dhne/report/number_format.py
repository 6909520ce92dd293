"""Number formats: four decimals for AUC, one for mean ranks, signs for differences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def number(value: float, metric: str) -> str:
    """Return a metric's value as text.

    Examples
    --------
    >>> number(0.91664, "auc"), number(123.41, "mean_rank")
    ('.9166', '123.4')
    """
    return f"{value:,.1f}" if _is_large(metric) else _short(f"{value:.4f}")


def spread(value: float, metric: str) -> str:
    """Return a standard deviation as text.

    Examples
    --------
    >>> spread(0.0123, "auc")
    '.012'
    """
    return f"{value:,.1f}" if _is_large(metric) else _short(f"{value:.3f}")


def difference(value: float) -> str:
    """Return a difference with its sign.

    Examples
    --------
    >>> difference(0.0123), difference(-0.5)
    ('+.0123', '−.5000')
    """
    return ("+" if value >= 0 else "−") + _short(f"{abs(value):.4f}")


def settings(values: Mapping[str, Any]) -> str:
    """Return a method's settings as text.

    Examples
    --------
    >>> settings({"dim": 64, "order": "both", "epochs": {"GPS": 62, "drug": 20}, "class": "LINE"})
    'dim 64, order both, epochs 62 (GPS) 20 (drug)'
    """
    return ", ".join(f"{k} {_setting(v)}" for k, v in values.items() if k not in _UNTOLD)


def _setting(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{_setting(v)} ({k})" for k, v in value.items())
    return value if isinstance(value, str) else json.dumps(value)


_UNTOLD = ("class", "verbose")


def _is_large(metric: str) -> bool:
    return metric.startswith(("mean_rank", "fit_seconds", "peak_rss_mb"))


def _short(text: str) -> str:
    return text[1:] if text.startswith("0.") else text
