"""Take the page of a ``dhne reproduce`` into the documentation.

``python docs/scripts/results.py runs/full`` copies its Markdown to ``docs/results_page.md``, which
``docs/results.md`` includes, and the pictures that it shows to ``docs/images/results``.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
_PICTURE = re.compile(r"(!\[[^\]]*\]\()([^)/]+\.png)\)")


def take(made: Path) -> None:
    """Copy the page, without its title, and its pictures."""
    page = (made / "results.md").read_text(encoding="utf-8")
    _, _, body = page.partition("\n")  # the title is that of docs/results.md
    pictures = DOCS / "images" / "results"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    for name in {match[2] for match in _PICTURE.finditer(body)}:
        shutil.copy(made / name, pictures / name)
    body = _PICTURE.sub(r"\1images/results/\2)", body)
    body = body.replace("```console", "<!-- test: shown only -->\n```console")  # it takes hours
    (DOCS / "results_page.md").write_text(body.lstrip(), encoding="utf-8")


if __name__ == "__main__":
    take(Path(sys.argv[1]))
