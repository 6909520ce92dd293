"""One writer at a time: a lock that a run's writer holds, and that ends with its process.

The lock is the operating system's own (``flock``), on a file ``.NAME.lock`` beside the run, so
that one whose process was killed is no lock any more, whatever it left behind. The file says who
holds it, for the message that a second writer gets.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dhne.errors import RunError

_held: set[tuple[Path, int]] = set()  # by this process: (lock file, thread)


@contextlib.contextmanager
def lock_run(run: Path) -> Iterator[None]:
    """Hold the lock of the run at `run`; within one thread it may be taken again.

    Raises
    ------
    RunError
        If another process, or thread, is writing to the run.
    """
    target = run.absolute()
    file = target.with_name(f".{target.name}.lock")
    mine = (file, threading.get_ident())
    if mine in _held:
        yield
        return
    opened = _acquire(file, run)
    _held.add(mine)
    try:
        yield
    finally:
        _held.discard(mine)
        if opened is not None:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)  # while it is locked: nobody else can hold it
            opened.close()


def _acquire(file: Path, run: Path) -> IO[str] | None:
    """Return the locked file; None where the system has no locks or nothing can be written."""
    while True:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            opened = file.open("a+", encoding="utf-8")
        except OSError:
            return None  # saving itself will say what is wrong
        try:
            _lock(opened)
        except BlockingIOError:
            with opened:
                opened.seek(0)
                who = opened.read(200).strip() or "another process"
            raise RunError(
                f"{run}: {who} is writing to this run; wait until it is done, or choose another "
                "name"
            ) from None
        except OSError:
            opened.close()
            return None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(opened.fileno()), file.stat()):
                opened.truncate(0)
                opened.write(f"process {os.getpid()} on {socket.gethostname()}\n")
                opened.flush()
                return opened
        opened.close()  # it was removed by the one who held it: another try


def _lock(opened: IO[str]) -> None:
    """Lock an open file, or raise `BlockingIOError` if somebody else has locked it."""
    if os.name == "posix":
        import fcntl

        fcntl.flock(opened.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
