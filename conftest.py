"""Tests and doctests that need a package of an extra are skipped where it is not installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from dhne.errors import MissingExtraError

# Modules that only an extra brings, and which.
EXTRAS = {
    **dict.fromkeys(("gensim", "pyttb"), "baselines"),
    **dict.fromkeys(("matplotlib", "PIL"), "plots"),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "plotly", "umap", "pydantic"), "explorer"),
    **dict.fromkeys(("xgi", "hypernetx", "pandas", "polars", "torch_geometric"), "interop"),
    **dict.fromkeys(("tensorboard", "mlflow"), "tracking"),
    "optuna": "tuning",
    "duckdb": "big",
    **dict.fromkeys(("hypothesis", "schemathesis", "httpx", "playwright"), "dev"),
    **dict.fromkeys(("sphinx", "latex2mathml"), "docs"),
}


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module that cannot be imported for want of an extra."""
    report = yield
    call = getattr(report, "call", None)
    reason = _missing(call.excinfo.value) if call is not None and call.excinfo else ""
    if report.outcome == "failed" and reason:
        report.outcome = "skipped"
        report.longrepr = (str(getattr(collector, "path", "")), 0, f"Skipped: {reason}")
        report.result = []
        _forget(getattr(collector, "path", None))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a test that turns out to need an extra."""
    report = yield
    reason = _missing(call.excinfo.value) if call.excinfo else ""
    if report.outcome == "failed" and reason:
        report.outcome = "skipped"
        report.longrepr = (str(Path(item.path)), item.location[1] or 0, f"Skipped: {reason}")
    return report


def _missing(error: BaseException) -> str:
    """Return which extra an error asks for; "" if it is another error."""
    for e in _with_causes(error):
        if isinstance(e, MissingExtraError):
            return str(e)
        if isinstance(e, ModuleNotFoundError) and e.name:
            module = e.name.partition(".")[0]
            if module in EXTRAS and importlib.util.find_spec(module) is None:
                return f"{module} is not installed; pip install 'dhne[{EXTRAS[module]}]'"
    return ""


def _forget(file: Path | None) -> None:
    """Remove what is half imported, so that who imports it next sees the same error."""
    for name, module in list(sys.modules.items()):
        if file is not None and getattr(module, "__file__", None) == str(file):
            del sys.modules[name]


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
