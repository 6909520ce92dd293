"""Replacing a run atomically: either the old run or the new one exists, never a mixture.

A new run is written to a directory with a temporary name and renamed. An existing run is replaced
in two steps: the new files are written to a directory within it, which is renamed to ``.commit``
(from then on the save is committed), and then moved into place, the manifest last. A reader that
finds a ``.commit`` directory finishes these moves first.

A training or update that will replace a finished run keeps its configuration and checkpoints in
``.next`` within it; until it is done, the finished run is unchanged and can be used.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from dhne.errors import RunError
from dhne.files.writing import is_temporary, sweep, sync, sync_tree, temporary_name

from .manifest import MANIFEST, is_run, read_manifest
from .saving import saving

_COMMIT = ".commit"
_NEXT = ".next"


def replace_run(run: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new directory with a run's files and manifest, and put it at `run`.

    If anything fails, an existing run is unchanged; its checkpoints are kept in any case.
    """
    with saving(run):
        finish_commit(run)
        if not is_run(run):
            check_free(run)
        fresh = not run.exists()
        parent = run.parent if fresh else run
        parent.mkdir(parents=True, exist_ok=True)
        if not fresh:
            sweep(run)
        staged = parent / temporary_name(run.name if fresh else "new")
        try:
            staged.mkdir()
            write(staged)
            sync_tree(staged)
            if fresh:
                (staged / "checkpoints").mkdir()
            staged.rename(run if fresh else run / _COMMIT)
            sync(parent)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        finish_commit(run)
        (run / "checkpoints").mkdir(exist_ok=True)


def next_run(run: Path) -> Path:
    """Return the directory for the state of a training that will replace the run at `run`."""
    return run / _NEXT


def check_free(run: Path) -> None:
    """Refuse a place that holds something other than a run: it must not be overwritten."""
    if run.exists() and not run.is_dir():
        raise RunError(f"{run} is a file; a run is a directory, choose another name")
    if run.is_dir():
        foreign = [p.name for p in run.iterdir() if not is_temporary(p)]
        if foreign:
            raise RunError(
                f"{run} is not empty and not a run (it has {min(foreign)!r}); choose another name"
            )


def finish_commit(run: Path) -> None:
    """Move the files of a committed save into place."""
    commit = run / _COMMIT
    if not commit.is_dir():
        return
    try:
        if is_run(commit):  # otherwise all have been moved
            manifest = read_manifest(commit)
            names = manifest["files"]
            if manifest["status"] == "complete":  # the pending replacement has happened
                shutil.rmtree(next_run(run), ignore_errors=True)
            for name in names:
                _move(commit / name, run / name)
            _remove_old(run, names)
            for inner in (run / "nodes", run / "edges", run):
                if inner.is_dir():
                    sync(inner)
            _move(commit / MANIFEST, run / MANIFEST)
            sync(run)
        shutil.rmtree(commit, ignore_errors=True)
    except OSError as error:
        raise RunError(
            f"{run}: a save was interrupted here and cannot be finished ({error.strerror}); "
            "open the run once with write access"
        ) from None


def _remove_old(run: Path, names: dict[str, object]) -> None:
    """Remove files of the old run that the new one does not have."""
    patterns = ("config.json", "*.safetensors", "history.jsonl", "*/*.parquet")
    for old in (p for pattern in patterns for p in run.glob(pattern)):
        place = old.relative_to(run)
        if place.as_posix() not in names and place.parts[0] not in (_COMMIT, _NEXT):
            old.unlink(missing_ok=True)


def _move(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        source.replace(target)
    except FileNotFoundError:
        if not target.exists():  # otherwise it has been moved already
            raise
