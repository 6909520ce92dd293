"""What the report says, before it becomes HTML, Markdown or CSV."""

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
SCORING_TITLE = "How pairs make a score, as chosen on validation data"
COST_TITLES = {"fit_seconds": "Seconds to fit", "peak_rss_mb": "Peak memory in MiB"}


@dataclass(frozen=True)
class Section:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title, text : str
    notes : sentences on what was found and what to beware of
    main : the table beside the paper's, if there is one
    further : other metrics, as (caption, table)
    scorings : how pairwise methods score, a row each, under the columns of `main`
    records : what all of it is drawn from
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
        """Return the sentences at the top: how to read the numbers."""
        seeds = ", ".join(map(str, self.seeds))
        plural = "s" if len(self.seeds) > 1 else ""
        spread = ", mean ± standard deviation over them" if plural else ""
        lines = [
            (
                f"Measured with dhne {self.version}, seed{plural} {seeds}{spread}. Beside each "
                "number stands what the paper prints and the difference, ours minus the paper's. "
                "The best of a column is set in bold."
            ),
            (
                "Five negatives for each hyperedge, drawn once from a fixed seed, none of them in "
                "train or test; anything that a method chooses, it chooses on a part of train. The "
                "paper does not say how its own negatives were drawn, so a difference to it may be "
                "theirs."
            ),
        ]
        if self.quick:
            lines.append(
                f"This is the quick version: of MovieLens, drug and wordnet only a core, at most "
                f"{QUICK_CORE:,} different hyperedges among the best-connected nodes, and fewer "
                "points in every picture. A core is another task than the whole: only GPS can be "
                "compared with the paper."
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
    """Return the report on what the store holds of these experiments."""
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
    """Return what each method was set to; what differs over datasets with the datasets' names.

    Settings may follow from the size of the data, so they are those of one task: link prediction,
    where it was measured.
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
    """The value that all datasets have, or each with its own."""
    values = [values.get(name) for values in used.values()]
    if all(value == values[0] for value in values):
        return values[0]
    return {dataset: values.get(name) for dataset, values in used.items()}


def _section(experiment: Experiment, records: Joined) -> Section:
    parts = (experiment.name, experiment.title, experiment.text)
    if not experiment.name.startswith("table-") or not records:
        return Section(*parts, notes=_figure_notes(experiment.name), records=records)
    further = [
        (caption, table(records, metric))
        for metric, caption in METRIC_TITLES.items()
        if metric != "auc" and any(metric in r.mean for r in records.values())
    ]
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


def _table_notes(records: Joined) -> tuple[str, ...]:
    notes = []
    found = verdict(records)
    if found.total:
        notes.append(
            f"DHNE's AUC is above that of every baseline of the paper that was run in "
            f"{len(found.won)} of {found.total} columns{_rivals(found)}."
        )
    if any(j.dataset == "drug" for j in records):
        notes.append(
            f"drug, as released, {CATALOGUE['drug'].caution}. The first column of drug is by the "
            "paper's protocol, on the files as they are; the one marked clean is without the leak."
        )
    counts = {(j.dataset, j.protocol): r.config.get("counts", {}) for j, r in records.items()}
    main = table(records, "auc")
    ranked = [f"{main.heading(c)} {n['ranked']:,}" for c, n in counts.items() if n.get("ranked")]
    if ranked:
        notes.append(
            "Ranks are exact, over all candidates of each position, other known hyperedges left "
            f"out, ties at their middle; test hyperedges ranked: {', '.join(ranked)}."
        )
    return tuple(notes)


def _rivals(found: Verdict) -> str:
    """Who is ahead where DHNE is not."""
    ahead = [
        f"on {where} {name} has {number(best, 'auc')} against {number(ours, 'auc')}"
        for where, (name, best, ours) in found.lost.items()
    ]
    return f"; {', '.join(ahead)}" if ahead else ""


def _figure_notes(name: str) -> tuple[str, ...]:
    return (_NOTES[name],) if name in _NOTES else ()


_NOTES = {
    "figure-roc": "Methods that know only pairs: the best of mean or minimum of inner products or "
    "cosines, as judged on validation data.",
    "figure-sparsity": "By the paper's protocol repeats of a kept hyperedge stand among the hidden "
    "ones, so every method looks better than it is; clean tells.",
    "figure-classification": "Of several labels, those with a positive decision value are "
    "predicted, at least one; the number of true labels is not given away.",
}
