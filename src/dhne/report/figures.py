"""The pictures: each a function from joined records to a matplotlib figure, or None without data.

Lines are means over seeds; bands are one standard deviation to either side.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dhne.evaluation import Record
from dhne.experiments import Job
from dhne.experiments.paper_numbers import title

from .metric_tables import Joined, dataset_title, method_rows, row_title, table
from .style import Kit, look, themed

Draw = Callable[[Kit, Joined], Any]
Points = Sequence[tuple[float, float, float]]


def draw(name: str, records: Joined, *, theme: str = "light") -> bytes | None:
    """Return the picture of an experiment as PNG, or None if there is nothing to draw.

    Parameters
    ----------
    name : str
        Name of the experiment.
    records : mapping of Job to Record
        From `joined`.
    theme : {"light", "dark"}
    """
    if not records:
        return None
    with themed(theme) as kit:
        figure = FIGURES[name](kit, records)
        if figure is None:
            return None
        buffer = io.BytesIO()
        # Without the software version: the same records give the same bytes.
        figure.savefig(buffer, format="png", bbox_inches="tight", metadata={"Software": None})
        return buffer.getvalue()


def _ordered(records: Iterable[Job]) -> list[str]:
    return [m for m, _ in method_rows((j.method for j in records), by_aggregate=False)]


def _dataset(name: str, records: Iterable[Job]) -> str:
    return dataset_title(name, core=any(job.of_core for job in records))


def _line(axes: Any, method: str, points: Points, *, label: str | None = None) -> None:
    """Draw a line of (x, mean, std) with its band."""
    x, y, spread = np.array(sorted(points), dtype=np.float64).T
    style = look(method)
    axes.plot(
        x, y, color=style.colour, marker=style.marker, linestyle=style.dash,
        linewidth=style.width, label=label or title(method),
    )  # fmt: skip
    if spread.any():
        axes.fill_between(x, y - spread, y + spread, color=style.colour, alpha=0.18, linewidth=0)


def _legend(figure: Any, axes: Any, *, columns: int = 5) -> None:
    """Draw one legend for all panels, below them."""
    found: dict[str, Any] = {}
    for panel in np.atleast_1d(axes).ravel():
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(
        list(found.values()),
        list(found),
        loc="upper center",
        ncols=columns,
        bbox_to_anchor=(0.5, 0),
    )


# -- the two tables as pictures --------------------------------------------------------------------


def _dumbbells(kit: Kit, records: Joined) -> Any:
    """Draw our AUC and the paper's, one line per method, one panel per dataset."""
    found = table(records, "auc")
    lines = len(found.rows)
    figure, axes = kit.subplots(
        1, len(found.columns), figsize=(2.1 * len(found.columns) + 1.2, 0.27 * lines + 1.1),
        sharey=True, squeeze=False,
    )  # fmt: skip
    place = np.arange(len(found.rows))[::-1]
    by_row = dict(_row_methods(records))
    for number, column in enumerate(found.columns):
        panel = axes[0, number]
        for y, (name, cells) in zip(place, found.rows, strict=True):
            cell = cells[number]
            if cell is None:
                continue
            colour = look(by_row[name]).colour
            if cell.paper is not None:
                panel.plot([cell.paper, cell.mean], [y, y], color=colour, linewidth=1, zorder=1)
                panel.scatter(cell.paper, y, s=26, facecolor="none", edgecolor=kit.ink, zorder=2)
            panel.errorbar(cell.mean, y, xerr=cell.std, fmt="o", color=colour, ms=5, zorder=3)
        panel.set(title=found.heading(column), xlabel="AUC", yticks=place)
        panel.set_yticklabels([name for name, _ in found.rows])
        panel.tick_params(axis="y", length=0)
        panel.set_xlim(min(0.45, panel.get_xlim()[0]), 1.01)
    handles = [
        kit.key("measured here", marker="o"),
        kit.key("the paper", marker="o", markerfacecolor="none"),
    ]
    figure.legend(handles=handles, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 0))
    return figure


def _row_methods(records: Joined) -> list[tuple[str, str]]:
    found = method_rows((j.method for j in records), by_aggregate=True)
    return [(row_title(m, a), m) for m, a in found]


# -- the figures -----------------------------------------------------------------------------------


def _roc(kit: Kit, records: Joined) -> Any:
    with_curves = {j: r for j, r in records.items() if r.curves and j.dataset == "gps"}
    if not with_curves:
        return None
    figure, panel = kit.subplots(figsize=(5.2, 4.6))
    grid = np.linspace(0, 1, 201)
    by_method = {j.method: r for j, r in with_curves.items()}
    for method in _ordered(with_curves):
        record, style = by_method[method], look(method)
        rates = np.array([np.interp(grid, c["fpr"], c["tpr"]) for c in record.curves.values()])
        mean, spread = rates.mean(axis=0), rates.std(axis=0)
        label = f"{title(method)}  {record.mean['auc']:.3f}"
        panel.plot(
            grid, mean, color=style.colour, linestyle=style.dash, linewidth=style.width, label=label
        )
        panel.fill_between(
            grid, mean - spread, mean + spread, color=style.colour, alpha=0.15, linewidth=0
        )
    panel.plot([0, 1], [0, 1], color=kit.ink, linewidth=0.8, linestyle=(0, (2, 2)))
    panel.set(
        xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1.005),
        aspect="equal", title="Link prediction, GPS",
    )  # fmt: skip
    panel.legend(title="method, AUC", loc="lower right", alignment="left")
    return figure


