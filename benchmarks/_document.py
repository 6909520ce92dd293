"""Fill in the tables of the documentation from benchmark results.

``python -m benchmarks._document --cpu cpu.json --gpu gpu.json`` goes through the pages in `PAGES`
(or those given) and replaces the text between ``<!-- begin cpu train/epochs -->`` and
``<!-- end -->`` by that table of that run, and likewise ``… machine`` and ``<!-- begin picture
-->``. A block may select columns and rename them: ``<!-- begin cpu rank | what | rank ms = ms
-->``. Blocks whose run or table is missing are left unchanged, so the two runs can be filled in
separately.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._machine import sentence
from benchmarks._table import Row, cell

Runs = Mapping[str, Mapping[str, Any]]
DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = tuple(
    DOCS / name
    for name in (
        "performance.md",
        "howto/new-data-every-day.md",
        "plus.md",
        "contributing/benchmarks.md",
        "contributing/speed.md",
        "contributing/defaults.md",
    )
)
PICTURE = "performance.svg"
_BLOCK = re.compile(r"(<!-- begin ([^>]+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def fill_in(text: str, runs: Runs, *, picture: str | None = None) -> str:
    r"""Return the text with the blocks of the given runs filled in.

    Examples
    --------
    >>> page = "<!-- begin cpu rank -->\n<!-- end -->"
    >>> print(fill_in(page, {"cpu": {"rank": [{"what": "rank", "ratio": 1.5}]}}))
    <!-- begin cpu rank -->
    | what | ratio |
    | :-- | --: |
    | rank | 1.50 |
    <!-- end -->
    """

    def block(match: re.Match[str]) -> str:
        begin, what, old, end = match.groups()
        if what == "picture":
            caption = "Speed-up of an epoch over dense rows, and cost per hyperedge at scale"
            body = f"![{caption}]({picture})\n" if picture else None
        else:
            body = _body(what, runs)
        return begin + (old if body is None else body) + end

    return _BLOCK.sub(block, text)


def _body(what: str, runs: Runs) -> str | None:
    """Return the new text of a block such as ``cpu train/epochs``, or None to keep the old."""
    place, *columns = (part.strip() for part in what.split("|"))
    which, _, path = place.partition(" ")
    name, _, table = path.partition("/")
    found = runs.get(which, {}).get(name)
    if found is None:
        return None
    if name == "machine":
        quick = " **Quick run: not for publication.**" if found.get("quick") else ""
        return f"{sentence(dict(found))}; {found.get('date', '')}.{quick}\n"
    if isinstance(found, dict) and set(found) & {"left out", "error"}:
        return f"Not measured: {found.get('left out') or found.get('error')}\n"
    rows = found.get(table) if isinstance(found, dict) else found
    return None if rows is None else markdown_table(rows, columns)


def markdown_table(rows: list[Row], select: Sequence[str] = ()) -> str:
    """Return rows as a Markdown table without its empty columns.

    `select` lists the columns to show, all by default; ``"rank ms = ms"`` renames one.

    Examples
    --------
    >>> print(markdown_table([{"what": "rank", "rank ms": 1.5, "limit": 2}], ["rank ms = ms"]))
    | ms |
    | --: |
    | 1.50 |
    """
    filled = dict.fromkeys(k for row in rows for k, v in row.items() if v is not None)
    titles = {column: column.strip() for column in filled}
    if select:
        pairs = (column.partition("=") for column in select)
        titles = {name.strip(): new.strip() or name.strip() for name, _, new in pairs}
    columns = list(titles)
    text = [c for c in columns if any(isinstance(row.get(c), str) for row in rows)]
    lines = [
        "| " + " | ".join(titles.values()) + " |",
        "| " + " | ".join(":--" if c in text else "--:" for c in columns) + " |",
    ]
    lines += ["| " + " | ".join(cell(row.get(c), c) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def draw(runs: Runs, path: Path) -> bool:
    """Draw the picture of the CPU run; return False if its tables are missing."""
    run = runs.get("cpu", {})
    epochs, scale = run.get("train", {}).get("epochs"), run.get("scale")
    if not epochs or not isinstance(scale, list):
        return False
    from dhne.report.style import look, themed

    with themed("light") as kit:
        figure, (left, right) = kit.subplots(1, 2, figsize=(8, 3))
        colour = look("dhne").colour
        _draw_ratios(left, [r for r in epochs if r["backend"] == "cpu"], colour)
        _draw_scale(right, [r for r in scale if r["device"] == "cpu"], colour)
        figure.savefig(path, metadata={"Date": None})
    return True


def _draw_ratios(axes: Any, rows: list[Row], colour: str) -> None:
    rows.reverse()  # bars are drawn from the bottom up
    bars = axes.barh(range(len(rows)), [r["times faster"] for r in rows], color=colour)
    axes.bar_label(bars, [f" {r['times faster']:,.0f} ×" for r in rows])
    axes.set_yticks(range(len(rows)), [r["dataset"] for r in rows])
    axes.set_xscale("log")
    axes.set_xlim(1, 5 * max(r["times faster"] for r in rows))
    axes.set_title("One epoch: times faster than dense rows")


def _draw_scale(axes: Any, rows: list[Row], colour: str) -> None:
    sizes = [r["hyperedges"] for r in rows]
    for key, mark, line in (("µs per hyperedge", "o", "-"), ("bytes per hyperedge", "s", ":")):
        start = rows[0][key] or 1  # a quick run may not have measured it
        axes.plot(sizes, [r[key] / start for r in rows], mark + line, color=colour, label=key)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hyperedges")
    axes.set_title("Cost per hyperedge, smallest network = 1")
    axes.legend(loc="upper left")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks._document", description=__doc__)
    parser.add_argument(
        "pages", type=Path, nargs="*", help="pages to fill in; default: the documentation"
    )
    parser.add_argument("--cpu", type=Path, help="the output of `python -m benchmarks --json`")
    parser.add_argument("--gpu", type=Path, help="the output of `python -m benchmarks gpu --json`")
    options = parser.parse_args(arguments)
    given = {"cpu": options.cpu, "gpu": options.gpu}
    runs = {k: json.loads(p.read_text(encoding="utf-8")) for k, p in given.items() if p is not None}
    for page in options.pages or PAGES:
        text = page.read_text(encoding="utf-8")
        shown = "<!-- begin picture -->" in text
        picture = PICTURE if shown and draw(runs, page.parent / PICTURE) else None
        page.write_text(fill_in(text, runs, picture=picture), encoding="utf-8")


if __name__ == "__main__":
    main()
