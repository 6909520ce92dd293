"""The tasks, the same for every method.

Link prediction, completion, reconstruction and classification.

`evaluate` goes from data and a method's name to a record: for every seed it creates the method,
fits it, measures it, and records seconds and peak memory. A fitted model is measured as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from time import perf_counter
from typing import Any

from dhne.embedder import Embedder
from dhne.errors import ParameterError, UnknownNameError
from dhne.files.plain_json import plain
from dhne.methods import make_method, method_of
from dhne.network.hypernetwork import HyperNetwork

from .classification import classify_nodes, labelled
from .completion import CompletionOptions, asked_positions, complete
from .fitted import check_fitted, seed_of
from .peak_memory import peak_mb, reset_peak
from .protocols import (
    PROTOCOLS,
    Data,
    Split,
    link_prediction_split,
    reconstruction_split,
    validation_split,
)
from .results import Record, SeedResult, environment
from .separation import Options, Outcome, ReportProgress, Scoring, choose_scoring, separate

TASKS = ("link-prediction", "completion", "reconstruction", "classification")
_HELD_OUT = ("link-prediction", "completion")  # tested on hyperedges that were not learned from
Make = Callable[[int], Embedder]


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of an evaluation, apart from the method's own.

    Attributes
    ----------
    options : Options
        For the tasks that separate hyperedges from negatives.
    keep : float, optional
        Link prediction and completion: the share of all hyperedges kept for training.
    completion : CompletionOptions
        Which positions to rank, and of how many hyperedges.
    classification : dict
        Keyword arguments of `classify_nodes`.
    """

    options: Options = field(default_factory=Options)
    keep: float | None = None
    classification: dict[str, Any] = field(default_factory=dict)
    completion: CompletionOptions = field(default_factory=CompletionOptions)


def evaluate(
    task: str,
    data: Data | HyperNetwork,
    method: str | Make | Embedder,
    *,
    protocol: str = "paper",
    seeds: Sequence[int] = (0,),
    dim: int | None = None,
    device: str | None = None,
    params: Mapping[str, Any] | None = None,
    settings: EvaluationSettings | None = None,
    report: ReportProgress | None = None,
) -> Record:
    """Evaluate a method on a task and return the record.

    Parameters
    ----------
    task : {"link-prediction", "completion", "reconstruction", "classification"}
    data : Data or HyperNetwork
    method : str, callable or Embedder
        A name of `METHODS`, a function that returns an unfitted `Embedder` for a seed, or a fitted
        `Embedder`, which is not trained again (see `held_out_data`).
    protocol : {"paper", "clean"}
    seeds : sequence of int
        One fit each.
    dim, device, params
        See `make_method`; only for methods by name.
    settings : EvaluationSettings, optional
    report : callable, optional
        Called with (what, done, total) for progress.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> net = HyperNetwork.from_arrays({("a", "b"): rng.integers(0, 9, (40, 2))})
    >>> record = evaluate("link-prediction", net, "she", dim=4, seeds=[0, 1])
    >>> sorted(record.mean)[:4]
    ['auc', 'auc_mean', 'auc_min', 'aupr']
    """
    _check(task, protocol, seeds)
    if isinstance(data, HyperNetwork):
        data = Data("network", data)
    settings = settings or EvaluationSettings()
    fitted = method if isinstance(method, Embedder) else None
    if fitted is not None:
        seeds = (seed_of(fitted),)
        check_fitted(data, fitted, held_out=task in _HELD_OUT)
    make, name = _maker(method, dim, device, params)
    config = _config(task, seeds, settings)
    results: list[SeedResult] = []
    chosen: dict[str, Any] = {}
    curves: dict[str, dict[str, list[float]]] = {}
    for number, seed in enumerate(seeds):
        work = _Work(task, data, protocol, seed, settings, _prefixed(report, number, seeds))
        result, outcome, about = work.run(make, fitted)
        results.append(result)
        config |= about | {"counts": outcome.counts}
        if outcome.chosen:
            chosen[str(seed)] = outcome.chosen
        if outcome.curve is not None:
            curve = outcome.curve
            curves[str(seed)] = {"fpr": curve.fpr.tolist(), "tpr": curve.tpr.tolist()}
    if chosen:
        config["chosen"] = chosen
    return Record(task, data.name, protocol, name, tuple(results), config, curves)


def _check(task: str, protocol: str, seeds: Sequence[int]) -> None:
    if task not in TASKS:
        raise UnknownNameError("task", task, TASKS)
    if protocol not in PROTOCOLS:
        raise UnknownNameError("protocol", protocol, PROTOCOLS)
    if not seeds:
        raise ParameterError("an evaluation needs at least one seed")
    if len(set(seeds)) != len(seeds):
        raise ParameterError(f"seeds must be distinct, got {list(seeds)}")


def _maker(
    method: str | Make | Embedder,
    dim: int | None,
    device: str | None,
    params: Mapping[str, Any] | None,
) -> tuple[Make, str]:
    if isinstance(method, Embedder):
        return lambda _: method, method_of(method)
    if callable(method):
        return method, type(method(0)).__name__
    name = method
    make_method(name, seed=0, dim=dim, device=device, settings=params)  # a typo fails at once
    return lambda s: make_method(name, seed=s, dim=dim, device=device, settings=params), name