def _sparsity(kit: Kit, records: Joined) -> Any:
    protocols = [p for p in ("paper", "clean") if any(j.protocol == p for j in records)]
    figure, axes = kit.subplots(
        1, len(protocols), figsize=(4.2 * len(protocols), 3.4), sharey=True, squeeze=False,
    )  # fmt: skip
    for panel, protocol in zip(axes[0], protocols, strict=True):
        for method in _ordered(records):
            points = [
                (100 * j.keep, r.mean["auc"], r.std["auc"])
                for j, r in records.items()
                if j.method == method and j.protocol == protocol and j.keep is not None
            ]
            if points:
                _line(panel, method, points)
        panel.set(
            xlabel="hyperedges kept for training (%)",
            title=f"{_dataset('drug', records)}, protocol {protocol}",
        )
        panel.set_xlim(5, 95)
    axes[0, 0].set_ylabel("AUC")
    _legend(figure, axes)
    return figure


def _classification(kit: Kit, records: Joined) -> Any:
    datasets = [d for d in ("movielens", "wordnet") if any(j.dataset == d for j in records)]
    what = {"movielens": "genres (several per movie)", "wordnet": "categories (one per node)"}
    figure, axes = kit.subplots(len(datasets), 2, figsize=(8.4, 3.1 * len(datasets)), squeeze=False)
    for row, dataset in zip(axes, datasets, strict=True):
        mine = {j: r for j, r in records.items() if j.dataset == dataset}
        for panel, metric in zip(row, ("micro_f1", "macro_f1"), strict=True):
            for job, record in sorted(
                mine.items(), key=lambda x: _ordered(mine).index(x[0].method)
            ):
                _line(panel, job.method, _shares(record, metric))
            panel.set(
                xlabel="labelled nodes used for training (%)",
                ylabel="micro F1" if metric == "micro_f1" else "macro F1",
                title=f"{_dataset(dataset, mine)}: {what[dataset]}",
            )
    _legend(figure, axes)
    return figure


def _shares(record: Record, metric: str) -> Points:
    return [
        (100 * float(name.split("@")[1]), value, record.std[name])
        for name, value in record.mean.items()
        if name.startswith(f"{metric}@")
    ]


def _sensitivity(kit: Kit, records: Joined) -> Any:
    by_alpha = {j: r for j, r in records.items() if j.params}
    by_dim = {j: r for j, r in records.items() if not j.params}
    figure, (left, right) = kit.subplots(1, 2, figsize=(8, 3.1), sharey=True)
    if by_dim:
        dims = sorted({j.dim for j in by_dim})
        _line(left, "dhne", [(j.dim, r.mean["auc"], r.std["auc"]) for j, r in by_dim.items()])
        left.set_xscale("log", base=2)
        left.set_xticks(dims, [str(d) for d in dims])
    if by_alpha:
        # alpha 0 does not fit on a logarithmic axis, so the values are evenly spaced
        alphas = sorted(dict(j.params)["alpha"] for j in by_alpha)
        points = [
            (alphas.index(dict(j.params)["alpha"]), r.mean["auc"], r.std["auc"])
            for j, r in by_alpha.items()
        ]
        _line(right, "dhne", points)
        right.set_xticks(range(len(alphas)), [f"{a:g}" for a in alphas])
    name = _dataset("drug", records)
    left.set(xlabel="embedding dimension d", ylabel="AUC", title=f"{name}, by dimension")
    right.set(xlabel="weight α of the second-order loss", title=f"{name}, by α")
    return figure


def _time(kit: Kit, records: Joined) -> Any:
    figure, panel = kit.subplots(figsize=(5.2, 3.4))
    for method in _ordered(records):
        points = _milliseconds({j: r for j, r in records.items() if j.method == method})
        _line(panel, method, points)
    panel.set(
        xscale="log", xlabel="nodes of the network",
        ylabel="milliseconds per batch (512 hyperedges)", title="Training time",
    )  # fmt: skip
    panel.set_ylim(bottom=0)
    panel.legend()
    return figure


def _milliseconds(records: Mapping[Job, Record]) -> Points:
    return [
        (r.mean["nodes"], 1e3 * r.mean["seconds_per_batch"], 1e3 * r.std["seconds_per_batch"])
        for r in records.values()
    ]


FIGURES: dict[str, Draw] = {
    "table-reconstruction": _dumbbells,
    "table-link-prediction": _dumbbells,
    "figure-roc": _roc,
    "figure-sparsity": _sparsity,
    "figure-classification": _classification,
    "figure-sensitivity": _sensitivity,
    "figure-time": _time,
}
