"""One writer at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dhne.errors import RunError
from dhne.storage import lock_run

# Takes the lock, says so, and waits until its input ends.
HOLDER = """
import sys
from pathlib import Path
from dhne.storage.locking import lock_run
with lock_run(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(run: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_second_writer_is_told_who_the_first_is_and_a_dead_one_is_no_writer(
    tmp_path: Path,
) -> None:
    with holder(tmp_path / "run") as first:
        said = pytest.raises(RunError, match=f"process {first.pid} on .* is writing to this run")
        with said, lock_run(tmp_path / "run"):
            pass
        first.kill()
        first.wait()
    assert (tmp_path / ".run.lock").exists()  # it had no time to remove it
    with lock_run(tmp_path / "run"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_one_thread_may_take_it_again_and_another_may_not(tmp_path: Path) -> None:
    refused = []

    def other() -> None:
        try:
            with lock_run(tmp_path / "run"):
                pass
        except RunError as error:
            refused.append(str(error))

    with lock_run(tmp_path / "run"), lock_run(tmp_path / "run"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_runs_have_locks_of_their_own(tmp_path: Path) -> None:
    with lock_run(tmp_path / "a"), lock_run(tmp_path / "b"):
        assert {p.name for p in tmp_path.iterdir()} == {".a.lock", ".b.lock"}
