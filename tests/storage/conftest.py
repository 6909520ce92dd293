"""A run on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne.storage import save_run
from tests.storage.small_run import make_contents


@pytest.fixture
def run(tmp_path: Path) -> Path:
    save_run(tmp_path / "run", make_contents())
    return tmp_path / "run"
