"""The report as one self-contained HTML page: style and pictures are embedded."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from importlib import resources

from .document import SCORING_TITLE, Document, Section
from .metric_tables import Cell, MetricTable
from .number_format import difference, number, settings, spread
from .style import DPI

Pictures = Mapping[tuple[str, str], bytes]


def render(document: Document, pictures: Pictures) -> str:
    """Return the page.

    Parameters
    ----------
    document : Document
    pictures : mapping of (section's name, theme) to PNG
    """
    body = [f"<h1>{escape(document.title)}</h1>"]
    body += [f"<p>{escape(line)}</p>" for line in document.lead()]
    body += [_failures(document)]
    links = [f'<a href="#{s.name}">{escape(s.title)}</a>' for s in document.sections]
    body.append(f"<nav>{''.join(links)}<a href='#settings'>Settings</a></nav>")
    body += [_section(section, pictures) for section in document.sections]
    body.append(_settings(document))
    style = resources.files("dhne.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{style}</style>\n</head>\n"
        "<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _failures(document: Document) -> str:
    lines = [f"{name}: {text}" for name, text in document.failed]
    if document.missing > len(lines):
        lines.append(f"{document.missing - len(lines)} planned measurements are still missing.")
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<div class="note"><strong>Not complete.</strong><ul>{items}</ul></div>'


def _section(section: Section, pictures: Pictures) -> str:
    parts = [f'<section id="{section.name}"><h2>{escape(section.title)}</h2>']
    parts.append(f"<p>{escape(section.text)}</p>")
    if not section.records:
        return "".join([*parts, '<p class="soft">Nothing measured yet.</p></section>'])
    parts += [f'<p class="note">{escape(note)}</p>' for note in section.notes]
    if section.main is not None:
        parts.append(_table(section.main, "AUC; below it, the paper's and the difference"))
    parts.append(_picture(section, pictures))
    for caption, table in section.further:
        parts.append(f"<details><summary>{escape(caption)}</summary>{_table(table, '')}</details>")
    if section.main is not None and section.scorings:
        parts.append(f"<details><summary>{SCORING_TITLE}</summary>{_scorings(section)}</details>")
    return "\n".join([*parts, "</section>"])


def _picture(section: Section, pictures: Pictures) -> str:
    light = pictures.get((section.name, "light"))
    if light is None:
        return ""
    dark = pictures.get((section.name, "dark"), light)
    source = f'<source media="(prefers-color-scheme:dark)" srcset="{_data(dark)}">'
    width = round(int.from_bytes(light[16:20]) * 100 / DPI)  # from the PNG header
    image = f'<img src="{_data(light)}" width="{width}" alt="{escape(section.title)}">'
    bars = "Bars" if section.main is not None else "Bands"
    caption = f"{section.title}."
    caption += f" {bars} are one standard deviation over seeds." if section.spread else ""
    below = f"<figcaption>{escape(caption)}</figcaption>"
    return f"<figure><picture>{source}{image}</picture>{below}</figure>"


def _data(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _table(table: MetricTable, caption: str) -> str:
    cores = [dataset in table.cores for dataset, _ in table.columns]
    rows = [
        (name, [_cell(x, table.metric, core=core) for x, core in zip(cells, cores, strict=True)])
        for name, cells in table.rows
    ]
    return _grid(table, rows, caption)


def _scorings(section: Section) -> str:
    assert section.main is not None
    rows = [
        (name, [f"<td>{escape(text) or '–'}</td>" for text in texts])
        for name, texts in section.scorings
    ]
    return _grid(section.main, rows, "")


def _grid(table: MetricTable, rows: list[tuple[str, list[str]]], caption: str) -> str:
    """Return rows of finished cells under the headings of a table."""
    head = "".join(f"<th scope='col'>{escape(table.heading(c))}</th>" for c in table.columns)
    lines = [f"<tr><th scope='row'>{escape(name)}</th>{''.join(row)}</tr>" for name, row in rows]
    label = f"<caption>{escape(caption)}</caption>" if caption else ""
    top = f"<thead><tr><th scope='col'>method</th>{head}</tr></thead>"
    return f"<div class='scroll'><table>{label}{top}<tbody>{''.join(lines)}</tbody></table></div>"


def _cell(cell: Cell | None, metric: str, *, core: bool) -> str:
    if cell is None:
        return "<td class='none'>–</td>"
    shown = number(cell.mean, metric)
    if cell.seeds > 1:
        shown += f"<span class='spread'> ± {spread(cell.std, metric)}</span>"
    if cell.paper is not None and cell.difference is not None:
        # a core is a different task: its difference is shown but not judged
        way = "soft" if core else "up" if cell.difference >= 0 else "down"
        shown += (
            f"<small>{number(cell.paper, metric)} "
            f"<span class='{way}'>{difference(cell.difference)}</span></small>"
        )
    return f"<td class='best'>{shown}</td>" if cell.best else f"<td>{shown}</td>"


def _settings(document: Document) -> str:
    rows = []
    for name, values in sorted(document.settings.items()):
        row = f"<th scope='row'>{escape(name)}</th><td>{escape(settings(values))}</td>"
        rows.append(f"<tr>{row}</tr>")
    versions = document.environment.get("libraries", {})
    made = [f"dhne {document.version}", f"Python {document.environment.get('python', '')}"]
    made += [f"{name} {version}" for name, version in versions.items()]
    return (
        "<section id='settings'><h2>Settings</h2><p>Command to reproduce this page:</p>"
        f"<pre>{escape(document.command)}</pre><p>Made with {escape(', '.join(made))} "
        f"on {escape(str(document.environment.get('platform', 'an unknown system')))}.</p>"
        "<details><summary>Settings of every method</summary><div class='scroll settings'>"
        f"<table><tbody>{''.join(rows)}</tbody></table></div></details></section>"
    )
