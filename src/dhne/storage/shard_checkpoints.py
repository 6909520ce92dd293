"""Checkpoints of a training by several workers, so that it can go on with more or fewer of them.

``step-000000480/`` holds ``shard-00.safetensors`` … ``shard-63.safetensors``, the tables' rows and
moments of each virtual shard, written by the worker that has it, and ``dense.safetensors``, the
rest, written by the first. ``step-000000480.json`` beside it has the sha256 of all of them; it is
written last, and without it the checkpoint does not exist. The newest two are kept.

Several machines need a directory that all of them see.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhne.errors import RunError
from dhne.files.digests import sha256_of_file
from dhne.files.writing import replacing, sweep

from .checkpoints import DamagedCheckpointWarning, check_digest, read_note, write_note
from .saving import saving
from .tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]

_NAME = re.compile(r"step-(\d+)\.json")


class ShardCheckpoints:
    """The checkpoints of one training by several workers, in a directory of their own.

    Examples
    --------
    >>> import tempfile, torch
    >>> checkpoints = ShardCheckpoints(Path(tempfile.mkdtemp()))
    >>> checkpoints.begin(3)
    >>> digests = {"shard-00": checkpoints.write(3, "shard-00", {"w": torch.ones(2)})}
    >>> checkpoints.steps()
    []
    >>> checkpoints.commit(3, digests, {"epoch": 1})
    >>> checkpoints.steps(), checkpoints.read(3, ["shard-00"])
    ([3], ({'shard-00': {'w': tensor([1., 1.])}}, {'epoch': 1}))
    """

    def __init__(self, directory: str | Path, keep: int = 2) -> None:
        self.directory, self.keep = Path(directory), keep

    def steps(self) -> list[int]:
        """Return the steps after which there is a checkpoint, newest first."""
        if not self.directory.is_dir():
            return []
        found = (_NAME.fullmatch(p.name) for p in self.directory.iterdir())
        return sorted((int(m[1]) for m in found if m), reverse=True)

    def begin(self, step: int) -> None:
        """Make room for a checkpoint; remove those that were begun but not committed."""
        with saving(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            sweep(self.directory)
            self._note(step).unlink(missing_ok=True)
            valid = {self._folder(s) for s in self.steps()}
            for folder in self.directory.glob("step-*/"):
                if folder not in valid:
                    shutil.rmtree(folder, ignore_errors=True)
            self._folder(step).mkdir()

    def write(self, step: int, name: str, tensors: Tensors) -> bytes:
        """Write one file of a checkpoint and return its sha256."""
        file = self._file(step, name)
        with saving(self.directory), replacing(file, durable=True) as (temporary,):
            write_tensors(temporary, tensors)
            return bytes.fromhex(sha256_of_file(temporary))

    def commit(self, step: int, digests: dict[str, bytes], meta: dict[str, Any]) -> None:
        """Make a checkpoint valid, then remove those that are no longer needed."""
        files = {name: digest.hex() for name, digest in digests.items()}
        with saving(self.directory):
            write_note(self._note(step), {"step": step, "files": files}, meta)
            for old in self.steps()[self.keep :]:
                self._remove(old)

    def read(
        self, step: int, names: Sequence[str]
    ) -> tuple[dict[str, Tensors], dict[str, Any]] | None:
        """Return the tensors of some files of a checkpoint, and what else it holds.

        Warns
        -----
        DamagedCheckpointWarning
            If it is damaged; then None is returned.
        """
        try:
            head, meta = read_note(self._note(step), "step", step)
            files = head.get("files")
            for name in names:
                check_digest(
                    self._file(step, name), files.get(name) if isinstance(files, dict) else None
                )
            return {name: read_tensors(self._file(step, name)) for name in names}, meta
        except RunError as error:
            warnings.warn(
                f"{error}; resuming from an earlier one", DamagedCheckpointWarning, stacklevel=2
            )
            return None

    def clear(self) -> None:
        """Remove all checkpoints; the directory stays."""
        if self.directory.is_dir():
            with saving(self.directory):
                for step in self.steps():
                    self._remove(step)
                for folder in self.directory.glob("step-*/"):
                    shutil.rmtree(folder, ignore_errors=True)

    def _note(self, step: int) -> Path:
        return self.directory / f"step-{step:09d}.json"

    def _folder(self, step: int) -> Path:
        return self.directory / f"step-{step:09d}"

    def _file(self, step: int, name: str) -> Path:
        return self._folder(step) / f"{name}.safetensors"

    def _remove(self, step: int) -> None:
        self._note(step).unlink(missing_ok=True)  # first: without it there is no checkpoint
        shutil.rmtree(self._folder(step), ignore_errors=True)
