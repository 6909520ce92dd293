"""Ranking all candidates of an open position, several questions in one pass.

The similarity's hidden layer is σ of a sum, and for tanh and the sigmoid that sum comes apart:

    tanh(a + b) = 1 − 2 / (1 + e^{2a} e^{2b}),    sigmoid(a + b) = 1 / (1 + e^{−a} e^{−b})

so with e^{2a} kept for every candidate, a question costs one product, one sum and one division for
each candidate and hidden unit, and no exponential. The best found so are scored once more by the
model itself: what is answered are the model's own numbers. Models whose similarity is of another
form (several layers, pair evidence) are ranked by the model.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from dhne.edges import EdgeType, NodeArray
from dhne.estimator import DHNE
from dhne.network import HyperNetwork
from dhne.ranking import complete, completions, top_k
from dhne.tuples import OPEN

Floats = npt.NDArray[np.float32]

_EXPONENT = 40.0  # e^40 · e^40 is still a float32
_SPARE = 16  # candidates beyond k that the model scores too, for those that rounding put behind
_TABLE_BYTES = 1 << 30  # a larger table is not made; the model ranks such types itself
_TABLES = 4
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


@dataclass(frozen=True)
class _Table:
    """What is kept for one open position: see the module's text for the formula."""

    candidates: Floats  # [n, h]: e^{2a} or e^{-a}
    weights: Floats  # [h]
    offset: float
    bias: Floats  # [h]
    factor: float  # 2 for tanh, -1 for the sigmoid


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
        self.network_: HyperNetwork = model.network_  # the name that `dhne.ranking` looks for
        self._tables: OrderedDict[tuple[EdgeType, int], _Table | None] = OrderedDict()
        self._lock = threading.Lock()

    def edge_type(self, number: int) -> EdgeType:
        """Return an edge type by its number."""
        return self.network_.edge_types[number]

    def is_simple(self, types: EdgeType) -> bool:
        """Whether the similarity of an edge type has the form that is ranked quickly."""
        similarity = self.model.model_.similarity(types)
        one_layer = not len(similarity.hidden_layers) and similarity.evidence is None
        return one_layer and similarity.activation in ("tanh", "sigmoid")

    def answer(self, questions: list[Question]) -> list[Completions]:
        """Answer questions that share the edge type and the open positions."""
        if len(questions[0].open_positions) == 1:
            return self._one_open(questions)
        return [self._two_open(q) for q in questions]

    # -- one open position -----------------------------------------------------------------------

    def _one_open(self, questions: list[Question]) -> list[Completions]:
        types, position = self.edge_type(questions[0].edge_type), questions[0].open_positions[0]
        nodes = np.array([q.nodes for q in questions], dtype=np.int64)
        logits = self._logits(nodes, types, position)
        return [
            self._best(q, types, position, row) for q, row in zip(questions, logits, strict=True)
        ]

    def _best(
        self, question: Question, types: EdgeType, position: int, values: npt.NDArray[Any]
    ) -> Completions:
        """Keep the best of all candidates; `values` order them as the scores do."""
        edges = self.network_.edge_set(types)
        nodes = np.array(question.nodes, dtype=np.int64)
        if not edges.ordered:
            peers = [p for p, t in enumerate(types) if t == types[position] and p != position]
            values[nodes[peers]] = -np.inf
        if question.drop_known:
            known = completions(edges.nodes, nodes, types, position, ordered=edges.ordered)
            values[known] = -np.inf
        likely = top_k(values, question.k + _SPARE)
        tuples = np.repeat(nodes[None], len(likely), axis=0)
        tuples[:, position] = likely
        scores = self.model._score_ids(tuples, types)
        best = np.lexsort((likely, -scores))[: question.k]
        return Completions(tuples[best], scores[best])

    def _logits(self, nodes: NodeArray, types: EdgeType, position: int) -> npt.NDArray[Any]:
        """Return ``[m, n]``: numbers that order all candidates as their scores do."""
        table = self._table(types, position)
        fixed = self._fixed(nodes, types, position, table) if table is not None else None
        if table is None or fixed is None:
            return self.model._score_candidates(nodes, types, position)
        from .sums import weighted_reciprocals

        out = np.empty((len(nodes), len(table.candidates)), dtype=np.float32)
        weighted_reciprocals(table.candidates, fixed, table.weights, out)
        out += np.float32(table.offset)
        return out

    def _fixed(
        self, nodes: NodeArray, types: EdgeType, position: int, table: _Table
    ) -> Floats | None:
        """Return e^{2b} of each question; None where it would leave float32."""
        total = np.tile(table.bias.astype(np.float64), (len(nodes), 1))
        for p in range(len(types)):
            if p != position:
                total += self.model._scorer.projected(types, p)[nodes[:, p]].numpy()
        total *= table.factor
        return np.exp(total).astype(np.float32) if np.abs(total).max() <= _EXPONENT else None

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

    def _score_candidates(self, nodes: NodeArray, types: EdgeType, position: int) -> Any:
        """Return the scores themselves, for `dhne.ranking`."""
        values = self._logits(nodes, types, position)
        if values.dtype == np.float64:
            return values
        return 1 / (1 + np.exp(-values.astype(np.float64)))

    # -- tables ----------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Make what the first questions would have to wait for."""
        for number, types in enumerate(self.network_.edge_types[:2]):
            for position in range(len(types)):
                nodes = tuple(OPEN if p == position else 0 for p in range(len(types)))
                self.answer([Question(number, nodes, 1, False)])

    def _table(self, types: EdgeType, position: int) -> _Table | None:
        key = (types, position)
        with self._lock:
            if key in self._tables:
                self._tables.move_to_end(key)
                return self._tables[key]
            table = self._make_table(types, position)
            self._tables[key] = table
            while len(self._tables) > _TABLES:
                self._tables.popitem(last=False)
            return table

    def _make_table(self, types: EdgeType, position: int) -> _Table | None:
        similarity = self.model.model_.similarity(types)
        if not self.is_simple(types):
            return None
        with torch.no_grad():
            projected = self.model._scorer.projected(types, position)
            if projected.numel() * 4 > _TABLE_BYTES or not projected.numel():
                return None
            factor = 2.0 if similarity.activation == "tanh" else -1.0
            exponent = projected.float() * factor
            if float(exponent.abs().max()) > _EXPONENT:
                return None
            weights = similarity.output.float().numpy()
            scale = -2.0 if similarity.activation == "tanh" else 1.0
            offset = float(similarity.output_bias)
            if similarity.activation == "tanh":
                offset += float(weights.sum(dtype=np.float64))
            return _Table(
                candidates=exponent.exp_().numpy(),
                weights=(weights * np.float32(scale)),
                offset=offset,
                bias=similarity.hidden_bias.float().numpy(),
                factor=factor,
            )
