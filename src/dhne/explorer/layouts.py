"""Two-dimensional layouts: principal components immediately, UMAP in a separate process.

PCA of n × d costs one d × d eigenproblem, so even the map of 100,000 nodes is ready before the page
asks for it. UMAP takes minutes and all the CPU time it can get: it is computed only on request, in
a child process of low priority, and kept in the run as ``cache/umap-SHA.npy``. The name contains a
hash of the embeddings, so a retrained run never shows an old map. The file is written under a
temporary name and renamed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float32]
State = Literal["ready", "computing", "not computed", "failed", "not available"]

UMAP_LIMIT = 50_000  # nodes; beyond that, the wait is too long
_UMAP_LEAST = 4


def principal_components(matrix: npt.NDArray[np.float32]) -> Points:
    """Return ``float32[n, 2]``: the rows projected on the two directions of largest variance.

    The sign is chosen such that the largest coordinate in magnitude is positive: equal embeddings
    always give equal maps.

    Examples
    --------
    >>> principal_components(np.array([[0, 0], [1, 0], [5, 0]], np.float32))
    array([[-2.,  0.],
           [-1.,  0.],
           [ 3.,  0.]], dtype=float32)
    """
    n, d = matrix.shape
    points = np.zeros((n, 2), np.float32)
    if n == 0 or d == 0:
        return points
    centred = matrix - matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64)
    _, directions = np.linalg.eigh(covariance)
    best = directions[:, ::-1][:, :2]
    points[:, : best.shape[1]] = centred @ best.astype(np.float32)
    largest = points[np.abs(points).argmax(axis=0), [0, 1]]
    return points * np.where(largest < 0, -1, 1).astype(np.float32) + np.float32(0)


class UmapLayout:
    """The UMAP layout of one node type: not computed, being computed, or ready.

    During the computation, `stage` is the current step and `progress` the share of it that is
    done, if known.

    Parameters
    ----------
    matrix : float32[n, d]
    cache : path, optional
        The directory for finished layouts; without it they are kept in memory only.
    """

    def __init__(self, matrix: npt.NDArray[np.float32], cache: Path | None = None) -> None:
        self._matrix = matrix
        self._cache = cache
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._failed = False
        self._closed = False
        self.stage = ""
        self.progress: float | None = None
        self.points: Points | None = None
        self.reason = _why_not(len(matrix))
        if not self.reason:
            self.points = self._read()

    @property
    def state(self) -> State:
        """The current state."""
        if self.reason:
            return "not available"
        if self.points is not None:
            return "ready"
        if self._child is not None:
            return "computing"
        return "failed" if self._failed else "not computed"

    def start(self) -> State:
        """Start the computation unless it has been started; return the state."""
        with self._lock:
            if self.state in ("not computed", "failed") and not self._closed:
                self._failed = False
                self.stage, self.progress = "starting", None
                self._child = self._compute()
        return self.state

    def close(self) -> None:
        """Stop the computation."""
        with self._lock:
            self._closed = True
            if self._child is not None:
                self._child.terminate()

    def wait(self, seconds: float) -> State:
        """Wait until it is finished or a number of seconds have passed."""
        if self._child is not None:
            self._watcher.join(seconds)
        return self.state

    def _compute(self) -> subprocess.Popen[bytes]:
        folder = tempfile.TemporaryDirectory(prefix="dhne-umap-")
        given, result = Path(folder.name) / "vectors.npy", Path(folder.name) / "points.npy"
        np.save(given, self._matrix, allow_pickle=False)
        child = subprocess.Popen(
            [sys.executable, "-m", "dhne.explorer.umap_job", str(given), str(result)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

        def watch() -> None:
            with folder, child:
                for line in child.stdout or ():
                    self._note(line.decode().split())
                done = child.wait() == 0
                points = _load(result, len(self._matrix)) if done else None
                if points is not None:
                    self._write(points)
                with self._lock:
                    self.points, self._child, self._failed = points, None, points is None
                    self.stage, self.progress = "", None

        self._watcher = threading.Thread(target=watch, name="umap", daemon=True)
        self._watcher.start()
        return child

    def _note(self, words: list[str]) -> None:
        """Keep track of the progress that `umap_job` reports."""
        stages = {"loading": "loading UMAP", "neighbours": "finding neighbours"}
        match words:
            case ["arranging", done, total]:
                self.stage, self.progress = "arranging the nodes", int(done) / max(1, int(total))
            case [stage] if stage in stages:
                self.stage = stages[stage]

    def _file(self) -> Path | None:
        if self._cache is None:
            return None
        content = hashlib.sha256(repr(self._matrix.shape).encode())
        content.update(np.ascontiguousarray(self._matrix).data)
        return self._cache / f"umap-{content.hexdigest()[:32]}.npy"

    def _read(self) -> Points | None:
        file = self._file()
        return _load(file, len(self._matrix)) if file is not None else None

    def _write(self, points: Points) -> None:
        file = self._file()
        if file is None:
            return
        temporary = file.with_name(f".{file.stem}-{os.getpid()}.tmp")
        try:
            file.parent.mkdir(exist_ok=True)
            with temporary.open("wb") as stream:
                np.save(stream, points, allow_pickle=False)
            temporary.replace(file)
        except OSError:  # a read-only run can still be explored
            temporary.unlink(missing_ok=True)


def _why_not(nodes: int) -> str:
    """Return why UMAP is unavailable for so many nodes; an empty string if it is available."""
    if find_spec("umap") is None:
        return "needs the package umap-learn: pip install 'dhne[explorer]'"
    if nodes > UMAP_LIMIT:
        return f"available for up to {UMAP_LIMIT:,} nodes"
    return "there are too few nodes" if nodes < _UMAP_LEAST else ""


def _load(file: Path, nodes: int) -> Points | None:
    """Return the points in a file, or None if it does not contain `n` of them."""
    try:
        points = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    sound = points.shape == (nodes, 2) and points.dtype == np.float32 and np.isfinite(points).all()
    return points if sound else None
