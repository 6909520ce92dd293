"""The content of the report, before it becomes HTML, Markdown or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dhne import __version__
from dhne.datasets import CATALOGUE
from dhne.experiments import Experiment, Job, RecordStore, Selection
from dhne.experiments.declarations import QUICK_CORE
from dhne.experiments.paper_numbers import title

from .metric_tables import Joined, MetricTable, TextRows, Verdict, joined, scorings, table, verdict
from .number_format import number

METRIC_TITLES = {
    "auc": "AUC",
    "aupr": "Average precision",
    "mrr": "Mean reciprocal rank, filtered",
    "hits@1": "Hits@1, filtered",
    "hits@3": "Hits@3, filtered",
    "hits@10": "Hits@10, filtered",
    "mean_rank": "Mean rank, filtered (lower is better)",
}
CLASSIFICATION_TITLES = {
    "micro_f1": "Micro F1, mean over the shares of labelled nodes",
    "macro_f1": "Macro F1, mean over the shares of labelled nodes",
    "neighbours@10": "Share of the ten nearest nodes with a label in common",
}
SCORING_TITLE = "How pairs are combined into a score, chosen on validation data"
COST_TITLES = {"fit_seconds": "Seconds to fit", "peak_rss_mb": "Peak memory in MiB"}


@dataclass(frozen=True)
class Section:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title, text : str
    notes : findings and warnings
    main : the table beside the paper's, if there is one
    further : other metrics, as (caption, table)
    scorings : how pairwise methods score, one row each, with the columns of `main`
    records : the measurements behind it
    """

    name: str
    title: str
    text: str
    notes: tuple[str, ...] = ()
    main: MetricTable | None = None
    further: tuple[tuple[str, MetricTable], ...] = ()
    scorings: TextRows = ()
    records: Joined = field(default_factory=dict, repr=False)

    @property
    def spread(self) -> bool:
        """Whether anything was measured with several seeds."""
        return any(len(record.results) > 1 for record in self.records.values())


@dataclass(frozen=True)
class Document:
    """The whole report."""

    sections: tuple[Section, ...]
    quick: bool
    command: str
    seeds: tuple[int, ...]
    settings: dict[str, dict[str, Any]]
    environment: dict[str, Any]
    failed: tuple[tuple[str, str], ...] = ()
    missing: int = 0
    version: str = __version__
    title: str = "Structural Deep Embedding for Hyper-Networks, reproduced"

    def lead(self) -> list[str]:
        """Return the introduction: how to read the numbers."""
        seeds = ", ".join(map(str, self.seeds))
        plural = "s" if len(self.seeds) > 1 else ""
        spread = ", mean ± standard deviation over seeds" if plural else ""
        lines = [
            (
                f"Measured with dhne {self.version}, seed{plural} {seeds}{spread}. Each number is "
                "followed by the paper's number and the difference, ours minus the paper's. "
                "The best value of a column is bold."
            ),
            (
                "Five negatives per hyperedge, drawn once with a fixed seed, none of them in train "
                "or test. Anything a method chooses, it chooses on a part of train. The paper does "
                "not say how it drew its negatives, so differences from it may come from there."
            ),
        ]
        if self.quick:
            lines.append(
                f"This is the quick version: only a core of MovieLens, drug and wordnet, at most "
                f"{QUICK_CORE:,} distinct hyperedges among the best-connected nodes, and fewer "
                "points in every picture. A core is a different task from the whole dataset: only "
                "GPS can be compared with the paper."
            )
        return lines


def compose(
    experiments: Sequence[Experiment],
    choice: Selection,
    store: RecordStore,
    *,
    command: str = "dhne reproduce",
    failed: Sequence[tuple[Job, str]] = (),
) -> Document:
    """Return the report on these experiments' records in the store."""
    sections: list[Section] = []
    environment: dict[str, Any] = {}
    missing = 0
    for experiment in experiments:
        jobs = experiment.jobs(choice)
        records = joined(store, jobs)
        missing += len(jobs) - sum(len(r.results) for r in records.values())
        sections.append(_section(experiment, records))
        for record in records.values():
            names = ("python", "platform", "libraries")
            environment |= {n: record.config[n] for n in names if n in record.config}
    return Document(
        tuple(sections),
        choice.quick,
        command,
        choice.wanted_seeds(),
        _settings([s.records for s in sections]),
        environment,
        tuple((job.title, text) for job, text in failed),
        missing,
    )


