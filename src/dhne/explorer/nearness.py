"""Nearest nodes by cosine, several questions in one pass.

With rows scaled to length 1 once, and kept by column, the cosines of a batch of questions with all
nodes are sums that one pass over the columns makes, and the largest are kept as it goes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dhne.network.edges import NodeArray


class Near(NamedTuple):
    """A question: which nodes of a type are nearest to one of them."""

    node_type: str
    node: int
    k: int


class Nearest(NamedTuple):
    """The nearest nodes ``int64[k]`` and their cosines, nearest first."""

    nodes: NodeArray
    cosines: npt.NDArray[np.float64]


class Nearness:
    """Answers `Near` from the embeddings of a model.

    Examples
    --------
    >>> near = Nearness({"x": np.array([[1, 0], [2, 0], [0, 3], [1, 1]], np.float32)})
    >>> near.answer([Near("x", 0, 2)])[0].nodes
    array([1, 3])
    """

    def __init__(self, embeddings: Mapping[str, npt.NDArray[np.float32]]) -> None:
        self._embeddings = embeddings
        self._unit: dict[str, npt.NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def unit(self, node_type: str) -> npt.NDArray[np.float32]:
        """Return ``float32[d, n]``: the embeddings of a type, a node a column of length 1."""
        with self._lock:
            if node_type not in self._unit:
                matrix = self._embeddings[node_type]
                norms = np.maximum(np.linalg.norm(matrix, axis=1), 1e-12)
                self._unit[node_type] = np.ascontiguousarray(matrix.T / norms, dtype=np.float32)
            return self._unit[node_type]

    def answer(self, questions: list[Near]) -> list[Nearest]:
        """Answer questions about one node type."""
        from .sums import largest_sums

        unit = self.unit(questions[0].node_type)
        asked = np.array([q.node for q in questions], dtype=np.int64)
        factors = np.ascontiguousarray(unit[:, asked].T)
        wanted = min(max(q.k for q in questions) + 1, unit.shape[1])  # one more: the node itself
        ids = np.empty((len(questions), wanted), dtype=np.int64)
        largest_sums(unit, np.zeros(unit.shape[1], np.float32), factors, ids)
        answers = []
        for question, row, factor in zip(questions, ids, factors, strict=True):
            others = row[row != question.node]
            cosines = factor @ unit[:, others]
            best = np.lexsort((others, -cosines))[: question.k]
            answers.append(Nearest(others[best], cosines[best].astype(np.float64)))
        return answers
