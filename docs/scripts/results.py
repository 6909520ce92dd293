"""Take the report of a ``dhne reproduce`` into the documentation.

``python docs/scripts/results.py runs/full`` writes its Markdown to ``docs/results-full.md``, its
pictures to ``docs/images/results``, and the measured rows of the table at the top of
``docs/results.md``. A report on some of the tables and figures replaces only their sections.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
TITLE = "# All tables and figures"
# The best published figures on the released splits, quoted; the epoch was chosen on the test part.
PUBLISHED = (
    "Hyper-SAGNN, as reported",
    {
        "GPS": ".952",
        "MovieLens": ".930",
        "drug": ".961",
        "wordnet": ".890",
    },
)
# Rows of the summary: their title, the method's row of the full table, and what to take of a cell.
_MEASURED, _PAPER = r"[*]*([.\d]+)", r"\(paper ([.\d]+)"
SUMMARY = (
    ("DHNE as published", "DHNE", _PAPER),
    ('`dhne`, the same model (`preset="default"`)', "DHNE", _MEASURED),
    ('**`dhne-plus`** (`preset="plus"`)', "DHNE+", _MEASURED),
)
_PICTURE = re.compile(r"(!\[[^\]]*\]\()([^)/]+\.png)\)")
_SETTINGS = "## Settings"
_BLOCK = re.compile(r"(<!-- begin summary -->\n).*?(<!-- end -->)", re.DOTALL)


def take(made: Path) -> None:
    """Copy the report and its pictures, and update the summary."""
    page = (made / "results.md").read_text(encoding="utf-8")
    _, _, body = page.partition("\n")  # the report's own title
    pictures = DOCS / "images" / "results"
    pictures.mkdir(parents=True, exist_ok=True)
    for name in {match[2] for match in _PICTURE.finditer(body)}:
        shutil.copy(made / name, pictures / name)
    body = _PICTURE.sub(r"\1images/results/\2)", body)
    body = body.replace("```console", "<!-- test: shown only -->\n```console")  # it takes hours
    full = DOCS / "results-full.md"
    text = with_sections(full.read_text(encoding="utf-8"), f"{TITLE}\n\n{body.lstrip()}")
    full.write_text(text, encoding="utf-8")
    results = DOCS / "results.md"
    results.write_text(with_summary(results.read_text(encoding="utf-8"), text), encoding="utf-8")


def with_sections(page: str, made: str) -> str:
    """Return the new page, or the old one with the sections of a report that has only some."""
    old, new = _sections(page), _sections(made)
    if old.keys() <= new.keys():
        return made
    kept = {title for title in new if title in old and title not in ("", _SETTINGS)}
    return "".join(new[title] if title in kept else text for title, text in old.items())


def _sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles; what precedes the first has none."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return {part.partition("\n")[0] if i else "": part for i, part in enumerate(parts)}


def with_summary(results: str, full: str) -> str:
    """Return the page `results` with its summary made from the full tables."""
    table = summary(full)
    return _BLOCK.sub(lambda match: match[1] + table + match[2], results)


def summary(full: str) -> str:
    """Return the AUC of link prediction, the paper's and ours, as a Markdown table."""
    _, _, section = full.partition("\n## Link prediction\n")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    heads = rows[0][1:]
    lines = ["| link prediction, AUC | " + " | ".join(heads) + " |"]
    lines.append("| --- |" + " --: |" * len(heads))
    for title, method, part in SUMMARY:
        cells = next(row[1:] for row in rows if row[0] == method)
        found = [re.search(part, cell) for cell in cells]
        lines.append(f"| {title} | " + " | ".join(m[1] if m else "–" for m in found) + " |")
    name, published = PUBLISHED
    lines.insert(3, f"| {name} | " + " | ".join(published.get(h, "–") for h in heads) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    take(Path(sys.argv[1]))
