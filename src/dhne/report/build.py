"""The report's files: ``index.html``, ``results.md``, and a PNG and a CSV per section."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from dhne.experiments import Experiment, Job, RecordStore, Selection
from dhne.experiments.paper_numbers import paper_auc
from dhne.files.writing import replace_bytes

from . import html, markdown
from .document import compose
from .figures import draw
from .metric_tables import Joined
from .style import THEMES

_COLUMNS = (
    "task", "dataset", "protocol", "method", "dim", "params", "kept", "nodes", "core", "metric",
    "mean", "std", "seeds", "paper", "difference",
)  # fmt: skip


def write_report(
    directory: str | os.PathLike[str],
    experiments: Sequence[Experiment],
    choice: Selection,
    store: RecordStore,
    *,
    command: str = "dhne reproduce",
    failed: Sequence[tuple[Job, str]] = (),
) -> Path:
    """Write the report on the records in the store and return the path of its page.

    Parameters
    ----------
    directory : path
    experiments, choice
        The requested tables and figures.
    store : RecordStore
    command : str
        The command to reproduce the report, shown to the reader.
    failed : sequence of (job, message)
    """
    out = Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    document = compose(experiments, choice, store, command=command, failed=failed)
    pictures = {}
    for section in document.sections:
        for theme in THEMES:
            picture = draw(section.name, section.records, theme=theme)
            if picture is not None:
                pictures[section.name, theme] = picture
        if (section.name, "light") in pictures:
            replace_bytes(out / f"{section.name}.png", pictures[section.name, "light"])
        if section.records:
            replace_bytes(out / f"{section.name}.csv", as_csv(section.records).encode())
    drawn = {name for name, _ in pictures}
    replace_bytes(out / "results.md", markdown.render(document, drawn).encode())
    page = out / "index.html"
    replace_bytes(page, html.render(document, pictures).encode())
    return page


def as_csv(records: Joined) -> str:
    """Return every metric of every record, one per line."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for job, record in records.items():
        params = ";".join(f"{k}={v}" for k, v in job.params)
        head = [job.task, job.dataset, job.protocol, job.method, job.dim, params]
        head += [_text(job.keep), _text(job.nodes), _text(job.core)]
        for metric, mean in record.mean.items():
            paper = _paper(job, metric)
            tail = [_text(paper), "" if paper is None else f"{mean - paper:.6g}"]
            numbers = [f"{mean:.6g}", f"{record.std[metric]:.6g}", len(record.results)]
            writer.writerow([*head, metric, *numbers, *tail])
    return buffer.getvalue()


def _paper(job: Job, metric: str) -> float | None:
    name, _, aggregate = metric.partition("_")
    if name != "auc" or job.protocol != "paper" or job.keep is not None or job.params:
        return None
    return paper_auc(job.task, job.dataset, job.method, aggregate) if job.dim == 64 else None


def _text(value: object) -> str:
    return "" if value is None else str(value)
