"""Compute a UMAP in a process of its own: ``python -m dhne.explorer.umap_job IN.npy OUT.npy``.

How far it is goes to standard output, a line each time: ``loading``, ``neighbours``, then
``arranging 12 500`` for the twelfth of 500 rounds.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys

import numpy as np


class _Rounds:
    """Takes what tqdm would draw, ``12/500``, and says it as a line."""

    def write(self, text: str) -> None:
        """Say how many rounds are done."""
        found = re.search(r"(\d+)/(\d+)", text)
        if found:
            _say(f"arranging {found[1]} {found[2]}")

    def flush(self) -> None:
        """Nothing is held back."""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(given: str, result: str) -> None:
    """Read vectors, write their two-dimensional UMAP; the same vectors give the same map."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)  # the page that waits for it must stay quick
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
