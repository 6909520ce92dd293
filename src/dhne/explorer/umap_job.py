"""Compute a UMAP in a process of its own: ``python -m dhne.explorer.umap_job IN.npy OUT.npy``."""

from __future__ import annotations

import contextlib
import os
import sys

import numpy as np


def main(given: str, result: str) -> None:
    """Read vectors, write their two-dimensional UMAP; the same vectors give the same map."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)  # the page that waits for it must stay quick
    from umap import UMAP

    matrix = np.load(given, allow_pickle=False)
    neighbours = min(15, len(matrix) - 1)
    points = UMAP(n_neighbors=neighbours, metric="cosine", random_state=0, n_jobs=1).fit_transform(
        matrix
    )
    np.save(result, np.asarray(points, dtype=np.float32), allow_pickle=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
