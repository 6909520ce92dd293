"""Ranking all candidates of an open position, several questions in one pass.

Where the similarity comes apart (`factored`), candidates are ordered by tables that are kept, and
of very many only a short list is looked at (`sketch`). The best found so are scored once more by
the model itself: what is answered are the model's own numbers. Models whose similarity is of
another form (several layers, pair evidence) are ranked by the model.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dhne.answers.ranking import complete, completions, top_k
from dhne.estimator import DHNE
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import OPEN

from .factored import Table, fixed, is_simple, make_table
from .sketch import LEAST, SAMPLE, Landmarks, size_for

_SPARE = 16  # candidates beyond k that the model scores too, for those that rounding put behind
_TABLES = 4
_WARM = 2  # edge types that are made ready before anyone asks
_FULL = 8  # questions that look at all candidates together
BEAM = 16  # nodes tried at the first of two open positions; bounds the work of one question


class Question(NamedTuple):
    """A tuple with open positions: ids, -1 where it is open; which edge type; how many answers."""

    edge_type: int
    nodes: tuple[int, ...]
    k: int
    drop_known: bool

    @property
    def open_positions(self) -> tuple[int, ...]:
        """The positions to be completed."""
        return tuple(p for p, node in enumerate(self.nodes) if node == OPEN)


class Completions(NamedTuple):
    """The best whole tuples ``int64[k, N]``, best first, and their scores."""

    tuples: NodeArray
    scores: npt.NDArray[np.float64]


class Completer:
    """Answers questions about one model.

    Examples
    --------
    >>> from dhne.datasets import planted_clusters
    >>> network = planted_clusters(nodes_per_cluster=5)
    >>> model = DHNE(dim=4, epochs=2, kernels="reference").fit(network)
    >>> found = Completer(model).answer([Question(0, (0, 0, -1), k=3, drop_known=False)])[0]
    >>> bool(np.allclose(found.scores, model.rank(np.array([0, 0, -1]), k=3).scores))
    True
    """

    def __init__(self, model: DHNE) -> None:
        self.model = model
        self.network_: HyperNetwork = (
            model.network_
        )  # the name that `dhne.answers.ranking` looks for
        self._tables: OrderedDict[tuple[EdgeType, int], Table | None] = OrderedDict()
        self._sketches: dict[tuple[EdgeType, int], Landmarks] = {}
        self._lock = threading.Lock()

    def edge_type(self, number: int) -> EdgeType:
        """Return an edge type by its number."""
        return self.network_.edge_types[number]

    def is_simple(self, types: EdgeType) -> bool:
        """Whether the similarity of an edge type has the form that is ranked quickly."""
        return is_simple(self.model, types)

    def answer(self, questions: list[Question]) -> list[Completions]:
        """Answer questions that share the edge type and the open positions."""
        if len(questions[0].open_positions) == 1:
            return self._one_open(questions)
        return [self._two_open(q) for q in questions]

    # -- one open position -----------------------------------------------------------------------

    def _one_open(self, questions: list[Question]) -> list[Completions]:
        types, position = self.edge_type(questions[0].edge_type), questions[0].open_positions[0]
        nodes = np.array([q.nodes for q in questions], dtype=np.int64)
        barred = [self._barred(q, types, position) for q in questions]
        likely = self._short_lists(questions, nodes, barred, types, position)
        left = [i for i, found in enumerate(likely) if found is None]
        for start in range(0, len(left), _FULL):
            part = left[start : start + _FULL]
            for i, values in zip(part, self._logits(nodes[part], types, position), strict=True):
                values[barred[i]] = -np.inf
                likely[i] = top_k(values, questions[i].k + _SPARE)
        return self._score(questions, nodes, [x for x in likely if x is not None], types, position)

    def _barred(self, question: Question, types: EdgeType, position: int) -> NodeArray:
        """Return the nodes that may not be answers."""
        edges = self.network_.edge_set(types)
        nodes = np.array(question.nodes, dtype=np.int64)
        peers = list(types.peers(position))
        if not question.drop_known:
            return nodes[peers]
        known = completions(edges.nodes, nodes, types, position)
        return np.concatenate([nodes[peers], known])

    def _short_lists(
        self,
        questions: list[Question],
        nodes: NodeArray,
        barred: list[NodeArray],
        types: EdgeType,
        position: int,
    ) -> list[NodeArray | None]:
        """Return the likely candidates of each question; None where a short list is not enough."""
        found: list[NodeArray | None] = [None] * len(questions)
        landmarks, table = self._sketches.get((types, position)), self._table(types, position)
        most = max(q.k for q in questions)
        size = size_for(most, self.network_.num_nodes(types[position]))
        asked = fixed(self.model, nodes, types, position, table) if table is not None else None
        if landmarks is None or table is None or asked is None or not size:
            return found
        ids, bounds = landmarks.sketch.shortlist(landmarks.factors(asked), size)
        values = table.values(asked, ids)
        for i, question in enumerate(questions):
            if len(barred[i]):
                values[i, np.isin(ids[i], barred[i])] = -np.inf
            order = np.lexsort((ids[i], -values[i]))
            if values[i, order[question.k - 1]] > bounds[i]:
                found[i] = ids[i, order[: question.k + _SPARE]]
        return found

    def _score(
        self,
        questions: list[Question],
        nodes: NodeArray,
        likely: list[NodeArray],
        types: EdgeType,
        position: int,
    ) -> list[Completions]:
        """Let the model score what is likely, in one go; keep the best of each question."""
        sizes = [len(ids) for ids in likely]
        tuples = np.repeat(nodes, sizes, axis=0)
        tuples[:, position] = np.concatenate(likely)
        scores = self.model.score_ids(tuples, types)
        answers, end = [], 0
        for question, ids in zip(questions, likely, strict=True):
            start, end = end, end + len(ids)
            best = start + np.lexsort((ids, -scores[start:end]))[: question.k]
            answers.append(Completions(tuples[best], scores[best]))
        return answers

    def _logits(self, nodes: NodeArray, types: EdgeType, position: int) -> npt.NDArray[Any]:
        """Return ``[m, n]``: numbers that order all candidates as their scores do."""
        table = self._table(types, position)
        asked = fixed(self.model, nodes, types, position, table) if table is not None else None
        if table is None or asked is None:
            return self.model.score_candidates(nodes, types, position)
        return table.values(asked)

    # -- two open positions ----------------------------------------------------------------------

    def _two_open(self, question: Question) -> Completions:
        types = self.edge_type(question.edge_type)
        nodes = np.array(question.nodes, dtype=np.int64)
        embedder: Any = self  # what `complete` asks of an embedder, this has
        names, scores = complete(
            embedder, nodes, types, k=question.k, drop_known=question.drop_known, beam=BEAM
        )
        tuples = np.repeat(nodes[None], len(names), axis=0)
        for i, p in enumerate(question.open_positions):
            vocabulary = self.network_.vocabulary(types[p])
            tuples[:, p] = vocabulary.find([name[i] for name in names])
        return Completions(tuples, np.asarray(scores))

    def score_candidates(self, nodes: NodeArray, types: EdgeType, position: int) -> Any:
        """Return the scores themselves, for `dhne.answers.ranking`."""
        values = self._logits(nodes, types, position)
        if values.dtype == np.float64:
            return values
        return 1 / (1 + np.exp(-values.astype(np.float64)))

    # -- tables ----------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Make what the first questions would have to wait for."""
        for number, types in enumerate(self.network_.edge_types[:_WARM]):
            for position in range(len(types)):
                nodes = tuple(OPEN if p == position else 0 for p in range(len(types)))
                self.answer([Question(number, nodes, 1, False)])

    def sketch(self) -> None:
        """Make short lists possible where there are very many candidates."""
        for types in self.network_.edge_types[:_WARM]:
            for position, node_type in enumerate(types):
                if self.network_.num_nodes(node_type) >= LEAST:
                    self._sketch(types, position)

    def _sketch(self, types: EdgeType, position: int) -> None:
        table = self._table(types, position)
        if table is None:
            return

        rng = np.random.default_rng(0)
        sizes = [self.network_.num_nodes(t) for t in types]
        nodes = rng.integers(sizes, size=(2 * SAMPLE, len(sizes)))
        asked = fixed(self.model, nodes, types, position, table)
        if asked is not None:
            made = Landmarks(table.values, asked[:SAMPLE], asked[SAMPLE:], rng)
            self._sketches[types, position] = made

    def _table(self, types: EdgeType, position: int) -> Table | None:
        key = (types, position)
        with self._lock:
            if key in self._tables:
                self._tables.move_to_end(key)
                return self._tables[key]
            table = make_table(self.model, types, position)
            self._tables[key] = table
            while len(self._tables) > _TABLES:
                self._tables.popitem(last=False)
            return table
