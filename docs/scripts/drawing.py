"""The drawing of ``docs/architecture.md``: ``python docs/scripts/drawing.py`` writes it.

Boxes are modules, rows are layers; the page's style sheet sets the colour of the words.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "images" / "architecture.svg"
WIDTH, ROW, GAP, LEFT = 860, 58, 12, 150

# From the top: what the layer is for, its modules, and its colour.
LAYERS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("for people", ("cli", "explorer", "report"), "#0072B2"),
    ("measuring", ("experiments", "tuning", "interop", "evaluation", "baselines"), "#009E73"),
    ("what you import", ("estimator", "newcomers", "trackers", "storage"), "#D55E00"),
    (
        "learning",
        ("training", "validation", "batches", "optimizers", "answers", "memory"),
        "#D55E00",
    ),
    ("the model", ("model", "similarity", "evidence", "kernels"), "#D55E00"),
    ("data", ("datasets", "io", "sampling", "adjacency"), "#CC79A7"),
    ("the contract", ("embedder", "ranking", "tuples"), "#8C6D00"),
    ("the network", ("network", "edges", "vocabulary", "labels", "encoding", "merging"), "#8C6D00"),
    ("everywhere", ("errors", "files", "settings", "callbacks"), "#777777"),
)


def draw() -> str:
    """Return the drawing as SVG."""
    height = len(LAYERS) * (ROW + GAP) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="drawing">',
        "<title>The layers of dhne, each importing only from those below it</title>",
    ]
    for number, (purpose, modules, colour) in enumerate(LAYERS):
        top = 8 + number * (ROW + GAP)
        parts.append(
            f'<text class="tag" x="{LEFT - 14}" y="{top + ROW / 2 + 5}" text-anchor="end" '
            f'font-size="14">{escape(purpose)}</text>'
        )
        width = (WIDTH - LEFT - 10 - GAP * (len(modules) - 1)) / len(modules)
        for place, module in enumerate(modules):
            left = LEFT + place * (width + GAP)
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW}" rx="9" '
                f'fill="{colour}" fill-opacity="0.16" stroke="{colour}" stroke-width="1.5"/>'
                f'<text x="{left + width / 2:.1f}" y="{top + ROW / 2 + 5}" text-anchor="middle" '
                f'font-size="15">{escape(module)}</text>'
            )
    parts.append(
        f'<text class="tag" x="{LEFT}" y="{height - 6}" font-size="13">'
        "each layer imports from those below it, never from above</text></svg>"
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
