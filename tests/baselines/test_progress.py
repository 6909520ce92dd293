"""Progress bars, and classes that are imported when they are needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dhne.baselines as baselines
from dhne.baselines.progress import track
from dhne.methods import METHODS


def test_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, dhne.baselines; "
        "print(*(m for m in ('torch', 'numba', 'gensim', 'pyttb', 'sklearn') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_class_is_found_by_its_name() -> None:
    for name, method in METHODS.items():
        cls = method.load_class()
        if not name.startswith("dhne") and cls.__module__.startswith("dhne.baselines"):
            assert getattr(baselines, cls.__name__) is cls
            assert cls.__name__ in dir(baselines)
    with pytest.raises(AttributeError):
        baselines.NoSuchMethod  # noqa: B018


def test_progress_gives_every_step() -> None:
    assert list(track(range(4), "steps", verbose=True)) == [0, 1, 2, 3]
