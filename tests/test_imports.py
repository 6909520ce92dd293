"""`import dhne` is light, and what stands below the kernels works without loading torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "numba", "sklearn", "matplotlib", "fastapi", "pandas", "polars", "mlflow")


def loaded_by(module: str) -> set[str]:
    """Return the heavy libraries that a fresh interpreter loads to import `module`."""
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "dhne",
        "dhne.network.hypernetwork",
        "dhne.adjacency",
        "dhne.sampling",
        "dhne.io",
        "dhne.datasets",
    ],
)
def test_imports_no_heavy_library(module: str) -> None:
    assert loaded_by(module) == set()


def test_command_line_starts_without_torch() -> None:
    assert "torch" not in loaded_by("dhne.cli")
