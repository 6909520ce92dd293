"""Beginning, saving and loading runs."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhne.errors import DHNEError, RunError
from dhne.files.plain_json import as_json, parse_json, plain
from dhne.files.reading import one_line
from dhne.network.hypernetwork import HyperNetwork

from .checkpoints import Checkpoints
from .locking import lock_run
from .manifest import (
    check_files,
    check_one,
    is_run,
    make_manifest,
    read_manifest,
    write_manifest,
)
from .network_tables import read_network, write_network
from .replacing import finish_commit, next_run, replace_run
from .tensors import map_tensors, read_tensors, write_tensors

if TYPE_CHECKING:
    import torch

_OPTIMIZER = "optimizer.safetensors"


@dataclass
class RunContents:
    """The contents of a finished run.

    Attributes
    ----------
    config : dict
        The method, its parameters and the shape of its model, as JSON values.
    tensors : mapping of name to tensor
        The model's weights.
    network : HyperNetwork
        The network that it was trained on.
    embeddings : mapping of node type to float32[n, d]
    history : list of records, one per epoch
        Numbers that JSON cannot express (NaN) are restored as None.
    optimizer : mapping of name to tensor, optional
        The optimizer's moments, from which an update continues. Read only when used.
    """

    config: dict[str, Any]
    tensors: dict[str, torch.Tensor]
    network: HyperNetwork
    embeddings: dict[str, npt.NDArray[np.float32]]
    history: list[dict[str, Any]] = field(default_factory=list)
    optimizer: dict[str, torch.Tensor] | None = None


def run_status(path: str | Path) -> str | None:
    """Return "complete" or "training" (unfinished), or None if there is no run.

    Examples
    --------
    >>> run_status("no/such/run") is None
    True
    """
    finish_commit(Path(path))
    return str(read_manifest(path)["status"]) if is_run(path) else None


def unfinished_run(path: str | Path) -> Path | None:
    """Return the directory with the state of the unfinished training at `path`, or None.

    It is the run itself or, if the training will replace a finished run, a directory within it.

    Examples
    --------
    >>> unfinished_run("no/such/run") is None
    True
    """
    for place in (next_run(Path(path)), Path(path)):
        if run_status(place) == "training":
            return place
    return None


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the configuration of a run, finished or not."""
    run = Path(path)
    finish_commit(run)
    manifest = read_manifest(run)
    check_one(run, manifest, "config.json")
    return _read_json(run / "config.json")


# -- beginning -------------------------------------------------------------------------------------


def begin_run(
    path: str | Path, config: dict[str, Any], *, resume: bool = False, overwrite: bool = False
) -> Checkpoints:
    """Begin a run at `path` and return its checkpoints.

    Parameters
    ----------
    path : path
        A new or empty directory; with `resume` or `overwrite` also a run.
    config : dict
        The configuration of the training; to resume, it must be the same as before.
    resume : bool
        Whether to resume an unfinished run; if there is none, a new one begins.
    overwrite : bool
        Whether to replace an existing run. A finished run is kept until the new one is saved.

    Raises
    ------
    RunError
        If something would be lost, or the run to resume has another configuration.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/run"
    >>> checkpoints = begin_run(path, {"seed": 0})
    >>> run_status(path), checkpoints.latest()
    ('training', None)
    """
    run = Path(path)
    finish_commit(run)
    waiting = unfinished_run(run) if resume else None
    if is_run(run) and not overwrite:
        _check_resumable(waiting or run, config, resume=resume)
        return Checkpoints((waiting or run) / "checkpoints")
    finished = _is_finished(run)
    if finished:
        shutil.rmtree(next_run(run), ignore_errors=True)
    place = next_run(run) if finished else run
    checkpoints = Checkpoints(place / "checkpoints")
    checkpoints.clear()

    def write(directory: Path) -> None:
        (directory / "config.json").write_bytes(_pretty(config))
        manifest = make_manifest(directory, ["config.json"], status="training")
        write_manifest(directory, manifest)

    replace_run(place, write)
    return checkpoints


def _is_finished(run: Path) -> bool:
    """Whether there is a finished run that must be kept for now."""
    try:
        return run_status(run) == "complete"
    except RunError:  # damaged: to be overwritten
        return False


