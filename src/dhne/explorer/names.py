"""Search for nodes by part of their name, ignoring case; names that begin with it come first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.answers.ranking import top_k
from dhne.network.edges import NodeArray
from dhne.network.vocabulary import Vocabulary


class NameIndex:
    """The names of one node type in lower case, with weights for the order of results.

    Parameters
    ----------
    vocabulary : Vocabulary
    weight : array[n]
        Among equally good matches, nodes of larger weight (their degree) come first.

    Examples
    --------
    >>> index = NameIndex(Vocabulary(["Heat", "White Heat", "Heathers", "Alien"]), np.ones(4))
    >>> index.search("heat", 10)
    (array([0, 2, 1]), 3)
    """

    def __init__(self, vocabulary: Vocabulary, weight: NodeArray) -> None:
        self.vocabulary = vocabulary
        self.texts: pa.Array = vocabulary.names.cast(pa.large_string())
        self._lower = pc.utf8_lower(self.texts)
        self._weight = np.asarray(weight, dtype=np.float64)

    def search(self, text: str, limit: int) -> tuple[NodeArray, int]:
        """Return up to `limit` nodes whose name contains `text`, and how many there are.

        An exact match comes first, then names that begin with the text. An empty text matches all.
        """
        nodes, _, total = self.match(text, limit)
        return nodes, total

    def match(self, text: str, limit: int) -> tuple[NodeArray, npt.NDArray[np.float64], int]:
        """Return (nodes, quality of each match, number of matches), the best first.

        An exact match has quality 2 to 3, a name that begins with the text 1 to 2, any other that
        contains it 0 to 1; within each range it grows with the weight.
        """
        wanted = text.strip().lower()
        if not wanted:
            heaviest = top_k(self._weight, limit)
            return heaviest, self._weight[heaviest], len(self.vocabulary)
        holds = _mask(pc.match_substring(self._lower, wanted))
        begins = _mask(pc.starts_with(self._lower, wanted))
        equal = _mask(pc.equal(self._lower, wanted))
        nodes = np.flatnonzero(holds)
        # three classes of matches, and within a class the weight, which stays below 1
        share = self._weight[nodes] / (self._weight.max(initial=0) + 1)
        worth = share + begins[nodes] + equal[nodes]
        best = top_k(worth, limit)
        return nodes[best].astype(np.int64), worth[best], len(nodes)

    def find(self, text: str) -> int:
        """Return the id of the node with exactly this name, -1 if there is none."""
        name: str | int = text
        if self.vocabulary.has_integers:
            digits = text.removeprefix("-")
            if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
                return -1
            name = int(text)
        return int(self.vocabulary.find([name])[0])

    def text(self, node: int) -> str:
        """Return a node's name as text."""
        return str(self.vocabulary.name(node))

    def many(self, nodes: NodeArray) -> list[str]:
        """Return the names of nodes as text."""
        return [str(name) for name in self.vocabulary.take(nodes).to_pylist()]


def _mask(column: pa.Array) -> np.ndarray:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)
