"""Threads of compiled kernels follow the cores; bits follow the pieces."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from dhne.kernels.cpu_threads import FEW, few_threads_for, num_pieces

SETTLED = """
import sys, threading
{first}
import dhne.threads
dhne.threads.available_cores = lambda root="/": {cores}
from dhne.kernels.cpu import CompiledKernels
import numba, torch
CompiledKernels()
names = [t.name for t in threading.enumerate()]
print(numba.get_num_threads(), torch.get_num_threads(), "dhne-crowd" in names)
"""


def settled(cores: int, first: str = "", **environment: str) -> list[str]:
    """Return (numba's threads, torch's, whether there is a crowd) of a fresh process."""
    said = ("OMP_", "GOMP_", "KMP_", "NUMBA_NUM")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(said)}
    code = SETTLED.format(first=first, cores=cores)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=clean | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


needs_two = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core here")


@needs_two
def test_there_are_as_many_threads_as_cores() -> None:
    assert settled(1, "import torch, numba") == ["1", "1", "False"]


@needs_two
def test_who_sets_the_number_is_obeyed() -> None:
    assert settled(1, NUMBA_NUM_THREADS="2", OMP_NUM_THREADS="2") == ["2", "2", "False"]


@needs_two
def test_threads_that_were_loaded_before_are_crowded() -> None:
    assert settled(2, "import torch")[2] == "True"
    assert settled(2, "import torch", OMP_WAIT_POLICY="PASSIVE")[2] == "False"


def test_a_small_step_is_cut_alike_but_done_by_one_thread() -> None:
    before = numba.get_num_threads()
    with few_threads_for(FEW):
        assert (num_pieces(), numba.get_num_threads()) == (before, before)
    with few_threads_for(FEW - 1):
        assert (num_pieces(), numba.get_num_threads()) == (before, 1)
        with few_threads_for(1):
            assert (num_pieces(), numba.get_num_threads()) == (before, 1)
    assert (num_pieces(), numba.get_num_threads()) == (before, before)
