"""The training loop: epochs of batches, a schedule, validation, checkpoints, callbacks.

Each step minimises, over a batch of hyperedges and their negatives,

    (1/M) Σ_τ [ cross-entropy(τ) + α Σ_{v ∈ τ} ‖sign(A_v) ⊙ (A_v − Â_v)‖² ],

τ running over the batch's M tuples. A node that k tuples visit is encoded and decoded once and its
squared error counted k times, which is the same sum. The batch is drawn uniformly from the shuffled
hyperedges with fresh negatives, so this is an unbiased estimate of the mean over all hyperedges of
the expected loss of a hyperedge and its negatives: the gradient of the paper's L1 + α L2, in which
a node's row weighs as often as tuples visit it.
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

from .batches import BatchMaker
from .callbacks import Callback, Progress
from .optimizers import LinearDecay, Optimizer
from .step_inputs import StepInputs


class CheckpointStore(Protocol):
    """Where a training leaves its state, and finds it again."""

    def save(self, epoch: int, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Keep the state after an epoch."""

    def latest(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the newest undamaged state, if there is any."""

    @property
    def shards(self) -> ShardStore:
        """Where several workers leave theirs."""


class ShardStore(Protocol):
    """Where workers leave the state of their training; see `dhne.storage.ShardCheckpoints`."""

    def steps(self) -> list[int]:
        """Return the steps after which there is a state, newest first."""

    def begin(self, step: int) -> None:
        """Make room for a state."""

    def write(self, step: int, name: str, tensors: dict[str, Tensor]) -> bytes:
        """Write one file of it, and return its digest of 32 bytes."""

    def commit(self, step: int, digests: dict[str, bytes], meta: dict[str, Any]) -> None:
        """Make the state valid."""

    def read(
        self, step: int, names: Sequence[str]
    ) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]] | None:
        """Return the tensors of these files and the rest, or None if something is damaged."""


class DivergedError(DHNEError, ArithmeticError):
    """The loss is no longer a number."""

    is_everywhere = True


@dataclass
class Best:
    """The best epoch so far, by validation, and its weights."""

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
        Returns the validation AUC of the model as it is.
    callbacks : sequence of Callback
    checkpoints : CheckpointStore, optional
        Resumes from its newest state, and saves there.
    checkpoint_seconds : float
        The least time between two checkpoints.
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
        self.schedule = LinearDecay(settings.learning_rate, steps, settings.decay)
        self.progress = Progress(settings.epochs, maker.num_batches, maker.num_edges)
        self.best = Best()
        self._batches_done = 0  # of the epoch under way, and its losses so far
        self._losses = torch.zeros(2, dtype=torch.float64, device=maker.device)
        self._saved = time.perf_counter()
        self._first_step = 0

    def start_from(self, moments: dict[str, Tensor]) -> None:
        """Go on from the optimizer's state of an earlier training; the schedule begins anew."""
        self.optimizer.load_state_dict(moments)
        self._first_step = self.optimizer.steps

    def run(self) -> list[dict[str, Any]]:
        """Train to the end and return the history, a record an epoch."""
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
        """Return what is decided; several workers decide alike."""
        return mine

    def _after_batch(self, number: int) -> None:
        """Called after each batch of an epoch."""

    def _run_epoch(self) -> None:
        progress, begin = self.progress, time.perf_counter()
        watchers = [c for c in self.callbacks if c.wants_batches]
        total, rate = self._losses, 0.0
        for number, inputs in enumerate(self.maker.epoch(self.seed, progress.epoch), start=1):
            if number <= self._batches_done:  # before an interruption
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

    # -- going on after an interruption ----------------------------------------------------------

    def _save(self) -> None:
        assert self.checkpoints is not None
        self.checkpoints.save(self.progress.epoch, self._state(), self._meta())

    def _state(self) -> dict[str, Tensor]:
        """Return all tensors that a training goes on with."""
        tensors = {f"model/{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"optimizer/{k}": v for k, v in self.optimizer.state_dict().items()}
        if self.best.weights is not None:
            tensors |= {f"best/{k}": v for k, v in self.best.weights.items()}
        return tensors

    def _meta(self) -> dict[str, Any]:
        """Return all else."""
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
        """Go on from `_state` and `_meta`."""
        self._check_same(meta)
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "best": {}}
        for key, tensor in tensors.items():
            part, name = key.split("/", 1)
            parts[part][name] = tensor.to(self.maker.device)
        self.model.load_state_dict(parts["model"])
        self.optimizer.load_state_dict(parts["optimizer"])
        if parts["best"]:
            self.best = Best(meta["best_auc"], meta["best_epoch"], parts["best"])
        self.progress.epoch, self.progress.history = meta["epoch"], meta["history"]

    def _check_same(self, meta: dict[str, Any]) -> None:
        if meta["fingerprint"] != self._fingerprint():
            raise RunError(
                "the checkpoint was made with other data or settings; resume with the same ones, "
                "or begin anew in another directory"
            )

    def _fingerprint(self) -> str:
        """What must be the same for a training to go on as if it had not been interrupted."""
        shapes = [(k, list(v.shape), str(v.dtype)) for k, v in self.model.state_dict().items()]
        return f"{self.settings} seed={self.seed} edges={self.maker.fingerprint} {shapes}"
