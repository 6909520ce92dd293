"""The work of ``dhne update``: read new files as training did, learn, and replace the run.

An interrupted update leaves its checkpoints where the new run will be. The same command resumes
from them; another update starts over.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dhne.errors import DHNEError, InputError, NoRowsError, ParameterError, RunError

from .output import note
from .queries import open_run
from .remembered import reading_of
from .run_source import run_source
from .source import open_source

if TYPE_CHECKING:
    from dhne.estimator import DHNE
    from dhne.network.hypernetwork import HyperNetwork
    from dhne.storage import Checkpoints
    from dhne.training.callbacks import Callback

# Options that a run remembers: a mapping or column that was given once need not be given again.
_REMEMBERED = ("columns", "weight", "time")


@dataclass
class UpdateJob:
    """One update.

    Attributes
    ----------
    source : the run to update
    files : new hyperedges
    out : the new run; None replaces `run`
    effort : arguments of `DHNE.partial_fit` that were given
    """

    source: str
    files: list[str]
    out: Path | None
    effort: dict[str, Any]

    @property
    def target(self) -> Path:
        """Where the new run will be."""
        return Path(self.source) if self.out is None else self.out

    def run(self, given: dict[str, Any], *, checkpoint_seconds: float, bar: bool) -> dict[str, Any]:
        """Update and save; return what was done, as plain data.

        `given` are the options of the source that were given.
        """
        from dhne.storage import lock_run, read_manifest, run_status

        if self.out is not None and run_status(self.out) == "complete":
            raise ParameterError(f"{self.out} exists already; name another --out, or remove it")
        with lock_run(self.target):
            model = open_run(self.source)
            parent = read_manifest(self.source)["checksum"]
            new = self._open(model, given)
            if not new.num_edges():
                note("there are no new hyperedges; nothing was changed")
                return {"run": self.source, "hyperedges": 0}
            begun = self._record(parent) | {"digest": _digest(new)}
            checkpoints = self._begin({"method": "dhne", "update": begun})
            self._learn(model, new, checkpoints, checkpoint_seconds, bar=bar)
            model.updates_[-1] |= self._record(parent)
            source = _remembering(run_source(self.source), given)
            model.save(self.target, notes={"source": source})
            checkpoints.clear()
        record = model.updates_[-1]
        note(
            f"{self.target}: {record['hyperedges']:,} new hyperedges, "
            f"{sum(record['nodes'].values()):,} new nodes"
        )
        return {"run": str(self.target), **record}

    def _record(self, parent: str) -> dict[str, Any]:
        """Return where an update comes from, for the configuration of the new run."""
        files = [f if f == "-" else str(Path(f).absolute()) for f in self.files]
        run = str(Path(self.source).absolute())
        return {"run": run, "parent": parent, "files": files, **self.effort}

    def _open(self, model: DHNE, given: dict[str, Any]) -> HyperNetwork:
        """Read the new files; refuse those whose columns are not what the run knows."""
        files = list(self.files)
        while True:
            options = reading_of(self.source, files, given)
            before = run_source(self.source)
            for name in _REMEMBERED:
                known = before.get(name)
                if known and not options.get(name) and not options["facts"]:
                    _refuse_missing(files, name, known)
            try:
                new = open_source(files, **options)
                break
            except NoRowsError as error:
                files = [f for f in files if f != str(error.file)]
                if not files:
                    return model.network_.with_edges([])
        unknown = [t for t in new.node_types if t not in model.network_.node_types]
        if unknown and not given["columns"] and not _names_types(self.files):
            raise InputError(
                f"found the node types {', '.join(new.node_types)}, but the run knows "
                f"{', '.join(model.network_.node_types)}; name the columns to use with --columns, "
                "which may also add node types",
                file=self.files[0],
            )
        return new

    def _begin(self, config: dict[str, Any]) -> Checkpoints:
        """Return the checkpoints: those of the same update if it was interrupted, or none yet."""
        from dhne.files.plain_json import plain
        from dhne.storage import begin_run, read_config, unfinished_run

        waiting = unfinished_run(self.target)
        if waiting is None:
            return begin_run(self.target, config, overwrite=self.out is None)
        before = read_config(waiting)
        if before == plain(config, finite=True):
            note("resuming the interrupted update")
            return begin_run(self.target, config, resume=True)
        if "update" not in before:
            raise RunError(
                f"{self.target} has an unfinished training; finish it with: dhne train --out "
                f"{shlex.quote(str(self.target))} --resume"
            )
        note("another update was interrupted here; starting over")
        return begin_run(self.target, config, overwrite=True)

    def _learn(
        self,
        model: DHNE,
        new: HyperNetwork,
        checkpoints: Checkpoints,
        checkpoint_seconds: float,
        *,
        bar: bool,
    ) -> None:
        from dhne.storage import abandon_run
        from dhne.training.callbacks import ProgressBar

        callbacks: list[Callback] = [ProgressBar()] if bar else []
        try:
            model.partial_fit(
                new,
                **self.effort,
                callbacks=callbacks,
                checkpoints=checkpoints,
                checkpoint_seconds=checkpoint_seconds,
            )
        except KeyboardInterrupt:
            note("\ninterrupted; resume by repeating the command")
            raise typer.Exit(130) from None
        except (DHNEError, MemoryError):
            abandon_run(self.target)  # unless there is a checkpoint to resume from
            raise


def _digest(network: HyperNetwork) -> str:
    """Return a digest of the new hyperedges, names included."""
    from dhne.files.digests import sha256_of_text
    from dhne.network.digest import edges_digest

    names = {t: network.names(t).to_pylist() for t in network.node_types}
    return sha256_of_text(f"{edges_digest(network)} {names}")


def _refuse_missing(files: list[str], name: str, known: Any) -> None:
    text = ", ".join(known) if isinstance(known, list) else known
    raise InputError(
        f"the run was trained with --{name} {text}, which does not fit the columns of "
        f"{'these files' if len(files) > 1 else 'this file'}; name what to use with --{name}",
        file=files[0] if len(files) == 1 else None,
    )


def _names_types(files: list[str]) -> bool:
    """Whether the files themselves name their node types."""
    from dhne.io import format_of

    return all(f != "-" and format_of(f) != "table" for f in files)


def _remembering(source: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return a run's source with what was given now, for the next update."""
    source = dict(source)
    for name in _REMEMBERED:
        before = source.get(name) or []
        before = [before] if isinstance(before, str) else before
        source[name] = list(dict.fromkeys([*before, *(given[name] or [])])) or None
    return source
