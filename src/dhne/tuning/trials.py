"""Trials of a search: monitoring, outcomes, and the result of the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dhne.training.callbacks import Callback, Progress

if TYPE_CHECKING:
    from dhne.estimator import DHNE


@dataclass(frozen=True)
class Trial:
    """A finished trial.

    Attributes
    ----------
    number : int
        Counting from 1.
    outcome : {"complete", "pruned", "diverged"}
    auc : float or None
        The best validation AUC, if complete.
    params : dict
        The proposed values.
    epochs : int
        The epoch with the best AUC.
    seconds : float
    """

    number: int
    outcome: str
    auc: float | None
    params: dict[str, Any]
    epochs: int
    seconds: float


@dataclass(frozen=True)
class Tuned:
    """The outcome of a search.

    Attributes
    ----------
    auc : float
        The best trial's validation AUC.
    params : dict
        Arguments of `DHNE` for a training on all hyperedges with the best trial's settings.
    best : Trial
    trials : list of Trial
    """

    auc: float
    params: dict[str, Any]
    best: Trial
    trials: list[Trial] = field(repr=False)

    def model(self) -> DHNE:
        """Return the best model, unfitted."""
        from dhne.estimator import DHNE

        return DHNE(**self.params)


class Watch(Callback):
    """Reports each epoch's validation AUC to the trial, and stops training if it falls behind."""

    def __init__(self, trial: Any) -> None:
        self.trial, self.pruned = trial, False
        self.auc, self.epoch = -1.0, 0

    def on_epoch_end(self, progress: Progress) -> bool:
        """Remember the best epoch; True stops the trial."""
        auc = float(progress.history[-1]["validation_auc"])
        if auc > self.auc:
            self.auc, self.epoch = auc, progress.epoch
        self.trial.report(auc, progress.epoch)
        self.pruned = progress.epoch < progress.epochs and bool(self.trial.should_prune())
        return self.pruned


def finished(study: Any) -> list[Trial]:
    """Return the finished trials in order, without interrupted ones."""
    ended = [(t, _outcome(t)) for t in study.trials]
    return [
        Trial(
            number,
            outcome,
            t.value if outcome == "complete" else None,
            dict(t.params),
            t.user_attrs["epochs"],
            t.user_attrs["seconds"],
        )
        for number, (t, outcome) in enumerate(((t, o) for t, o in ended if o), start=1)
    ]


def _outcome(trial: Any) -> str:
    if trial.state.name == "FAIL" and trial.user_attrs.get("diverged"):
        return "diverged"
    return {"COMPLETE": "complete", "PRUNED": "pruned"}.get(trial.state.name, "")
