"""Results as data: one `Record` for a task, a dataset, a protocol and a method over its seeds.

Every table and every picture is made from records, never from typed numbers. As JSON:

    {"task", "dataset", "protocol", "method",
     "results": [{"seed", "metrics": {…}, "seconds": {"fit", "evaluate"}, "peak_rss_mb"}, …],
     "mean": {…}, "std": {…}, "version", "config"}

with the sample standard deviation over seeds (0 for a single seed). Metrics are named ``auc``,
``aupr``, ``mrr``, ``hits@1``, ``hits@3``, ``hits@10``, ``mean_rank``, ``micro_f1``, ``macro_f1``,
``neighbours@10``.
Suffixes mark metrics of one aggregate (``auc_mean``, ``auc_min``), one position (``mrr/movie``) or
one training share (``micro_f1@0.1``). ``curves``, the ROC curve of each seed, is present only if
requested.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import numpy as np

from dhne import __version__
from dhne.errors import InputError
from dhne.files.plain_json import as_json
from dhne.files.reading import one_line

Metrics = dict[str, float]
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "numba", "gensim", "pyttb")
_FIELDS = ("task", "dataset", "protocol", "method", "results", "mean", "std", "version", "config")


@dataclass(frozen=True)
class SeedResult:
    """The results of one seed."""

    seed: int
    metrics: Metrics
    seconds: dict[str, float]
    peak_rss_mb: float

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        return {
            "seed": self.seed,
            "metrics": self.metrics,
            "seconds": self.seconds,
            "peak_rss_mb": self.peak_rss_mb,
        }


@dataclass(frozen=True)
class Record:
    """The results of a method on a task, a dataset and a protocol, per seed.

    Examples
    --------
    >>> record = Record(
    ...     "link-prediction",
    ...     "gps",
    ...     "paper",
    ...     "dhne",
    ...     (
    ...         SeedResult(0, {"auc": 0.90}, {"fit": 1.0, "evaluate": 0.1}, 100.0),
    ...         SeedResult(1, {"auc": 0.92}, {"fit": 1.0, "evaluate": 0.1}, 100.0),
    ...     ),
    ... )
    >>> round(record.mean["auc"], 3), round(record.std["auc"], 3)
    (0.91, 0.014)
    """

    task: str
    dataset: str
    protocol: str
    method: str
    results: tuple[SeedResult, ...]
    config: dict[str, Any] = field(default_factory=dict)
    curves: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    version: str = __version__

    @property
    def mean(self) -> Metrics:
        """Mean over the seeds of every metric that all of them have."""
        return {name: float(np.mean(values)) for name, values in self._columns().items()}

    @property
    def std(self) -> Metrics:
        """Sample standard deviation over the seeds; 0 for a single seed."""
        many = len(self.results) > 1
        return {n: float(np.std(v, ddof=1)) if many else 0.0 for n, v in self._columns().items()}

    def _columns(self) -> dict[str, list[float]]:
        if not self.results:
            return {}
        shared = set.intersection(*(set(r.metrics) for r in self.results))
        names = [n for n in self.results[0].metrics if n in shared]
        return {n: [r.metrics[n] for r in self.results] for n in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        found = {
            "task": self.task,
            "dataset": self.dataset,
            "protocol": self.protocol,
            "method": self.method,
            "results": [r.to_dict() for r in self.results],
            "mean": self.mean,
            "std": self.std,
            "version": self.version,
            "config": self.config,
        }
        return found | ({"curves": self.curves} if self.curves else {})

    def to_json(self) -> str:
        """Return the record as JSON text, without NaN or infinities."""
        return as_json(self.to_dict(), indent=2, ascii_only=False) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Record:
        """Return the record from the output of `to_dict`."""
        missing = [name for name in _FIELDS if name not in data]
        if missing:
            raise InputError(f"this is not a result record: {', '.join(missing)} missing")
        try:
            return cls._from_dict(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"this result record is damaged: {one_line(error)}") from None

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Record:
        results = tuple(
            SeedResult(r["seed"], dict(r["metrics"]), dict(r["seconds"]), r["peak_rss_mb"])
            for r in data["results"]
        )
        return cls(
            task=data["task"],
            dataset=data["dataset"],
            protocol=data["protocol"],
            method=data["method"],
            results=results,
            config=dict(data["config"]),
            curves=dict(data.get("curves", {})),
            version=data["version"],
        )


def join(records: Sequence[Record]) -> Record:
    """Join records that differ only in their seeds; seeds are in ascending order."""
    first = records[0]
    head = (first.task, first.dataset, first.protocol, first.method)
    if any((r.task, r.dataset, r.protocol, r.method) != head for r in records):
        raise InputError("only records of one task, dataset, protocol and method can be joined")
    results = sorted((s for r in records for s in r.results), key=lambda s: s.seed)
    config = dict(first.config) | {"seeds": [s.seed for s in results]}
    chosen = {k: v for r in records for k, v in r.config.get("chosen", {}).items()}
    if chosen:
        config["chosen"] = chosen
    curves = {k: v for r in records for k, v in r.curves.items()}
    return Record(
        *head, results=tuple(results), config=config, curves=curves, version=first.version
    )


def environment() -> dict[str, Any]:
    """Return the environment of a measurement: Python, platform, library versions."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": dict(_versions(_LIBRARIES)),
    }


def _versions(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    for name in names:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
