"""From records to tables and pictures: seeds joined, rows and columns in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

from dhne.evaluation import Record, SeedResult
from dhne.evaluation.results import join
from dhne.evaluation.separation import similarity_title
from dhne.experiments import Job, RecordStore
from dhne.experiments.paper_numbers import DATASETS, paper_auc, rows, title

Joined = dict[Job, Record]
TextRows = tuple[tuple[str, tuple[str, ...]], ...]
LOWER_IS_BETTER = ("mean_rank", "fit_seconds", "peak_rss_mb")
_COSTS: dict[str, Callable[[SeedResult], float]] = {
    "fit_seconds": lambda result: result.seconds["fit"],
    "peak_rss_mb": lambda result: result.peak_rss_mb,
}


def joined(store: RecordStore, jobs: Iterable[Job]) -> Joined:
    """Return the records of `jobs` with their seeds joined, keyed by the job with seed 0."""
    groups: dict[Job, list[Record]] = {}
    for job, record in store.found(list(dict.fromkeys(jobs))):
        groups.setdefault(replace(job, seed=0), []).append(record)
    return {job: join(records) for job, records in groups.items()}


def dataset_title(dataset: str, *, core: bool) -> str:
    """Return the display name of a dataset or its core.

    Examples
    --------
    >>> dataset_title("movielens", core=True)
    'MovieLens core'
    """
    return f"{title(dataset)} core" if core else title(dataset)


@dataclass(frozen=True)
class Cell:
    """One cell of a table: our number, its spread, and the paper's number."""

    mean: float
    std: float
    seeds: int
    paper: float | None = None
    best: bool = False

    @property
    def difference(self) -> float | None:
        """Our number minus the paper's."""
        return None if self.paper is None else self.mean - self.paper


@dataclass(frozen=True)
class MetricTable:
    """Rows of methods, columns of datasets; a cell is None if nothing was measured."""

    metric: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    cores: frozenset[str] = frozenset()

    def heading(self, column: tuple[str, str]) -> str:
        """Return the heading of a column."""
        dataset, protocol = column
        name = dataset_title(dataset, core=dataset in self.cores)
        return name if protocol == "paper" else f"{name} ({protocol})"


def method_rows(methods: Iterable[str], *, by_aggregate: bool) -> list[tuple[str, str]]:
    """Return (method, aggregate) in the paper's order, others at the end."""
    present = list(dict.fromkeys(methods))
    usual = [(m, a) for m, a in rows() if m in present]
    if not by_aggregate:
        usual = [(m, "") for m in dict.fromkeys(m for m, _ in usual)]
    listed = {m for m, _ in usual}
    rest = sorted((m for m in present if m not in listed), key=lambda m: m != "dhne-plus")
    return usual + [(m, "") for m in rest]


def row_title(method: str, aggregate: str) -> str:
    """Return the title of a row.

    Examples
    --------
    >>> row_title("line", "min")
    'LINE, min'
    """
    return f"{title(method)}, {aggregate}" if aggregate else title(method)


def table(records: Mapping[Job, Record], metric: str) -> MetricTable:
    """Return one metric of all methods on all datasets, the paper's AUC beside ours.

    For AUC, pairwise methods have one row per aggregate, as in the paper. The costs ``fit_seconds``
    and ``peak_rss_mb`` are treated as metrics here.
    """
    by_place = {(j.method, j.dataset, j.protocol): (j, r) for j, r in records.items()}
    columns = sorted(
        {(j.dataset, j.protocol) for j in records},
        key=lambda c: (DATASETS.index(c[0]) if c[0] in DATASETS else 99, c[1] != "paper"),
    )
    lines = []
    for method, aggregate in method_rows((j.method for j in records), by_aggregate=metric == "auc"):
        cells = [_cell(by_place.get((method, *c)), metric, aggregate) for c in columns]
        lines.append((row_title(method, aggregate), cells))
    _mark_best([cells for _, cells in lines], lower=metric.partition("/")[0] in LOWER_IS_BETTER)
    found = tuple((name, tuple(cells)) for name, cells in lines)
    return MetricTable(
        metric, tuple(columns), found, frozenset(j.dataset for j in records if j.of_core)
    )


def scorings(records: Mapping[Job, Record], columns: Sequence[tuple[str, str]]) -> TextRows:
    """Return how each pairwise method scores tuples in each column, chosen on validation."""
    by_place = {(j.method, j.dataset, j.protocol): r for j, r in records.items()}
    lines = []
    for method, _ in method_rows((j.method for j in records), by_aggregate=False):
        found = [by_place.get((method, *c)) for c in columns]
        texts = tuple("" if r is None else _scoring(r.config.get("chosen", {})) for r in found)
        if any(texts):
            lines.append((title(method), texts))
    return tuple(lines)


def _scoring(chosen: Mapping[str, Mapping[str, Any]]) -> str:
    """Describe the choices, with the number of seeds of each if they differ."""
    names = [
        f"{c['aggregate']} of {similarity_title(c['similarity'][c['aggregate']])}"
        for c in chosen.values()
    ]
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    many = len(counts) > 1
    return ", ".join(f"{name} ({n})" if many else name for name, n in counts.items())


def _cell(found: tuple[Job, Record] | None, metric: str, aggregate: str) -> Cell | None:
    if found is None:
        return None
    job, record = found
    if metric in _COSTS:
        values = [_COSTS[metric](result) for result in record.results]
        return Cell(mean(values), stdev(values) if len(values) > 1 else 0.0, len(values))
    name = f"{metric}_{aggregate}" if aggregate else metric
    if name not in record.mean:
        return None
    paper = paper_auc(job.task, job.dataset, job.method, aggregate)
    shown = paper if metric == "auc" and job.protocol == "paper" else None
    return Cell(record.mean[name], record.std[name], len(record.results), shown)


def _mark_best(lines: list[list[Cell | None]], *, lower: bool) -> None:
    for column in range(len(lines[0]) if lines else 0):
        present = [(line[column], line) for line in lines if line[column] is not None]
        if len(present) < 2:
            continue
        values = [cell.mean for cell, _ in present if cell is not None]
        best = min(values) if lower else max(values)
        for cell, line in present:
            if cell is not None and cell.mean == best:
                line[column] = replace(cell, best=True)


@dataclass(frozen=True)
class Verdict:
    """DHNE compared with the paper's baselines: the columns it wins and those it does not.

    `lost` has the best baseline of each column that it does not win, its AUC and DHNE's.
    """

    won: tuple[str, ...]
    lost: dict[str, tuple[str, float, float]]

    @property
    def total(self) -> int:
        """Number of columns that could be compared."""
        return len(self.won) + len(self.lost)


def verdict(records: Mapping[Job, Record]) -> Verdict:
    """Return the columns in which DHNE's AUC is above that of all the paper's baselines."""
    found = table(records, "auc")
    ours = dict(found.rows).get(title("dhne"))
    baselines = [row_title(m, a) for m, a in rows() if m != "dhne"]
    won: list[str] = []
    lost: dict[str, tuple[str, float, float]] = {}
    for number, column in enumerate(found.columns):
        mine = ours[number] if ours is not None else None
        others = {name: cells[number] for name, cells in found.rows if name in baselines}
        rivals = {name: cell.mean for name, cell in others.items() if cell is not None}
        if mine is None or not rivals:
            continue
        best = max(rivals, key=lambda name: rivals[name])
        if mine.mean > rivals[best]:
            won.append(found.heading(column))
        else:
            lost[found.heading(column)] = (best, rivals[best], mine.mean)
    return Verdict(tuple(won), lost)
