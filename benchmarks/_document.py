"""Fill the figures of ``docs/performance.md`` in from what benchmark runs wrote.

``python -m benchmarks._document docs/performance.md --cpu cpu.json --gpu gpu.json`` replaces what
stands between ``<!-- begin cpu train/epochs -->`` and ``<!-- end -->`` by that table of that run,
and likewise ``… machine`` and ``<!-- begin picture -->``. Blocks whose run or table is not given
stay as they are, so the two runs may come one after the other.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks._machine import sentence
from benchmarks._table import Row, cell

Runs = Mapping[str, Mapping[str, Any]]
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
            caption = "Speed against the dense formulation, and at scale"
            body = f"![{caption}]({picture})\n" if picture else None
        else:
            body = _body(what, runs)
        return begin + (old if body is None else body) + end

    return _BLOCK.sub(block, text)


def _body(what: str, runs: Runs) -> str | None:
    """The new text of a block such as ``cpu train/epochs``; None where it has none."""
    which, _, path = what.partition(" ")
    name, _, table = path.partition("/")
    found = runs.get(which, {}).get(name)
    if found is None:
        return None
    if name == "machine":
        quick = " **Quick run: not for publication.**" if found.get("quick") else ""
        return f"{sentence(dict(found))}; {found.get('date', '')}.{quick}\n"
    if isinstance(found, dict) and set(found) & {"left out", "error"}:
        return f"Not measured: {found.get('left out') or found.get('error')}\n"
    rows = found[table] if isinstance(found, dict) else found
    return markdown_table(rows)


def markdown_table(rows: list[Row]) -> str:
    """Return rows as a Markdown table; columns in which nothing stands are left out."""
    columns = list(dict.fromkeys(k for row in rows for k, v in row.items() if v is not None))
    text = [c for c in columns if any(isinstance(row.get(c), str) for row in rows)]
    lines = [
        "| " + " | ".join(c.strip() for c in columns) + " |",
        "| " + " | ".join(":--" if c in text else "--:" for c in columns) + " |",
    ]
    lines += ["| " + " | ".join(cell(row.get(c), c) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def draw(runs: Runs, path: Path) -> bool:
    """Draw the picture of the CPU run, if that has what it takes; return whether it had."""
    run = runs.get("cpu", {})
    epochs, scale = run.get("train", {}).get("epochs"), run.get("scale")
    if not epochs or not isinstance(scale, list):
        return False
    from dhne.report.style import look, themed

    with themed("light") as kit:
        figure, (left, right) = kit.subplots(1, 2, figsize=(8, 3))
        colour = look("dhne").colour
        _draw_ratios(left, [r for r in epochs if r["backend"] == "cpu"], kit.ink, colour)
        _draw_scale(right, [r for r in scale if r["device"] == "cpu"], colour)
        figure.savefig(path, metadata={"Date": None})
    return True


def _draw_ratios(axes: Any, rows: list[Row], ink: str, colour: str) -> None:
    places = range(len(rows))
    axes.barh(places, [r["times faster"] for r in rows], color=colour, label="measured")
    aims = [(p, r["target"]) for p, r in zip(places, rows, strict=True) if r.get("target")]
    axes.plot([a for _, a in aims], [p for p, _ in aims], "|", color=ink, ms=16, label="target")
    axes.set_yticks(places, [r["dataset"] for r in rows])
    axes.set_xscale("log")
    axes.set_title("An epoch: times faster than dense rows")
    axes.legend(loc="lower right")


def _draw_scale(axes: Any, rows: list[Row], colour: str) -> None:
    sizes = [r["hyperedges"] for r in rows]
    for key, mark, line in (("µs per hyperedge", "o", "-"), ("bytes per hyperedge", "s", ":")):
        start = rows[0][key] or 1  # a quick run may not have measured it
        axes.plot(sizes, [r[key] / start for r in rows], mark + line, color=colour, label=key)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("hyperedges")
    axes.set_title("Cost per hyperedge, the smallest being 1")
    axes.legend(loc="lower right")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks._document", description=__doc__)
    parser.add_argument("page", type=Path, help="the page to fill in")
    parser.add_argument("--cpu", type=Path, help="what `python -m benchmarks --json` wrote")
    parser.add_argument("--gpu", type=Path, help="what `python -m benchmarks gpu --json` wrote")
    options = parser.parse_args(arguments)
    given = {"cpu": options.cpu, "gpu": options.gpu}
    runs = {k: json.loads(p.read_text(encoding="utf-8")) for k, p in given.items() if p is not None}
    picture = PICTURE if draw(runs, options.page.parent / PICTURE) else None
    text = options.page.read_text(encoding="utf-8")
    options.page.write_text(fill_in(text, runs, picture=picture), encoding="utf-8")


if __name__ == "__main__":
    main()
