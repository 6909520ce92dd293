"""Compute a UMAP layout in a separate process: ``python -m dhne.explorer.umap_job IN.npy OUT.npy``.

Progress goes to standard output, one line per step: ``loading``, ``neighbours``, then
``arranging 12 500`` for the twelfth of 500 rounds.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys

import numpy as np


class _Rounds:
    """Turns what tqdm would draw, ``12/500``, into a line."""

    def write(self, text: str) -> None:
        """Print how many rounds are done."""
        found = re.search(r"(\d+)/(\d+)", text)
        if found:
            _say(f"arranging {found[1]} {found[2]}")

    def flush(self) -> None:
        """Do nothing: lines are written at once."""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(given: str, result: str) -> None:
    """Read vectors and write their two-dimensional UMAP; equal vectors give equal maps."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)  # the waiting page must stay responsive
    _say("loading")
    from umap import UMAP

    matrix = np.load(given, allow_pickle=False)
    neighbours = min(15, len(matrix) - 1)
    rounds = {"disable": False, "file": _Rounds(), "bar_format": "{n_fmt}/{total_fmt}"}
    _say("neighbours")
    points = UMAP(
        n_neighbors=neighbours, metric="cosine", random_state=0, n_jobs=1, tqdm_kwds=rounds
    ).fit_transform(matrix)
    np.save(result, np.asarray(points, dtype=np.float32), allow_pickle=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
