"""Draw ``docs/images/architecture.svg``: ``python docs/scripts/drawing.py``.

Rows are layers, boxes are packages and modules of ``src/dhne``, with the files to know below the
name of a package; the page's style sheet sets the text colour. A test checks that `LAYERS` has
exactly the modules of the import layers in ``pyproject.toml``, in an order that respects them, and
that every file of `INSIDE` exists.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "images" / "architecture.svg"
WIDTH, GAP, LEFT = 860, 12, 150
TITLE, LINE = 46, 17  # heights: of a box with nothing but a name, of a line below it
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

# The files of a package that a new reader should know, line by line.
INSIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "cli": (("train", "update", "prepare", "rank", "score", "evaluate"),),
    "explorer": (("application", "asking", "guard", "static"),),
    "storage": (("runs", "manifest", "checkpoints"),),
    "training": (
        ("assembly", "batches", "loop"),
        ("drawing", "node_index"),
        ("leave_one_out", "families"),
        ("ranking", "blending"),
        ("held_out_questions", "validation"),
        ("growing", "updating"),
        ("replay", "freezing"),
        ("columns", "exchange", "divided"),
    ),
    "answers": (
        ("scorer", "completion", "rankings"),
        ("nearest", "propagation"),
        ("explanation", "calibration"),
        ("newcomers",),
    ),
    "model": (
        ("joint", "row_encoding", "similarities", "losses"),
        ("evidence", "products", "meetings"),
        ("place_evidence", "candidate_evidence", "blend"),
    ),
    "kernels": (("interface", "reference"), ("cpu", "cuda", "compiled")),
    "datasets": (("registry", "catalogue"), ("generators",)),
    "io": (("tables", "facts", "hif", "npz"), ("prepared",)),
    "sampling": (("sampler", "schemes"), ("known",)),
    "network": (("hypernetwork", "edges", "edge_type", "vocabulary", "time", "growth"),),
}


def _place(top: float, height: float, lines: int) -> float:
    """Return the base line of the first of `lines` lines that are centred in a box."""
    return top + (height - LINE * (lines - 1)) / 2 + 5


def draw() -> str:
    """Return the drawing as SVG."""
    heights = [
        TITLE + LINE * max(len(INSIDE.get(module, ())) for module in modules)
        for _, modules, _ in LAYERS
    ]
    height = sum(heights) + GAP * len(LAYERS) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="drawing">',
        "<title>The layers of dhne; each imports only from those below it</title>",
    ]
    top = 8
    for (purpose, modules, colour), row in zip(LAYERS, heights, strict=True):
        parts.append(
            f'<text class="tag" x="{LEFT - 14}" y="{_place(top, row, 1)}" text-anchor="end" '
            f'font-size="14">{escape(purpose)}</text>'
        )
        width = (WIDTH - LEFT - 10 - GAP * (len(modules) - 1)) / len(modules)
        for place, module in enumerate(modules):
            left = LEFT + place * (width + GAP)
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{row}" rx="9" '
                f'fill="{colour}" fill-opacity="0.16" stroke="{colour}" stroke-width="1.5"/>'
            )
            files = [" · ".join(line) for line in INSIDE.get(module, ())]
            base = _place(top, row, 1 + len(files))
            for number, text in enumerate([module, *files]):
                style = 'class="tag" font-size="12"' if number else 'font-size="14"'
                parts.append(
                    f'<text x="{left + width / 2:.1f}" y="{base + LINE * number}" '
                    f'text-anchor="middle" {style}>{escape(text)}</text>'
                )
        top += row + GAP
    parts.append(
        f'<text class="tag" x="{LEFT}" y="{height - 6}" font-size="13">'
        "each layer imports only from those below it</text></svg>"
    )
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
