"""The command line as a function, and a small run to ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runs import CommandLine, make_run


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "120")
    return CommandLine(capsys)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that tests only read."""
    return make_run(tmp_path_factory.mktemp("run"))
