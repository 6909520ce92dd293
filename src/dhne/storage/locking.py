"""One writer at a time: a lock held by a run's writer, released when its process ends.

It is an operating system lock (``flock``) on a file ``.NAME.lock`` beside the run, so a killed
process releases it even if the file remains. The file names the holder, for the error message that
a second writer gets.
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
    """Hold the lock of the run at `run`; the same thread may acquire it again.

    Raises
    ------
    RunError
        If another process or thread is writing to the run.
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
                file.unlink(missing_ok=True)  # while locked: no other process can hold it
            opened.close()


def _acquire(file: Path, run: Path) -> IO[str] | None:
    """Return the locked file, or None if the system has no locks or cannot write here."""
    while True:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            opened = file.open("a+", encoding="utf-8")
        except OSError:
            return None  # saving will report the problem
        try:
            _lock(opened)
        except BlockingIOError:
            with opened:
                opened.seek(0)
                who = opened.read(200).strip() or "another process"
            raise RunError(
                f"{run}: {who} is writing to this run; wait until it finishes, or choose another "
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
        opened.close()  # removed by its previous holder: try again


def _lock(opened: IO[str]) -> None:
    """Lock an open file, or raise `BlockingIOError` if it is locked already."""
    if os.name == "posix":
        import fcntl

        fcntl.flock(opened.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
