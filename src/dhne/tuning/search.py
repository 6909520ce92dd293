"""Hyper-parameter search: Optuna proposes, a validation set held out from training decides.

Each trial trains on the same part of the network and is judged by the AUC of the same held-out
hyperedges against the same negatives; test data is not used. A trial whose AUC falls below the
median of earlier ones at the same epoch is stopped. Trial n is proposed from the trials before it,
by a generator seeded with the seed and n, so an interrupted study continues with the same
proposals.

The best trial's parameters, with the number of epochs at which it was best, then train a model on
all hyperedges: ``tune(network).model().fit(network)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dhne.errors import DHNEError, MissingExtraError, ParameterError, RunError, UnknownNameError
from dhne.hyperparameters.arguments import check_arguments
from dhne.network.digest import edges_digest
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.callbacks import Callback

from .space import (
    EPOCHS_FACTOR,
    Choice,
    Range,
    Space,
    check_space,
    default_space,
    narrowed,
    resolved,
)
from .trials import Trial, Tuned, Watch, finished

_STUDY = "dhne"


def tune(
    network: HyperNetwork,
    trials: int = 30,
    *,
    params: Mapping[str, Any] | None = None,
    space: Mapping[str, Range | Choice] | None = None,
    validation: float = 0.1,
    seed: int = 0,
    prune: bool = True,
    storage: str | Path | None = None,
    report: Callable[[Trial, int, int], None] | None = None,
    callbacks: Callable[[], list[Callback]] = list,
) -> Tuned:
    """Search for the hyper-parameters with the best validation AUC.

    Parameters
    ----------
    network : HyperNetwork
        Training data; keep the test hyperedges out of it.
    trials : int
        Total number, including those of earlier calls with the same `storage`.
    params : mapping, optional
        Arguments of `DHNE` that are fixed in every trial and not searched.
    space : mapping of argument to Range or Choice, optional
        Added to `dhne.tuning.default_space`, or overriding its entries.
    validation : float
        Share of hyperedges to hold out.
    seed : int
        Seed for the proposals, the split and every training.
    prune : bool
        Whether to stop trials that fall behind.
    storage : path, optional
        File for the study; if it exists, the study continues. One process at a time.
    report : callable, optional
        Called with (trial, trials done, total) after each trial.
    callbacks : callable, optional
        Returns additional callbacks for each training.

    Examples
    --------
    >>> from dhne.datasets import planted_clusters
    >>> network = planted_clusters(types=3, clusters=2, nodes_per_cluster=5)
    >>> fixed = {"dim": 8, "epochs": 5, "negatives": 5, "kernels": "reference"}
    >>> found = tune(network, trials=2, params=fixed)
    >>> sorted(found.best.params)
    ['alpha', 'learning_rate']
    >>> found.model().dim
    8
    """
    search = Search(network, dict(params or {}), dict(space or {}), validation, seed, prune)
    return search.run(trials, storage=storage, report=report, callbacks=callbacks)


@dataclass
class Search:
    """What all trials have in common; the arguments are those of `tune`, checked here."""

    network: HyperNetwork
    params: dict[str, Any]
    given: Space
    validation: float
    seed: int
    prune: bool

    def __post_init__(self) -> None:
        from dhne.estimator import DHNE

        if not 0 < self.validation < 1:
            raise ParameterError(f"validation must be between 0 and 1, got {self.validation}")
        names = [n for n in DHNE._get_param_names() if n not in ("validation", "random_state")]
        for key in self.params:
            if key not in names:
                raise UnknownNameError("parameter", key, names)
        for key in self.given:
            if key not in names and key != EPOCHS_FACTOR:
                raise UnknownNameError("parameter to search", key, names)
        check_arguments(self.params)
        check_space(self.given)
        space = {**default_space(self.params.get("preset")), **self.given}
        self.space = narrowed(space, self.params)
        if not self.space:
            raise ParameterError("every parameter is fixed; there is nothing to search")
        train, held_out = self.network.split(self.validation, seed=self.seed)
        self.num_edges = train.num_edges()
        if not self.num_edges or not held_out.num_edges():
            raise ParameterError("too few hyperedges to hold some out for validation")

    def run(
        self,
        trials: int,
        *,
        storage: str | Path | None = None,
        report: Callable[[Trial, int, int], None] | None = None,
        callbacks: Callable[[], list[Callback]] = list,
    ) -> Tuned:
        """Run trials until there are `trials`, and return the best."""
        if trials < 1:
            raise ParameterError(f"trials must be at least 1, got {trials}")
        with _quiet(_optuna()) as optuna:
            study = self._study(optuna, storage)
            done = finished(study)
            while len(done) < trials:
                self._run_one(optuna, study, len(done), callbacks)
                done = finished(study)
                if report is not None:
                    report(done[-1], len(done), trials)
        return self._outcome(done)

    def _study(self, optuna: Any, storage: str | Path | None) -> Any:
        """Open or create the study; reject one of a different search."""
        kept = None
        if storage is not None:
            from optuna.storages.journal import JournalFileBackend

            Path(storage).parent.mkdir(parents=True, exist_ok=True)
            kept = _opened(optuna, JournalFileBackend(str(storage)), storage)
        pruner: Any = optuna.pruners.NopPruner()
        if self.prune:
            pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=3)
        study = optuna.create_study(
            storage=kept,
            study_name=_STUDY,
            direction="maximize",
            pruner=pruner,
            load_if_exists=True,
        )
        before, now = study.user_attrs.get("search"), self._fingerprint()
        if before is None:
            study.set_user_attr("search", now)
        elif before != now:
            different = ", ".join(k for k in now if before.get(k) != now[k])
            raise RunError(
                f"{storage} has a search with other settings ({different}); continue with the same "
                "ones, or use another file"
            )
        for trial in study.trials:  # left by a process that was killed
            if trial.state == optuna.trial.TrialState.RUNNING:
                study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        return study

    def _fingerprint(self) -> dict[str, str]:
        """Return what must be unchanged for a search to continue."""
        return {
            "hyperedges": edges_digest(self.network),
            "parameters": repr(sorted(self.params.items())),
            "space": "; ".join(f"{k}={v}" for k, v in sorted(self.space.items())),
            "validation": repr(self.validation),
            "seed": repr(self.seed),
        }

    def _run_one(
        self, optuna: Any, study: Any, number: int, callbacks: Callable[[], list[Callback]]
    ) -> None:
        """Propose, train, and report the result to the study."""
        from dhne.estimator import DHNE
        from dhne.training.loop import DivergedError

        draw = np.random.SeedSequence([self.seed, number]).generate_state(1)
        study.sampler = optuna.samplers.TPESampler(seed=int(draw[0]))
        trial = study.ask()
        chosen = {name: part.suggest(trial, name) for name, part in self.space.items()}
        model = DHNE(
            **{**self.params, **resolved(chosen, self.num_edges, self.params.get("preset"))},
            validation=self.validation,
            random_state=self.seed,
        )
        watch, begin, state = Watch(trial), time.perf_counter(), optuna.trial.TrialState
        diverged = False
        try:
            model.fit(self.network, callbacks=[watch, *callbacks()])
        except DivergedError:
            diverged = True
        except BaseException:
            study.tell(trial, state=state.FAIL)  # not a finished trial
            raise
        trial.set_user_attr("epochs", watch.epoch)
        trial.set_user_attr("seconds", time.perf_counter() - begin)
        trial.set_user_attr("diverged", diverged)
        if watch.pruned or diverged:
            study.tell(trial, state=state.FAIL if diverged else state.PRUNED)
        else:
            study.tell(trial, watch.auc)

    def _outcome(self, done: list[Trial]) -> Tuned:
        """Return the best of the trials, as parameters for all hyperedges."""
        complete = [t for t in done if t.auc is not None]
        if not complete:
            raise DHNEError(f"none of {len(done)} trials gave a result; try smaller learning rates")
        best = max(complete, key=lambda t: (t.auc, -t.number))
        params = {**self.params, **resolved(best.params, self.num_edges, self.params.get("preset"))}
        params |= {"epochs": best.epochs, "validation": 0.0, "random_state": self.seed}
        return Tuned(float(best.auc or 0), params, best, done)


def _opened(optuna: Any, backend: Any, path: str | Path) -> Any:
    """Open the file of a study: lines of JSON, the last of which may have been cut short."""
    try:
        return optuna.storages.JournalStorage(backend)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise RunError(f"{path} is not a readable study ({error}); remove it") from None


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("optuna", extra="tuning") from None
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[Any]:
    """Keep Optuna from writing to standard error; progress goes to `report`."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)
