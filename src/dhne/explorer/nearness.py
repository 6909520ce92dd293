"""Nearest nodes by cosine, several questions in one product.

With rows scaled to length 1 once, the cosines of a batch of questions with all nodes are one matrix
product, which reads the matrix once for all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dhne.edges import NodeArray
from dhne.ranking import top_k


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
        """Return the embeddings of a type with rows of length 1."""
        with self._lock:
            if node_type not in self._unit:
                matrix = self._embeddings[node_type]
                norms = np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
                self._unit[node_type] = (matrix / norms).astype(np.float32)
            return self._unit[node_type]

    def answer(self, questions: list[Near]) -> list[Nearest]:
        """Answer questions about one node type."""
        unit = self.unit(questions[0].node_type)
        asked = np.array([q.node for q in questions], dtype=np.int64)
        cosines = unit[asked] @ unit.T
        answers = []
        for question, row in zip(questions, cosines, strict=True):
            row[question.node] = -np.inf
            best = top_k(row, question.k)
            answers.append(Nearest(best, row[best].astype(np.float64)))
        return answers
