"""Draw ``docs/images/architecture.svg``: ``python docs/scripts/drawing.py``.

Rows are layers, boxes are packages and modules of ``src/dhne``; the page's style sheet sets the
text colour. A test checks that `LAYERS` has exactly the modules of the import layers in
``pyproject.toml``, in an order that respects them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "images" / "architecture.svg"
WIDTH, ROW, GAP, LEFT = 860, 52, 12, 150
ASK, MEASURE, LEARN, DATA, BASE = "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#8C6D00"

# From the top: what the layer is for, its modules, and its colour.
LAYERS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("user interfaces", ("cli", "explorer"), ASK),
    (
        "measure, tune",
        ("report", "experiments", "tuning", "interop", "evaluation", "methods", "baselines"),
        MEASURE,
    ),
    ("the estimator", ("estimator", "storage", "trackers"), LEARN),
    ("learn, ask", ("training", "embedder", "answers"), LEARN),
    ("the model", ("model", "kernels"), LEARN),
    ("data", ("datasets", "io", "sampling", "adjacency"), DATA),
    ("the network", ("network",), BASE),
    ("everywhere", ("hyperparameters", "files", "workers", "threads", "errors"), BASE),
)


def draw() -> str:
    """Return the drawing as SVG."""
    height = len(LAYERS) * (ROW + GAP) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="drawing">',
        "<title>The layers of dhne; each imports only from those below it</title>",
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
        "each layer imports only from those below it</text></svg>"
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
