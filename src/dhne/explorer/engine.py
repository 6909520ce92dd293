"""The one place where the explorer meets what ranks and compares.

Everything else in this package asks an `Engine`, so that the code behind it can move or change.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dhne.estimator import DHNE

from .completion import Completer, Completions, Question
from .nearness import Near, Nearest, Nearness

__all__ = ["Completions", "Engine", "Near", "Nearest", "Question"]


class Engine:
    """Answers the questions to one model that cost something, several in one pass."""

    def __init__(self, model: DHNE) -> None:
        self._completer = Completer(model)
        self._nearness = Nearness(model.embeddings_)

    def warm_up(self, node_types: tuple[str, ...]) -> None:
        """Make what is asked for first."""
        for node_type in node_types:
            self._nearness.unit(node_type)
        self._completer.warm_up()

    def sketch(self) -> None:
        """Make what answers questions about very many nodes sooner; they do without until then."""
        self._completer.sketch()

    def nearest(self, questions: list[Near]) -> list[Nearest]:
        """Answer questions about one node type."""
        return self._nearness.answer(questions)

    def cosines(self, node_type: str, node: int) -> npt.NDArray[np.float32]:
        """Return the cosine of a node's embedding with that of every node of its type."""
        unit = self._nearness.unit(node_type)  # one node per column
        cosines: npt.NDArray[np.float32] = unit[:, node] @ unit
        return cosines

    def complete(self, questions: list[Question]) -> list[Completions]:
        """Answer questions that share the edge type and the open positions."""
        return self._completer.answer(questions)

    def is_quick(self, question: Question, types: tuple[str, ...]) -> bool:
        """Whether a question is answered from tables, without asking the model for each node."""
        return len(question.open_positions) == 1 and self._completer.is_simple(types)
