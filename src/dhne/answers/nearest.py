"""Nearest nodes by cosine, several questions in one pass.

The rows are scaled to length 1 once and stored by column. The cosines of a batch of questions with
all nodes then take one pass over the columns, during which the largest are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dhne.network.edges import NodeArray

from .ranking import top_k

Floats = npt.NDArray[np.float32]

_LEAST = 20_000  # with fewer nodes, compilation would take longer than it saves
_SMALLEST = 1e-12  # divisor for vectors of length 0


class Nearest(NamedTuple):
    """The nearest nodes ``int64[k]`` and their cosines, nearest first."""

    nodes: NodeArray
    cosines: npt.NDArray[np.float64]


class NearestNodes:
    """Finds the nearest nodes of a type to given nodes or vectors.

    Parameters
    ----------
    embeddings : mapping of node type to float32[n, d]
    least_compiled : int
        With fewer nodes, NumPy computes and sorts all cosines.

    Examples
    --------
    >>> near = NearestNodes({"x": np.array([[1, 0], [2, 0], [0, 3], [1, 1]], np.float32)})
    >>> near.to_nodes("x", [0], 2)[0].nodes
    array([1, 3])
    >>> near.to_vectors("x", np.array([[0, 5]], np.float32), 2)[0].nodes
    array([2, 3])
    """

    def __init__(self, embeddings: Mapping[str, Floats], *, least_compiled: int = _LEAST) -> None:
        self._embeddings, self._least = embeddings, least_compiled
        self._unit: dict[str, Floats] = {}
        self._lock = threading.Lock()

    def unit(self, node_type: str) -> Floats:
        """Return ``float32[d, n]``: the embeddings of a type, one column of length 1 per node."""
        with self._lock:
            if node_type not in self._unit:
                matrix = self._embeddings[node_type]
                norms = np.maximum(np.linalg.norm(matrix, axis=1), _SMALLEST)
                self._unit[node_type] = np.ascontiguousarray(matrix.T / norms, dtype=np.float32)
            return self._unit[node_type]

    def cosines(self, node_type: str, node: int) -> Floats:
        """Return the cosine of a node's embedding with that of every node of its type."""
        unit = self.unit(node_type)
        found: Floats = unit[:, node] @ unit
        return found

    def to_nodes(
        self, node_type: str, nodes: Sequence[int] | NodeArray, k: int | Sequence[int]
    ) -> list[Nearest]:
        """Return the `k` other nodes nearest to each of `nodes`; `k` may differ between them."""
        asked = np.asarray(nodes, dtype=np.int64)
        counts = [k] * len(asked) if isinstance(k, int | np.integer) else list(k)
        directions = np.ascontiguousarray(self.unit(node_type)[:, asked].T)
        return self._find(node_type, directions, counts, asked)

    def to_vectors(self, node_type: str, vectors: Floats, k: int) -> list[Nearest]:
        """Return the `k` nodes nearest to each row of ``vectors: float32[m, d]``."""
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SMALLEST)
        directions = np.ascontiguousarray(vectors / norms, dtype=np.float32)
        return self._find(node_type, directions, [k] * len(vectors), np.full(len(vectors), -1))

    def _find(
        self, node_type: str, directions: Floats, counts: Sequence[int], skipped: NodeArray
    ) -> list[Nearest]:
        unit = self.unit(node_type)
        wanted = min(max(counts, default=0) + 1, unit.shape[1])  # one more: the node itself
        likely = self._likely(unit, directions, wanted)
        answers = []
        for ids, direction, k, node in zip(likely, directions, counts, skipped, strict=True):
            others = ids[ids != node]
            cosines = direction @ unit[:, others]
            best = np.lexsort((others, -cosines))[:k]
            answers.append(Nearest(others[best], cosines[best].astype(np.float64)))
        return answers

    def _likely(self, unit: Floats, directions: Floats, wanted: int) -> list[NodeArray]:
        """Return for each direction the nodes of the largest cosines."""
        if unit.shape[1] < self._least:
            return [np.sort(top_k(direction @ unit, wanted)) for direction in directions]
        from dhne.kernels.compiled.ranking import largest_sums

        ids = np.empty((len(directions), wanted), dtype=np.int64)
        largest_sums(unit, np.zeros(unit.shape[1], np.float32), directions, ids)
        return list(ids)
