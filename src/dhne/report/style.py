"""The style of pictures: one colour, marker and dash per method, the same in every picture.

The colours are Okabe and Ito's, which people with colour blindness can distinguish. Markers and
dashes differ too, so that pictures also work in greyscale. Every picture comes in a light and a
dark version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dhne.errors import MissingExtraError
from dhne.methods import METHODS, Look

THEMES = ("light", "dark")
DPI = 160


_INK = {"light": ("#1b1b1b", "#ffffff", "#d9d9d9"), "dark": ("#e8e8e8", "#17181c", "#44464d")}


def look(method: str) -> Look:
    """Return the line style of a method."""
    return METHODS[method].look if method in METHODS else Look()


@dataclass(frozen=True)
class Kit:
    """Drawing tools: matplotlib without pyplot, so that no global state changes."""

    ink: str

    def subplots(self, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
        """Return a figure of ``figsize`` inches and its panels, as pyplot's function would."""
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        roomy = ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.08)
        figure = Figure(figsize=options.pop("figsize"), layout=roomy)
        return figure, figure.subplots(rows, columns, **options)

    def key(self, label: str, **options: Any) -> Any:
        """Return an entry for a legend."""
        from matplotlib.lines import Line2D

        return Line2D([], [], color=self.ink, linestyle="", label=label, **options)


@contextmanager
def themed(theme: str) -> Iterator[Kit]:
    """Yield a `Kit` with the theme's settings."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError("matplotlib", extra="plots") from error
    ink, paper, grid = _INK[theme]
    colours = {
        "grid.color": grid,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "figure.facecolor": paper,
        "axes.facecolor": paper,
        "savefig.facecolor": paper,
    }
    settings: dict[Any, Any] = _SETTINGS | colours
    with mpl.rc_context(settings):
        yield Kit(ink)


_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.markersize": 4.5,
    "savefig.dpi": DPI,
}
