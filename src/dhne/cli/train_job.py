"""The work of ``dhne train``: begin or resume a run, fit, save, and report."""

from __future__ import annotations

import contextlib
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import typer

from dhne import workers
from dhne.errors import DHNEError, ParameterError, RunError

from .output import note
from .source import is_dataset, open_source

if TYPE_CHECKING:
    from dhne.estimator import DHNE
    from dhne.network.hypernetwork import HyperNetwork
    from dhne.training.callbacks import Callback


class Trackers(NamedTuple):
    """Where the numbers of a training go, besides the run itself."""

    tensorboard: Path | None = None
    mlflow: str | None = None


@dataclass
class TrainingJob:
    """One training: its run, source and settings.

    Attributes
    ----------
    out : the run's directory
    source : the names of datasets or files, and how to read them
    params : arguments of `DHNE`
    """

    out: Path
    source: dict[str, Any]
    params: dict[str, Any]
    resume: bool
    overwrite: bool

    @classmethod
    def of(
        cls,
        out: Path,
        *,
        names: list[str],
        source: dict[str, Any],
        params: dict[str, Any],
        typed: set[str],
        resume: bool,
        overwrite: bool,
    ) -> Self:
        """Make a job from the options; when resuming, the others are those of the beginning."""
        from dhne.storage import read_config, run_status, unfinished_run

        source = {"names": [_place(name) for name in names], **source}
        if names:
            typed = typed | {"names"}
        waiting = unfinished_run(out) if resume else None
        status = "training" if waiting else run_status(out) if resume else None
        if status is not None:
            before = read_config(waiting or out)
            if waiting and "update" in before:
                raise RunError(
                    f"{out} has an unfinished update; resume it by repeating the command: "
                    f"dhne update {shlex.join(map(str, before['update']['files']))} …"
                )
            source = _merge(before.get("source", {}), source, typed)
            params = _merge(before.get("params", {}), params, typed)
        if not source["names"] and status != "complete":
            raise ParameterError(
                "name a SOURCE, a dataset or a file"
                + (f": there is no run at {out} yet" if resume else "")
            )
        return cls(out, source, params, resume, overwrite)

    def run(
        self, *, checkpoint_seconds: float, trackers: Trackers, bar: bool
    ) -> dict[str, Any] | None:
        """Train to the end and save; return what was done, as plain data.

        Of several workers, the first saves and returns; the others return None.
        """
        from dhne.estimator import DHNE
        from dhne.storage import run_status, unfinished_run

        if self.resume and run_status(self.out) == "complete" and not unfinished_run(self.out):
            note(f"{self.out} is finished already; nothing to do")
            return self._report(_load(self.out), seconds=0.0) if workers.rank() == 0 else None
        model = DHNE(**self.params)
        model.check_params()  # mistakes are reported before anything is written
        group = model.join_workers() or workers.Group()
        callbacks = _callbacks(trackers, self, bar=bar) if group.is_first else []
        seconds = self._fit_and_save(model, group, callbacks, checkpoint_seconds)
        if not group.is_first:
            return None
        report = self._report(model, seconds)
        note(_summary(report))
        return report

    def _fit_and_save(
        self,
        model: DHNE,
        group: workers.Group,
        callbacks: list[Callback],
        checkpoint_seconds: float,
    ) -> float:
        """Train and save; return the seconds that training took."""
        from dhne.storage import Checkpoints, abandon_run, begin_run, lock_run

        config = {"method": "dhne", "params": self.params, "source": self.source}
        with contextlib.ExitStack() as held:
            place = ""
            with group.together():
                network = self._open()
                if group.is_first:  # it alone writes to the run, but all to its checkpoints
                    held.enter_context(lock_run(self.out))
                    begun = begin_run(
                        self.out, config, resume=self.resume, overwrite=self.overwrite
                    )
                    place = str(begun.directory.absolute())
            checkpoints = Checkpoints(group.text_of_first(place))
            begin = time.perf_counter()
            try:
                model.fit(
                    network,
                    callbacks=callbacks,
                    checkpoints=checkpoints,
                    checkpoint_seconds=checkpoint_seconds,
                )
            except KeyboardInterrupt:
                out = shlex.quote(str(self.out))
                note(f"\ninterrupted; resume with: dhne train --out {out} --resume")
                raise typer.Exit(130) from None
            except (DHNEError, MemoryError):
                if group.is_first and not self.resume:
                    abandon_run(self.out)  # unless there is a checkpoint to resume from
                raise
            seconds = time.perf_counter() - begin
            if group.is_first:
                model.save(self.out, notes={"source": self.source})
                checkpoints.clear()
        return seconds

    def _open(self) -> HyperNetwork:
        reading = {k: v for k, v in self.source.items() if k != "names"}
        return open_source(self.source["names"], **reading)

    def _report(self, model: DHNE, seconds: float) -> dict[str, Any]:
        return {
            "run": str(self.out),
            "source": self.source,
            "nodes": {t: model.network_.num_nodes(t) for t in model.network_.node_types},
            "edges": model.network_.num_edges(),
            "seconds": seconds,
            "epochs": len(model.history_),
            "last": model.history_[-1] if model.history_ else None,
            "config": model.config(),
        }


def _place(name: str) -> str:
    """A dataset's name, or the absolute path of a file: a run may be resumed from elsewhere."""
    return name if name == "-" or is_dataset(name) else str(Path(name).absolute())


def _merge(before: dict[str, Any], now: dict[str, Any], typed: set[str]) -> dict[str, Any]:
    return {k: v if k in typed else before.get(k, v) for k, v in now.items()}


def _load(path: Path) -> DHNE:
    from dhne.estimator import load

    return load(path)


def _callbacks(trackers: Trackers, job: TrainingJob, *, bar: bool) -> list[Callback]:
    from dhne.trackers import MLflow, TensorBoard
    from dhne.training.callbacks import ProgressBar

    callbacks: list[Callback] = [ProgressBar()] if bar else []
    if trackers.tensorboard is not None:
        callbacks.append(TensorBoard(trackers.tensorboard))
    if trackers.mlflow is not None:
        name, uri = job.out.name, trackers.mlflow
        callbacks.append(MLflow(tracking_uri=uri, run_name=name, params=job.params))
    return callbacks


def _summary(report: dict[str, Any]) -> str:
    last = report["last"] or {}
    auc = last.get("validation_auc")
    parts = [
        f"{report['edges']:,} hyperedges",
        f"{report['epochs']} epochs in {report['seconds']:.1f} s",
        f"loss {last.get('loss', float('nan')):.4f}",
    ]
    if auc is not None:
        parts.append(f"validation AUC {auc:.4f}")
    return f"{report['run']}: " + ", ".join(parts)