def abandon_run(path: str | Path) -> None:
    """Remove an unfinished run without a checkpoint: it cannot be resumed."""
    place = unfinished_run(path)
    if place is None or not Checkpoints(place / "checkpoints").is_empty():
        return
    shutil.rmtree(place / "checkpoints", ignore_errors=True)
    for name in ("config.json", "manifest.json"):
        (place / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it holds something else: keep it
        place.rmdir()


def _check_resumable(run: Path, config: dict[str, Any], *, resume: bool) -> None:
    if run_status(run) == "complete":
        what = "there is nothing to resume; " if resume else ""
        raise RunError(
            f"{run} holds a finished run; {what}choose another name, or replace it (--overwrite)"
        )
    if not resume:
        raise RunError(
            f"{run} holds an unfinished run; resume it (--resume), choose another name, or "
            "replace it (--overwrite)"
        )
    before, now = read_config(run), plain(config, finite=True)
    different = list(_differences("", before, now))
    if different:
        raise RunError(
            f"{run} was begun with other settings ({', '.join(different)}); resume with the same "
            "ones, or choose another name"
        )


def _differences(prefix: str, before: Any, now: Any) -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            line
            for key in sorted({*before, *now})
            for line in _differences(
                f"{prefix}.{key}" if prefix else key, before.get(key), now.get(key)
            )
        ]
    return [] if before == now else [f"{prefix} was {before!r}, is {now!r}"]


# -- saving ----------------------------------------------------------------------------------------


def save_run(path: str | Path, contents: RunContents) -> None:
    """Save a finished run at `path` atomically.

    An existing run is replaced, except for its checkpoints; if the save fails, it is unchanged.

    Raises
    ------
    RunError
        If `path` holds something other than a run, or cannot be written.
    """

    def write(directory: Path) -> None:
        network = write_network(directory, contents.network, contents.embeddings)
        write_tensors(directory / "model.safetensors", contents.tensors)
        if contents.optimizer is not None:
            write_tensors(directory / _OPTIMIZER, contents.optimizer)
        (directory / "config.json").write_bytes(_pretty(contents.config))
        lines = "".join(as_json(record) + "\n" for record in contents.history)
        (directory / "history.jsonl").write_text(lines, encoding="utf-8")
        files = sorted(
            p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file()
        )
        manifest = make_manifest(directory, files, status="complete", network=network)
        write_manifest(directory, manifest)

    with lock_run(Path(path)):
        replace_run(Path(path), write)


def _pretty(config: dict[str, Any]) -> bytes:
    return (as_json(config, indent=2) + "\n").encode()


# -- loading ---------------------------------------------------------------------------------------


def _unfinished(run: Path) -> str:
    """Return the error message of an unfinished run, with the command that resumes it."""
    place = shlex.quote(str(run))
    config = read_config(run)
    if "update" in config:
        begun = config["update"]
        files = shlex.join([str(begun["run"]), *map(str, begun["files"])])
        return (
            f"{run}: its update has not finished; resume it by repeating the command: "
            f"dhne update {files} --out {place} …"
        )
    if "tuning" not in config:
        command = f"dhne train --out {place} --resume"
        return f"{run}: its training has not finished; resume it with: {command}"
    source = shlex.join(map(str, config["tuning"]["source"]))
    return (
        f"{run}: its search has not finished; resume it by repeating the command: "
        f"dhne tune {source} --out {place} …"
    )


def load_run(path: str | Path, *, verify: bool = True) -> RunContents:
    """Return the contents of a finished run.

    Parameters
    ----------
    path : path
    verify : bool
        Whether to verify the checksum of every file first.

    Raises
    ------
    RunError
        If there is no run, its training has not finished, its format is newer than this version
        can read, or a file is missing or damaged; the message names the file.
    """
    run = Path(path)
    finish_commit(run)
    manifest = read_manifest(run)
    if manifest["status"] != "complete":
        raise RunError(_unfinished(run))
    if verify:
        check_files(run, manifest)
    network, embeddings = read_network(run, manifest["network"])
    return RunContents(
        config=_read_json(run / "config.json"),
        tensors=read_tensors(run / "model.safetensors"),
        network=network,
        embeddings=embeddings,
        history=_read_lines(run / "history.jsonl"),
        optimizer=map_tensors(run / _OPTIMIZER) if _OPTIMIZER in manifest["files"] else None,
    )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = parse_json(file.read_bytes(), file)
    except DHNEError as error:
        raise RunError(f"{error}; the run is damaged") from None
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error.strerror}") from None
    if not isinstance(found, dict):
        raise RunError(f"{file}: not a JSON object; the run is damaged")
    return found


def _read_lines(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        found = [json.loads(line) for line in text.splitlines() if line]
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{file}: cannot be read: {one_line(error)}; the run is damaged") from None
    if not all(isinstance(record, dict) for record in found):
        raise RunError(f"{file}: a line is not a JSON object; the run is damaged")
    return found
