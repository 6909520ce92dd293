"""How many threads there are and how they wait, as the machine and its user have it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dhne.threads import available_cores, cpu_quota


def machine(root: Path, groups: str, files: dict[str, str]) -> Path:
    """Write the system's files below `root`."""
    for name, text in {"proc/self/cgroup": groups, **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    return root


class TestQuota:
    def test_nothing_is_granted_where_nothing_is_said(self, tmp_path: Path) -> None:
        assert cpu_quota(tmp_path) is None
        machine(tmp_path, "nonsense\n0::/", {"sys/fs/cgroup/cpu.max": "max 100000"})
        assert cpu_quota(tmp_path) is None

    def test_version_2(self, tmp_path: Path) -> None:
        machine(tmp_path, "0::/", {"sys/fs/cgroup/cpu.max": "150000 100000"})
        assert cpu_quota(tmp_path) == 1.5

    def test_the_least_on_the_way_up(self, tmp_path: Path) -> None:
        files = {"a/b/c/cpu.max": "max 100000", "a/b/cpu.max": "50000 100000", "a/cpu.max": "4 1"}
        files = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
        assert cpu_quota(machine(tmp_path, "0::/a/b/c", files)) == 0.5

    def test_version_1(self, tmp_path: Path) -> None:
        folder = "sys/fs/cgroup/cpu,cpuacct/docker"
        files = {f"{folder}/cpu.cfs_quota_us": "300000", f"{folder}/cpu.cfs_period_us": "100000"}
        groups = "5:memory:/docker\n3:cpu,cpuacct:/docker"
        assert cpu_quota(machine(tmp_path, groups, files)) == 3.0
        (tmp_path / folder / "cpu.cfs_quota_us").write_text("-1\n")
        assert cpu_quota(tmp_path) is None

    def test_a_share_of_a_core_is_a_core(self, tmp_path: Path) -> None:
        machine(tmp_path, "0::/", {"sys/fs/cgroup/cpu.max": "10000 100000"})
        assert available_cores(tmp_path) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is no affinity here")
def test_the_affinity_is_followed() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from dhne.threads import available_cores; print(available_cores())"
    )
    assert run(code, {}) == "1"


def run(code: str, environment: dict[str, str]) -> str:
    """Return what a fresh interpreter prints in which nobody has said how threads wait."""
    said = ("OMP_", "GOMP_", "KMP_", "NUMBA_NUM")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(said)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=clean | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


WAITING = (
    "import os, dhne; "
    "print(*(os.environ.get(n) for n in ('GOMP_SPINCOUNT', 'KMP_BLOCKTIME', 'OMP_WAIT_POLICY')))"
)


def test_threads_sleep_soon_unless_the_user_says_how_they_wait() -> None:
    assert run(WAITING, {}) == "1000 0 None"
    assert run(WAITING, {"OMP_WAIT_POLICY": "ACTIVE"}) == "None None ACTIVE"
    assert run(WAITING, {"GOMP_SPINCOUNT": "5"}) == "5 None None"


QUOTA = """
import os, sys
import dhne.threads
for name in dhne.threads.set_here:
    del os.environ[name]
dhne.threads.cpu_quota = lambda root="/": 0.5
dhne.threads.prepare()
import numba, torch
print(numba.get_num_threads(), torch.get_num_threads())
"""


def test_a_quota_limits_the_threads_unless_the_user_does() -> None:
    assert run(QUOTA, {}) == "1 1"
    cores = str(os.cpu_count() or 1)
    both = {"OMP_NUM_THREADS": cores, "NUMBA_NUM_THREADS": cores}
    assert run(QUOTA, both) == f"{cores} {cores}"
