"""The training loop: epochs of batches, a schedule, validation, checkpoints, callbacks.

Each step minimises, over a batch of hyperedges and their negatives,

    (1/M) Σ_τ [ cross-entropy(τ) + α Σ_{v ∈ τ} ‖sign(A_v) ⊙ (A_v − Â_v)‖² ],

where τ runs over the batch's M tuples. A node in k tuples is encoded and decoded once and its
squared error counted k times, which gives the same sum. The batch is a uniform sample of the
hyperedges with fresh negatives, so this is an unbiased estimate of the mean over all hyperedges of
the expected loss of a hyperedge and its negatives: the gradient of the paper's L1 + α L2, with each
node's row weighted by the number of tuples that contain it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from dhne.errors import DHNEError, RunError
from dhne.hyperparameters import Settings
from dhne.kernels import Kernels, StepSize
from dhne.model.joint import DHNEModel
from dhne.model.losses import make_loss

from .averaging import WeightMean
from .batches import BatchMaker
from .callbacks import Callback, Progress
from .optimizers import LinearDecay, Optimizer
from .step_inputs import StepInputs


class CheckpointStore(Protocol):
    """Storage for the state of a training."""

    def save(self, epoch: int, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Save the state after an epoch."""

    def latest(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the newest intact state, if there is one."""

    @property
    def shards(self) -> ShardStore:
        """The storage for several workers."""


class ShardStore(Protocol):
    """Storage for the state of several workers; see `dhne.storage.ShardCheckpoints`."""

    def steps(self) -> list[int]:
        """Return the steps with a saved state, newest first."""

    def begin(self, step: int) -> None:
        """Start writing a state."""

    def write(self, step: int, name: str, tensors: dict[str, Tensor]) -> bytes:
        """Write one file of the state, and return its 32-byte digest."""

    def commit(self, step: int, digests: dict[str, bytes], meta: dict[str, Any]) -> None:
        """Make the state valid."""

    def read(
        self, step: int, names: Sequence[str]
    ) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return the tensors of these files and the metadata, or None if a file is damaged."""


class DivergedError(DHNEError, ArithmeticError):
    """The loss is not finite."""

    is_everywhere = True


@dataclass
class Best:
    """The best epoch so far by validation AUC, and its weights."""

    auc: float = -math.inf
    epoch: int = 0
    weights: dict[str, Tensor] | None = None


class Trainer:
    """Trains a model on the batches of a `BatchMaker`.

    Parameters
    ----------
    model, maker, kernels
    settings : Settings
        With batch size and epochs filled in.
    seed : int
    validate : callable, optional
        Returns the model's current validation AUC.
    callbacks : sequence of Callback
    checkpoints : CheckpointStore, optional
        Resumes from the newest state, and saves new ones.
    checkpoint_seconds : float
        Minimum time between two checkpoints.
    """

    def __init__(
        self,
        model: DHNEModel,
        maker: BatchMaker,
        kernels: Kernels,
        settings: Settings,
        *,
        seed: int,
        validate: Callable[[], float] | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoints: CheckpointStore | None = None,
        checkpoint_seconds: float = 30.0,
    ) -> None:
        assert settings.epochs is not None
        self.model, self.maker, self.kernels = model, maker, kernels
        self.settings, self.seed, self.validate = settings, seed, validate
        self.callbacks, self.checkpoints = callbacks, checkpoints
        self.checkpoint_seconds = checkpoint_seconds
        for table in model.tables():
            table.gain = settings.table_rate
        self.optimizer = Optimizer(model.named_parameters(), settings.optimizer, kernels)
        self.loss = make_loss(settings.loss)
        steps = settings.epochs * maker.num_batches
        self.schedule = LinearDecay(settings.learning_rate, steps, settings.decay or 0.0)
        self.progress = Progress(settings.epochs, maker.num_batches, maker.num_edges)
        self.best = Best()
        share = (settings.averaging or 0.0) if validate is None else 0.0
        self.mean = WeightMean(model, settings.epochs, share)
        self._batches_done = 0  # in the current epoch, and its losses so far
        self._losses = torch.zeros(2, dtype=torch.float64, device=maker.device)
        self._saved = time.perf_counter()
        self._first_step = 0

    def start_from(self, moments: dict[str, Tensor]) -> None:
        """Start from an earlier training's optimizer state; the schedule starts over."""
        self.optimizer.load_state_dict(moments)
        self._first_step = self.optimizer.steps

    def run(self) -> list[dict[str, Any]]:
        """Train to the end and return the history, one record per epoch."""
        self._resume()
        for callback in self.callbacks:
            callback.on_train_begin(self.progress)
        try:
            with self.kernels.training():
                self._run_epochs()
        finally:
            for callback in self.callbacks:
                callback.on_train_end(self.progress)
        if self.best.weights is not None:
            self.model.load_state_dict(self.best.weights)
        self.mean.finish()
        return self.progress.history

    def _run_epochs(self) -> None:
        progress, self._saved = self.progress, time.perf_counter()
        while progress.epoch < progress.epochs and not self._should_stop():
            self._run_epoch()
            stop = [bool(c.on_epoch_end(progress)) for c in self.callbacks]
            self._save_if_due()
            if self._agree(any(stop)):
                break

    def _save_if_due(self) -> None:
        due = time.perf_counter() - self._saved >= self.checkpoint_seconds
        if self.checkpoints is not None and due:
            self._save()
            self._saved = time.perf_counter()

    def _agree(self, mine: bool) -> bool:
        """Return the decision; several workers agree on one."""
        return mine

    def _after_batch(self, number: int) -> None:
        """Called after each batch of an epoch."""

    def _run_epoch(self) -> None:
        progress, begin = self.progress, time.perf_counter()
        watchers = [c for c in self.callbacks if c.wants_batches]
        total, rate = self._losses, 0.0
        for number, inputs in enumerate(self.maker.epoch(self.seed, progress.epoch), start=1):
            if number <= self._batches_done:  # done before an interruption
                continue
            rate = self.schedule(self.optimizer.steps - self._first_step)
            size = self.optimizer.next_size(rate)
            total += self.kernels.run_step(self._step, inputs, size)
            self._after_batch(number)
            if watchers:
                progress.batch = number
                progress.first_order, progress.second_order = (total / number).tolist()
                for callback in watchers:
                    callback.on_batch_end(progress)
        progress.first_order, progress.second_order = (total / self.maker.num_batches).tolist()
        total.zero_()
        self._batches_done = 0
        loss = progress.first_order + progress.second_order
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss became {loss} in epoch {progress.epoch + 1}; "
                f"try a learning rate below {self.settings.learning_rate}"
            )
        progress.epoch, progress.batch = progress.epoch + 1, 0
        self.mean.add(progress.epoch)
        record = {
            "epoch": progress.epoch,
            "loss": loss,
            "first_order": progress.first_order,
            "second_order": progress.second_order,
            "learning_rate": rate,
        }
        seconds = time.perf_counter() - begin
        if self.validate is not None:
            record["validation_auc"] = self._watch(self.validate())
        record["seconds"] = seconds
        record["edges_per_second"] = progress.num_edges / max(seconds, 1e-9)
        progress.history.append(record)

    def _step(self, inputs: StepInputs, size: StepSize) -> Tensor:
        """Take one step and return (L1, α L2)."""
        batch = self.maker.assemble(inputs)
        first, second = self.model.loss(
            self.kernels, batch, self.loss, second_order=bool(self.settings.alpha)
        )
        (first + second).backward()  # type: ignore[no-untyped-call]
        self.optimizer.step(size)
        return torch.stack([first.detach(), second.detach()])

    def _watch(self, auc: float) -> float:
        if auc > self.best.auc:
            weights = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
            self.best = Best(auc, self.progress.epoch, weights)
        return auc

    def _should_stop(self) -> bool:
        waited = self.progress.epoch - self.best.epoch
        return self.validate is not None and waited >= self.settings.patience

    # -- resuming after an interruption ----------------------------------------------------------

    def _save(self) -> None:
        assert self.checkpoints is not None
        self.checkpoints.save(self.progress.epoch, self._state(), self._meta())

    def _state(self) -> dict[str, Tensor]:
        """Return all tensors needed to resume."""
        tensors = {f"model/{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"optimizer/{k}": v for k, v in self.optimizer.state_dict().items()}
        if self.best.weights is not None:
            tensors |= {f"best/{k}": v for k, v in self.best.weights.items()}
        tensors |= {f"mean/{k}": v for k, v in self.mean.weights.items()}
        return tensors

    def _meta(self) -> dict[str, Any]:
        """Return everything else needed to resume."""
        return {
            "epoch": self.progress.epoch,
            "history": self.progress.history,
            "best_auc": self.best.auc if self.best.weights is not None else None,
            "best_epoch": self.best.epoch,
            "fingerprint": self._fingerprint(),
        }

    def _resume(self) -> None:
        found = self.checkpoints.latest() if self.checkpoints is not None else None
        if found is not None:
            self._restore(*found)

    def _restore(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Resume from `_state` and `_meta`."""
        self._check_same(meta)
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "best": {}, "mean": {}}
        for key, tensor in tensors.items():
            part, name = key.split("/", 1)
            parts[part][name] = tensor.to(self.maker.device)
        self.model.load_state_dict(parts["model"])
        self.optimizer.load_state_dict(parts["optimizer"])
        if parts["best"]:
            self.best = Best(meta["best_auc"], meta["best_epoch"], parts["best"])
        self.mean.resume(parts["mean"])
        self.progress.epoch, self.progress.history = meta["epoch"], meta["history"]

    def _check_same(self, meta: dict[str, Any]) -> None:
        if meta["fingerprint"] != self._fingerprint():
            raise RunError(
                "the checkpoint was made with other data or settings; resume with the same ones, "
                "or start over in another directory"
            )

    def _fingerprint(self) -> str:
        """What must match to resume a training as if it had not been interrupted."""
        shapes = [(k, list(v.shape), str(v.dtype)) for k, v in self.model.state_dict().items()]
        return f"{self.settings} seed={self.seed} edges={self.maker.fingerprint} {shapes}"
