"""Checkpoints: the state of a training, so that it can resume after any interruption.

``epoch-000012.safetensors`` holds tensors (weights, the optimizer's moments); ``epoch-000012.json``
holds everything else and the sha256 of both. The JSON file is written last; without it the
checkpoint does not exist. The newest two are kept, so that damage to one costs an epoch or two.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhne.errors import ParameterError, RunError
from dhne.files.digests import sha256_of_file, sha256_of_text
from dhne.files.plain_json import as_json, plain
from dhne.files.reading import one_line
from dhne.files.writing import replace_bytes, replacing, sweep

from .saving import saving
from .tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    import torch

    from .shard_checkpoints import ShardCheckpoints

    Tensors = dict[str, torch.Tensor]

FORMAT = 1
_NAME = re.compile(r"epoch-(\d+)\.json")


class DamagedCheckpointWarning(UserWarning):
    """A checkpoint is damaged; an older one is used."""


class Checkpoints:
    """The checkpoints of one training, in their own directory.

    Parameters
    ----------
    directory : path
        Created when the first checkpoint is saved.
    keep : int
        How many to keep.

    Examples
    --------
    >>> import tempfile, torch
    >>> checkpoints = Checkpoints(Path(tempfile.mkdtemp()))
    >>> checkpoints.save(3, {"weights": torch.ones(2)}, {"best": 0.5})
    >>> checkpoints.latest()
    ({'weights': tensor([1., 1.])}, {'best': 0.5})
    """

    def __init__(self, directory: str | Path, keep: int = 2) -> None:
        if keep < 1:
            raise ParameterError(f"at least one checkpoint must be kept, got keep={keep}")
        self.directory, self.keep = Path(directory), keep

    def epochs(self) -> list[int]:
        """Return the epochs that have a checkpoint, newest first."""
        if not self.directory.is_dir():
            return []
        found = (_NAME.fullmatch(p.name) for p in self.directory.iterdir())
        return sorted((int(m[1]) for m in found if m), reverse=True)

    def save(self, epoch: int, tensors: Tensors, meta: dict[str, Any]) -> None:
        """Save the state after `epoch`, then remove checkpoints that are no longer needed.

        Parameters
        ----------
        tensors : mapping of name to tensor, on any device
        meta : mapping
            Everything else, as JSON values; numbers are restored exactly.
        """
        data, note = self._files(epoch)
        with saving(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            sweep(self.directory)
            note.unlink(missing_ok=True)  # of an earlier training: it must not validate new data
            with replacing(data, durable=True) as (temporary,):
                write_tensors(temporary, tensors)
            write_note(note, {"epoch": epoch, "sha256": sha256_of_file(data)}, meta)
            self._remove(self.epochs()[self.keep :])

    def latest(self) -> tuple[Tensors, dict[str, Any]] | None:
        """Return (tensors, meta) of the newest undamaged checkpoint, or None.

        Warns
        -----
        DamagedCheckpointWarning
            For each damaged checkpoint that is skipped.
        """
        for epoch in self.epochs():
            try:
                return self._read(epoch)
            except RunError as error:
                warnings.warn(
                    f"{error}; resuming from an earlier one",
                    DamagedCheckpointWarning,
                    stacklevel=2,
                )
        return None

    @property
    def shards(self) -> ShardCheckpoints:
        """The checkpoints of a training by several workers, in the same directory."""
        from .shard_checkpoints import ShardCheckpoints

        return ShardCheckpoints(self.directory, self.keep)

    def is_empty(self) -> bool:
        """Whether there is no checkpoint of either kind."""
        return not self.epochs() and not self.shards.steps()

    def clear(self) -> None:
        """Remove all checkpoints; the directory stays."""
        if not self.directory.is_dir():
            return
        self.shards.clear()
        with saving(self.directory):
            self._remove(self.epochs())
            for orphan in self.directory.glob("epoch-*.safetensors"):
                orphan.unlink(missing_ok=True)
            sweep(self.directory)

    def _files(self, epoch: int) -> tuple[Path, Path]:
        stem = f"epoch-{epoch:06d}"
        return self.directory / f"{stem}.safetensors", self.directory / f"{stem}.json"

    def _remove(self, epochs: Iterable[int]) -> None:
        for epoch in epochs:
            data, note = self._files(epoch)
            note.unlink(missing_ok=True)  # first: without it the checkpoint does not exist
            data.unlink(missing_ok=True)

    def _read(self, epoch: int) -> tuple[Tensors, dict[str, Any]]:
        data, note = self._files(epoch)
        head, meta = read_note(note, "epoch", epoch)
        check_digest(data, head.get("sha256"))
        return read_tensors(data), meta


def write_note(note: Path, head: dict[str, Any], meta: dict[str, Any]) -> None:
    """Write the JSON file that makes a checkpoint valid."""
    text = as_json(meta, strict=False)
    head = {
        "format": FORMAT,
        **head,
        "meta_sha256": sha256_of_text(text),
        "meta": plain(meta),
    }
    replace_bytes(note, as_json(head, indent=1, strict=False).encode(), durable=True)


def read_note(note: Path, key: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `write_note` was given, if nothing of it has changed and `key` is `number`."""
    try:
        head = json.loads(note.read_text(encoding="utf-8"))
        meta = head["meta"]
        good = sha256_of_text(as_json(meta, strict=False)) == head["meta_sha256"]
        version, named = head["format"], head[key]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"checkpoint {note} is damaged: {one_line(error)}") from None
    if type(version) is int and version > FORMAT:
        raise RunError(f"checkpoint {note} has the newer format {version}; update dhne")
    if not good or named != number or not isinstance(meta, dict):
        raise RunError(f"checkpoint {note} is damaged: its checksum does not match")
    return head, meta


def check_digest(data: Path, expected: object) -> None:
    """Raise `RunError` if a file of a checkpoint is not what it was."""
    try:
        found = sha256_of_file(data)
    except OSError as error:
        raise RunError(f"checkpoint {data} cannot be read: {error.strerror}") from None
    if found != expected:
        raise RunError(f"checkpoint {data} is damaged: its checksum does not match")
