"""How numbers are written: four digits of an AUC, one of a mean rank, signs on differences."""

from __future__ import annotations


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


def _is_large(metric: str) -> bool:
    return metric.startswith(("mean_rank", "fit_seconds", "peak_rss_mb"))


def _short(text: str) -> str:
    return text[1:] if text.startswith("0.") else text
