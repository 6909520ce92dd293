"""The report as Markdown, with its pictures as separate files."""

from __future__ import annotations

from .document import SCORING_TITLE, Document, Section
from .metric_tables import Cell, MetricTable
from .number_format import difference, number, settings, spread


def render(document: Document, pictures: set[str]) -> str:
    """Return the report; `pictures` has the names of the sections with a picture."""
    lines = [f"# {document.title}", "", *_paragraphs(document.lead()), *_failures(document)]
    for section in document.sections:
        lines += _section(section, section.name in pictures)
    lines += ["## Settings", "", "Command to reproduce this page:", ""]
    lines += ["```console", f"$ {document.command}", "```", "", _made_with(document), ""]
    lines += ["| method | settings |", "| --- | --- |"]
    for name, values in sorted(document.settings.items()):
        lines.append(f"| {name} | {_inline(settings(values))} |")
    return "\n".join(lines) + "\n"


def _paragraphs(texts: list[str]) -> list[str]:
    return [line for text in texts for line in (text, "")]


def _failures(document: Document) -> list[str]:
    lines = [f"- {name}: {text}" for name, text in document.failed]
    if document.missing > len(lines):
        lines.append(f"- {document.missing - len(lines)} planned measurements are still missing.")
    return ["**Not complete.**", "", *lines, ""] if lines else []


def _section(section: Section, has_picture: bool) -> list[str]:
    lines = [f"## {section.title}", "", section.text, ""]
    if not section.records:
        return [*lines, "Nothing measured yet.", ""]
    lines += _paragraphs(list(section.notes))
    if section.main is not None:
        lines += [*_table(section.main), ""]
    if has_picture:
        lines += [f"![{section.title}]({section.name}.png)", ""]
    for caption, table in section.further:
        lines += [_heading(section, caption), "", *_table(table), ""]
    if section.main is not None and section.scorings:
        lines += [_heading(section, SCORING_TITLE), "", *_top(section.main)]
        lines += [
            f"| {name} | {' | '.join(t or '–' for t in texts)} |"
            for name, texts in section.scorings
        ]
        lines.append("")
    return lines


def _heading(section: Section, caption: str) -> str:
    return f"### {section.title}: {caption[0].lower()}{caption[1:]}"


def _top(table: MetricTable) -> list[str]:
    heads = [table.heading(c) for c in table.columns]
    return [f"| method | {' | '.join(heads)} |", "| --- " * (len(heads) + 1) + "|"]


def _table(table: MetricTable) -> list[str]:
    lines = _top(table)
    for name, cells in table.rows:
        lines.append(f"| {name} | {' | '.join(_cell(c, table.metric) for c in cells)} |")
    return lines


def _cell(cell: Cell | None, metric: str) -> str:
    if cell is None:
        return "–"
    shown = number(cell.mean, metric)
    shown = f"**{shown}**" if cell.best else shown
    if cell.seeds > 1:
        shown += f" ± {spread(cell.std, metric)}"
    if cell.paper is not None and cell.difference is not None:
        shown += f" (paper {number(cell.paper, metric)}, {difference(cell.difference)})"
    return shown


def _made_with(document: Document) -> str:
    versions = document.environment.get("libraries", {})
    made = [f"dhne {document.version}", f"Python {document.environment.get('python', '')}"]
    made += [f"{name} {version}" for name, version in versions.items()]
    return f"Made with {', '.join(made)} on {document.environment.get('platform', 'some system')}."


def _inline(text: str) -> str:
    return text.replace("|", "\\|")