def _settings(found: Sequence[Joined]) -> dict[str, dict[str, Any]]:
    """Return each method's settings; those that differ between datasets are listed per dataset.

    Settings may depend on the size of the data, so they are those of one task: link prediction, if
    it was measured.
    """
    every = {job: record for records in found for job, record in records.items()}
    usual = {j: r for j, r in every.items() if not j.params and j.nodes is None and j.keep is None}
    usual = {j: r for j, r in usual.items() if j.protocol == "paper" and j.dim == 64} or usual
    tasks = {j.task for j in usual}
    task = "link-prediction" if "link-prediction" in tasks else next(iter(sorted(tasks)), "")
    settings: dict[str, dict[str, Any]] = {}
    for method in dict.fromkeys(j.method for j in usual):
        mine = {j: r for j, r in usual.items() if j.method == method}
        mine = {j: r for j, r in mine.items() if j.task == task} or mine
        used = {title(j.dataset): r.config.get("method", {}) for j, r in mine.items()}
        names = dict.fromkeys(name for values in used.values() for name in values)
        settings[title(method)] = {name: _shared(name, used) for name in names}
    return settings


def _shared(name: str, used: dict[str, dict[str, Any]]) -> Any:
    """Return the value common to all datasets, or one value per dataset."""
    values = [values.get(name) for values in used.values()]
    if all(value == values[0] for value in values):
        return values[0]
    return {dataset: values.get(name) for dataset, values in used.items()}


def _section(experiment: Experiment, records: Joined) -> Section:
    parts = (experiment.name, experiment.title, experiment.text)
    if not experiment.name.startswith("table-") or not records:
        found = _measured(records, CLASSIFICATION_TITLES)
        notes = _figure_notes(experiment.name)
        return Section(*parts, notes=notes, further=tuple(found), records=records)
    further = [found for found in _measured(records, METRIC_TITLES) if found[1].metric != "auc"]
    further += [(caption, table(records, cost)) for cost, caption in COST_TITLES.items()]
    main = table(records, "auc")
    return Section(
        *parts,
        notes=_table_notes(records),
        main=main,
        further=tuple(further),
        scorings=scorings(records, main.columns),
        records=records,
    )


def _measured(records: Joined, titles: dict[str, str]) -> list[tuple[str, MetricTable]]:
    """Return a table, with its caption, of each metric that was measured."""
    return [
        (caption, table(records, metric))
        for metric, caption in titles.items()
        if any(metric in r.mean for r in records.values())
    ]


def _table_notes(records: Joined) -> tuple[str, ...]:
    notes = []
    found = verdict(records)
    if found.total:
        notes.append(
            f"DHNE's AUC is above that of all measured baselines of the paper in "
            f"{len(found.won)} of {found.total} columns{_rivals(found)}."
        )
    if any(j.dataset == "drug" for j in records):
        notes.append(
            f"drug, as released, {CATALOGUE['drug'].caution}. The first column of drug follows "
            "the paper's protocol, on the files as released; the one marked clean has no leak."
        )
    counts = {(j.dataset, j.protocol): r.config.get("counts", {}) for j, r in records.items()}
    main = table(records, "auc")
    ranked = [f"{main.heading(c)} {n['ranked']:,}" for c, n in counts.items() if n.get("ranked")]
    if ranked:
        notes.append(
            "Ranks are exact, over all candidates of each position, with other known hyperedges "
            "excluded and ties at their mean rank. Test hyperedges ranked: "
            f"{', '.join(ranked)}."
        )
    return tuple(notes)


def _rivals(found: Verdict) -> str:
    """Name the best baseline of each column that DHNE does not win."""
    ahead = [
        f"on {where} {name} has {number(best, 'auc')} against {number(ours, 'auc')}"
        for where, (name, best, ours) in found.lost.items()
    ]
    return f"; {', '.join(ahead)}" if ahead else ""


def _figure_notes(name: str) -> tuple[str, ...]:
    return (_NOTES[name],) if name in _NOTES else ()


_NOTES = {
    "figure-roc": "Pairwise methods use the mean or minimum of inner products or cosines, "
    "whichever is best on validation data.",
    "figure-sparsity": "In the paper's protocol, repeats of a kept hyperedge are among the hidden "
    "ones, so every method looks better than it is; the protocol clean removes them.",
    "figure-classification": "For nodes with several labels, those with a positive decision "
    "value are predicted, at least one; the number of true labels is not used.",
}
