"""Without the packages of an extra, tests and doctests are skipped with a reason, not broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WITHOUT = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
MISSING = {"fastapi", "starlette", "uvicorn", "httpx", "hypothesis", "schemathesis", "gensim"}

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in MISSING else find(name, path, target)

PathFinder.find_spec = staticmethod(find_spec)
"""


def test_what_needs_them_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "without_extras.py").write_text(WITHOUT)
    paths = os.pathsep.join([str(ROOT / "src"), str(tmp_path)])
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": paths}
    files = ["src/dhne/explorer", "tests/explorer", "tests/io", "tests/interop/test_gensim.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "without_extras", "--collect-only", "-q", *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout
    for line in (
        "tests/explorer/test_guard.py:0: fastapi is not installed; pip install 'dhne[explorer]'",
        "src/dhne/explorer/guard.py:0: starlette is not installed",
        "tests/io/test_roundtrip.py:0: hypothesis is not installed; pip install 'dhne[dev]'",
        "tests/interop/test_gensim.py:0: gensim is not installed; pip install 'dhne[baselines]'",
    ):
        assert line in done.stdout
