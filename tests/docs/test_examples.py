"""The notebooks-as-scripts under examples/ run from top to bottom."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from docs.scripts.blocks import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_three() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_example(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    runpy.run_path(str(example))
    assert capsys.readouterr().out
    assert example.read_text().startswith("# %% [markdown]\n# # ")  # a title, for notebooks
