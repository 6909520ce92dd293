"""Callbacks: hooks into the training, and some common ones.

A callback receives the `Progress` of a training. Returning ``True`` from `on_epoch_end` stops the
training after that epoch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dhne.errors import MissingExtraError


@dataclass
class Progress:
    """The state of a training.

    Attributes
    ----------
    epochs, num_batches, num_edges : int
        Epochs of the training; batches and hyperedges of an epoch.
    epoch, batch : int
        Completed epochs, and completed batches of the current epoch.
    first_order, second_order : float
        The two parts of the loss, averaged over this epoch so far; the second includes α.
    history : list of records, one per epoch
    """

    epochs: int
    num_batches: int
    num_edges: int
    epoch: int = 0
    batch: int = 0
    first_order: float = float("nan")
    second_order: float = float("nan")
    history: list[dict[str, Any]] = field(default_factory=list)


class Callback:
    """Base of callbacks; override what you need."""

    wants_batches = False  # whether to call on_batch_end; reading the loss costs a little time

    def on_train_begin(self, progress: Progress) -> None:
        """Called before the first epoch, or before the epoch that a training resumes with."""

    def on_batch_end(self, progress: Progress) -> None:
        """Called after each batch, if `wants_batches`."""

    def on_epoch_end(self, progress: Progress) -> bool | None:
        """Called after each epoch, with its record in ``progress.history[-1]``; True stops."""
        return None

    def on_train_end(self, progress: Progress) -> None:
        """Called when training ends, for any reason."""


class ProgressBar(Callback):
    """A progress bar with losses, validation AUC, hyperedges per second and remaining time.

    Parameters
    ----------
    file : text stream, optional
        Output; standard error by default. Nothing is drawn if it is not a terminal.
    """

    wants_batches = True

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file or sys.stderr
        self._bar: Any = None

    def on_train_begin(self, progress: Progress) -> None:
        """Draw the bar if the output is a terminal."""
        if not self.file.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("[bold]epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("{task.fields[loss]}"),
            TimeRemainingColumn(),
            console=Console(file=self.file),
            transient=False,
        )
        total = progress.epochs * progress.num_batches
        self._task = self._bar.add_task(
            "train",
            total=total,
            completed=progress.epoch * progress.num_batches,
            **self._say(progress, 0),
        )
        self._begin, self._first = time.perf_counter(), progress.epoch * progress.num_batches
        self._drawn = 0.0
        self._bar.start()

    def _say(self, progress: Progress, rate: float) -> dict[str, str]:
        loss = ""
        if progress.first_order == progress.first_order:  # NaN before the first batch
            loss = f"L1 {progress.first_order:.4f}  αL2 {progress.second_order:.4f}"
        auc = progress.history[-1].get("validation_auc") if progress.history else None
        if auc is not None:
            loss += f"  AUC {auc:.4f}"
        if rate:
            loss += f"  {rate:,.0f} edges/s"
        return {
            "epoch": f"{min(progress.epoch + 1, progress.epochs)}/{progress.epochs}",
            "loss": loss,
        }

    def on_batch_end(self, progress: Progress) -> None:
        """Update the bar, at most ten times per second."""
        if self._bar is not None and time.perf_counter() - self._drawn >= 0.1:
            self._draw(progress)

    def _draw(self, progress: Progress) -> None:
        self._drawn = time.perf_counter()
        done = progress.epoch * progress.num_batches + progress.batch
        per_batch = progress.num_edges / progress.num_batches
        rate = (done - self._first) * per_batch / max(self._drawn - self._begin, 1e-9)
        self._bar.update(self._task, completed=done, **self._say(progress, rate))

    def on_ranking_epoch(self, epoch: int, epochs: int, loss: float) -> None:
        """Show the progress of training products, on a separate line."""
        if self.file.isatty():
            end = "\n" if epoch == epochs else ""
            self.file.write(f"\rproducts: epoch {epoch}/{epochs}  loss {loss:.4f}{end}")
            self.file.flush()

    def on_train_end(self, progress: Progress) -> None:
        """Leave the bar in place, with the final numbers."""
        if self._bar is not None:
            self._draw(progress)
            self._bar.stop()
            self._bar = None


class JsonLines(Callback):
    """Appends each epoch's record to a file as one line of JSON."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def on_train_begin(self, progress: Progress) -> None:
        """Write the records of the epochs that a resumed training has already done."""
        self.path.write_text("".join(json.dumps(r) + "\n" for r in progress.history))

    def on_epoch_end(self, progress: Progress) -> None:
        """Append the record."""
        with self.path.open("a") as file:
            file.write(json.dumps(progress.history[-1]) + "\n")


class TensorBoard(Callback):
    """Writes each epoch's numbers for TensorBoard (needs the package tensorboard)."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = str(directory)
        self._writer: Any = None

    def on_train_begin(self, progress: Progress) -> None:
        """Open the log."""
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtraError("tensorboard", extra="tracking") from None
        self._writer = SummaryWriter(self.directory)

    def on_epoch_end(self, progress: Progress) -> None:
        """Log every number of the record."""
        record = progress.history[-1]
        for key, value in record.items():
            if key != "epoch" and isinstance(value, int | float):
                self._writer.add_scalar(key, value, record["epoch"])

    def on_train_end(self, progress: Progress) -> None:
        """Close the log."""
        if self._writer is not None:
            self._writer.close()


def default_callbacks(verbose: bool, given: Sequence[Callback] | None) -> list[Callback]:
    """Return the callbacks of a training: those given, plus a progress bar if `verbose`."""
    callbacks = list(given or [])
    if verbose and not any(isinstance(c, ProgressBar) for c in callbacks):
        callbacks.append(ProgressBar())
    return callbacks