def _prefixed(report: ReportProgress | None, number: int, seeds: Sequence[int]) -> ReportProgress:
    def show(what: str, done: int, total: int) -> None:
        if report is not None:
            label = f"seed {seeds[number]} ({number + 1}/{len(seeds)}) {what}"
            report(label if len(seeds) > 1 else what, done, total)

    return show


@dataclass(frozen=True)
class _Work:
    """One seed's part of an evaluation."""

    task: str
    data: Data
    protocol: str
    seed: int
    settings: EvaluationSettings
    report: ReportProgress

    def run(
        self, make: Make, fitted: Embedder | None = None
    ) -> tuple[SeedResult, Outcome, dict[str, Any]]:
        """Fit, unless it is fitted, and measure; also return a description of the split."""
        split = self._split()
        if self.task == "classification":
            labelled(split.train, self.settings.classification.get("node_type"))
        reset_peak()
        start = perf_counter()
        model = self._fit(make, split) if fitted is None else fitted
        ready = perf_counter()
        outcome = self._measure(model, split, None if fitted is not None else make)
        seconds = {"fit": ready - start, "evaluate": perf_counter() - ready}
        rounded = {k: round(v, 4) for k, v in seconds.items()}
        parts = {"train": split.train, "valid": split.valid, "test": split.test}
        about = {
            "split": split.how if fitted is None else "held out; the model was trained before",
            "edges": {n: part.num_edges() for n, part in parts.items() if part is not None},
            "nodes": {t: split.train.num_nodes(t) for t in split.train.node_types},
            "method": _method_settings(model),
        }
        if self.task == "completion":
            about["positions"] = list(asked_positions(self.data, self.settings.completion))
        return SeedResult(self.seed, outcome.metrics, rounded, peak_mb()), outcome, about

    def _fit(self, make: Make, split: Split) -> Embedder:
        self.report("fitting", 0, 0)
        model: Any = make(self.seed)
        fitted: Embedder = (
            model.fit(split.train, validation=split.valid)
            if model.takes_validation and split.valid is not None
            else model.fit(split.train)
        )
        return fitted

    def _split(self) -> Split:
        if self.task in _HELD_OUT:
            keep = self.settings.keep
            return link_prediction_split(self.data, self.protocol, seed=self.seed, keep=keep)
        return reconstruction_split(self.data, self.protocol)

    def _measure(self, model: Embedder, split: Split, make: Make | None) -> Outcome:
        if self.task == "classification":
            self.report("classifying", 0, 0)
            extra = self.settings.classification
            metrics = classify_nodes(split.train, model.vectors_, **extra)
            return Outcome(metrics)
        chosen = None
        if model.aggregates and make is not None:  # a model that is there already has chosen
            chosen = self._choose(model, split, make)
        if self.task == "completion":
            return self._complete(model, split, chosen)
        self.report("scoring", 0, 0)
        return separate(model, split, self.settings.options, chosen=chosen, report=self.report)

    def _complete(self, model: Embedder, split: Split, chosen: Scoring | None) -> Outcome:
        options = self.settings.completion
        outcome = complete(
            model if chosen is None else chosen.applied(model)[chosen.aggregate],
            split,
            asked_positions(self.data, options),
            ranked=options.ranked,
            options=self.settings.options,
            report=self.report,
        )
        return outcome if chosen is None else replace(outcome, chosen=asdict(chosen))

    def _choose(self, model: Embedder, split: Split, make: Make) -> Scoring:
        """Choose an aggregate and a similarity of pairs without using the test part.

        Link prediction and completion: on the validation part if there is one, else with another
        fit on 90% of train, judged on the rest. Reconstruction is evaluated on the edges it was
        fitted on, so those are used, with separate negatives.
        """
        options = self.settings.options
        if self.task == "reconstruction":
            return choose_scoring(model, split, options)
        if split.valid is not None:
            known = split.train.merge(split.valid, fold=True)
            return choose_scoring(model, Split(split.train, split.valid, known, "valid"), options)
        self.report("choosing how to score pairs", 0, 0)
        inner = validation_split(split.train, fraction=options.validation, seed=self.seed)
        trial = make(self.seed).fit(inner.train)
        return choose_scoring(trial, inner, options)


def _method_settings(model: Embedder) -> dict[str, Any]:
    """Return the hyper-parameters, including those set by presets and rules during the fit.

    How pairs are scored is not among them; it is under ``chosen``, per seed.
    """
    chosen = ("aggregate", "similarity") if model.aggregates else ()
    found = {k: v for k, v in model.get_params().items() if k not in ("random_state", *chosen)}
    used = getattr(model, "settings_", None)
    if is_dataclass(used) and not isinstance(used, type):
        found |= asdict(used)
    settings: dict[str, Any] = plain(
        found | {"class": type(model).__name__}, finite=True, other=repr
    )
    return settings


def _config(task: str, seeds: Sequence[int], settings: EvaluationSettings) -> dict[str, Any]:
    """Return everything needed to repeat the evaluation, apart from the data."""
    shown: dict[str, Any] = {"seeds": list(seeds)}
    if task == "classification":
        shown["classification"] = settings.classification
    else:
        shown |= asdict(settings.options)
    if task == "completion":
        shown["completion"] = asdict(settings.completion)
    if task in _HELD_OUT:
        shown["keep"] = settings.keep
    found: dict[str, Any] = plain(shown | environment(), finite=True, other=repr)
    return found
