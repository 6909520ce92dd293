"""Compiled code: the same bits from the first process on, and a cache where none can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import CacheImpl

from dhne.errors import MachineWarning
from dhne.kernels import compiling

TRAINING = """
import hashlib
import dhne

network = dhne.load_dataset("wordnet-sample").train
model = dhne.DHNE(epochs=2, random_state=3, device="cpu", kernels="cpu").fit(network)
found = b"".join(model.embeddings_[t].tobytes() for t in network.node_types)
print(hashlib.sha256(found).hexdigest())
"""

# Columns of 1 to 199 entries: the two copies of the loop differ from 64 on.
SUMS = """
import hashlib
import numpy as np
from dhne.kernels.compiled.autoencoder import column_sums

rng = np.random.default_rng(0)
begins = np.concatenate([[0], np.cumsum(np.arange(1, 200))])
entries = rng.permutation(begins[-1]).astype(np.int32)
sums = column_sums(begins, entries, rng.normal(size=begins[-1]).astype(np.float32), 2)
print(hashlib.sha256(sums.tobytes()).hexdigest())
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("code", [SUMS, TRAINING], ids=["sums", "training"])
def test_the_run_that_compiles_has_the_bits_of_later_ones(code: str, tmp_path: Path) -> None:
    runs = [run(code, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert all(r.returncode == 0 for r in runs), runs[0].stderr
    assert any(tmp_path.rglob("*.nbc"))
    assert runs[0].stdout == runs[1].stdout


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave numba one place for its cache that cannot be written, whoever asks: below a file."""
    file = tmp_path / "file"
    file.touch()
    only = [c for c in CacheImpl._locator_classes if c.__name__ == "UserProvidedCacheLocator"]
    monkeypatch.setattr(CacheImpl, "_locator_classes", only)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(file / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "cache"))
    return tmp_path


def double(x: int) -> int:
    return 2 * x


def test_without_a_writable_place_a_temporary_one_serves(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling.tempfile, "tempdir", str(nowhere))
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(double)
    with pytest.warns(MachineWarning, match="set NUMBA_CACHE_DIR to a directory"):
        compiled = compiling.njit(cache=True)(double)
    assert compiled(4) == 8
    assert len(list(nowhere.glob("dhne-compiled-*/*/*.nbc"))) == 1
    compiling.njit(cache=True)(double)  # told once


def test_without_a_temporary_directory_nothing_is_kept(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling.tempfile, "tempdir", str(nowhere / "file"))
    with pytest.warns(MachineWarning, match="every process compiles its own"):
        compiled = compiling.njit(cache=True)(double)
    assert compiled(4) == 8
