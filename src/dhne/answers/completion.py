"""The engine behind `rank`: the best completions of tuples with open positions.

Questions with the same edge type and open positions are answered in one pass. With one open
position, every candidate is considered:

1. Order the candidates. A similarity with a quick form (:class:`dhne.model.similarities.QuickForm`)
   orders them by precomputed tables; other methods compute all scores themselves. For very many
   candidates a short list may be enough (:mod:`dhne.answers.shortlist`).
2. Rescore those that can be among the best with the method's own `score_ids`. The answers are then
   exactly the method's scores, and rounding in the first step does not affect the order.

With two open positions, the first is narrowed to a beam: the nodes whose best completion of a
provisional tuple scores highest. Each is then completed exactly at the second.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError
from dhne.model.similarities import QuickForm
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.tuples import ANY, OPEN

from .free_positions import rank_over_rest
from .ranking import barred, contenders, members, top_k
from .shortlist import SAMPLE, Landmarks, size_for

_SPARE = 16  # candidates beyond k that are rescored, in case rounding affected the order
_TABLES = 4  # quick forms kept; each is as large as all projected candidates
_TOGETHER = 8  # questions for which all candidates are scored in one pass
_PREPARED = 2  # edge types that are prepared before the first question


class Question(NamedTuple):
    """A tuple with open positions: ids, with -1 for open positions; the number of answers.

    -2 marks a position that may hold any node; `rest` says how scores are aggregated over these.
    """

    types: EdgeType
    nodes: tuple[int, ...]
    k: int = 10
    drop_known: bool = False
    beam: int = 64
    rest: str = "best"

    @property
    def open_positions(self) -> tuple[int, ...]:
        """The positions to be completed."""
        return tuple(p for p, node in enumerate(self.nodes) if node == OPEN)


class Completions(NamedTuple):
    """The best complete tuples ``int64[k, N]``, best first, and their scores."""

    tuples: NodeArray
    scores: npt.NDArray[np.float64]
    exact: bool = True  # whether every candidate was considered


class CandidateScorer(Protocol):
    """What ranking needs from a method."""

    network_: HyperNetwork

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return a score for each tuple ``int64[m, N]``."""

    def score_candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return ``[m, n]``: the score of each tuple with every node of the type at `position`."""


class QuickForms(Protocol):
    """A scorer with quick forms of open positions, such as `dhne.answers.scorer.TupleScorer`."""

    def has_quick_form(self, edge_type: EdgeType) -> bool:
        """Whether the similarity of an edge type has quick forms."""

    def quick_form(self, edge_type: EdgeType, position: int) -> QuickForm | None:
        """Return the quick form of a position, if there is one."""

    def fixed(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Any:
        """Return the nodes at all positions but the open one, combined."""


class Completer:
    """Answers questions about one fitted method.

    Parameters
    ----------
    method : CandidateScorer
    quick : QuickForms, optional
    least_quick, least_listed : int
        Below these numbers of candidates, quick forms and short lists are not worth building.
    """

    def __init__(
        self,
        method: CandidateScorer,
        quick: QuickForms | None = None,
        *,
        least_quick: int = 2048,
        least_listed: int = 20_000,
    ) -> None:
        self.method, self.network = method, method.network_
        self._quick, self._least_quick, self._least_listed = quick, least_quick, least_listed
        self._forms: OrderedDict[tuple[EdgeType, int], QuickForm | None] = OrderedDict()
        self._landmarks: dict[tuple[EdgeType, int], Landmarks] = {}
        self._lock = threading.Lock()

    def answer(self, questions: list[Question]) -> list[Completions]:
        """Answer questions with the same edge type and open positions."""
        is_open = questions[0].open_positions
        if any(ANY in q.nodes for q in questions):
            return [self._over_rest(q) for q in questions]
        if len(is_open) == 1:
            return self._one_open(questions, is_open[0])
        if len(is_open) == 2:
            return [self._two_open(q, *is_open) for q in questions]
        raise ParameterError(
            f"rank completes one or two open positions, this tuple has {len(is_open)}"
        )

    # -- one open position -----------------------------------------------------------------------

    def _one_open(
        self, questions: list[Question], position: int, also_barred: list[NodeArray] | None = None
    ) -> list[Completions]:
        types = questions[0].types
        nodes = np.array([q.nodes for q in questions], dtype=np.int64)
        closed = [
            barred(self.network, row, types, position, drop_known=q.drop_known)
            for row, q in zip(nodes, questions, strict=True)
        ]
        if also_barred is not None:
            closed = [np.concatenate(pair) for pair in zip(closed, also_barred, strict=True)]
        likely = self._short_lists(questions, nodes, closed, position)
        left = [i for i, found in enumerate(likely) if found is None]
        for start in range(0, len(left), _TOGETHER):
            part = left[start : start + _TOGETHER]
            values, error = self._values(nodes[part], types, position)
            for i, line in zip(part, values, strict=True):
                line[closed[i]] = -np.inf
                k = questions[i].k
                likely[i] = contenders(line, k, error) if error else top_k(line, k + _SPARE)
        return self._score(questions, nodes, [x for x in likely if x is not None], position)

    def _short_lists(
        self,
        questions: list[Question],
        nodes: NodeArray,
        closed: list[NodeArray],
        position: int,
    ) -> list[NodeArray | None]:
        """Return the likely candidates of each question; None if a short list is not enough."""
        types = questions[0].types
        found: list[NodeArray | None] = [None] * len(questions)
        landmarks, form = self._landmarks.get((types, position)), self._form(types, position)
        size = size_for(max(q.k for q in questions), self.network.num_nodes(types[position]))
        if landmarks is None or form is None or self._quick is None or not size:
            return found
        asked = form.questions(self._quick.fixed(nodes, types, position))
        if asked is None:
            return found
        factors, is_usual = landmarks.factors(asked)
        ids, bounds = landmarks.sketch.shortlist(factors, size)
        values = form.values(asked, ids)
        for i, question in enumerate(questions):
            line = values[i]
            line[np.isin(ids[i], closed[i])] = -np.inf
            best = np.partition(line, size - question.k)[size - question.k]
            if is_usual[i] and best > bounds[i] + 2 * form.error:
                found[i] = np.sort(ids[i, contenders(line, question.k, form.error)])
        return found

    def _values(
        self, nodes: NodeArray, types: EdgeType, position: int
    ) -> tuple[npt.NDArray[Any], float]:
        """Return ``[m, n]``, values in the order of the candidates' scores, and their error.

        Values of different questions are comparable.
        """
        form = self._form(types, position)
        if form is not None and self._quick is not None:
            asked = form.questions(self._quick.fixed(nodes, types, position))
            if asked is not None:
                return form.values(asked), form.error
            scores = self.method.score_candidates(nodes, types, position)
            with np.errstate(divide="ignore"):  # logits, as for other questions
                return np.log(scores) - np.log1p(-scores), 0.0
        return np.array(self.method.score_candidates(nodes, types, position)), 0.0

    def _score(
        self,
        questions: list[Question],
        nodes: NodeArray,
        likely: list[NodeArray],
        position: int,
    ) -> list[Completions]:
        """Score all likely candidates at once; keep the best of each question."""
        sizes = [len(ids) for ids in likely]
        tuples = np.repeat(nodes, sizes, axis=0)
        tuples[:, position] = np.concatenate(likely)
        scores = self.method.score_ids(tuples, questions[0].types)
        answers, end = [], 0
        for question, ids in zip(questions, likely, strict=True):
            start, end = end, end + len(ids)
            best = start + np.lexsort((ids, -scores[start:end]))[: question.k]
            answers.append(Completions(tuples[best], scores[best]))
        return answers

    # -- two open positions ----------------------------------------------------------------------

    def _two_open(self, question: Question, first: int, second: int) -> Completions:
        types, nodes = question.types, np.array(question.nodes, dtype=np.int64)
        if self.network.num_nodes(types[first]) > self.network.num_nodes(types[second]):
            first, second = second, first  # try every node of the smaller type if the beam allows
        starts = self._beam(nodes, types, first, second, question.beam)
        if not len(starts):  # every possible first node is in the set already
            return Completions(np.empty((0, len(types)), np.int64), np.empty(0))
        tuples = np.repeat(nodes[None], len(starts), axis=0)
        tuples[:, first] = starts
        asked = [question._replace(nodes=tuple(row)) for row in tuples.tolist()]
        same = second in types.peers(first)
        # One of a set's two orders is enough: skip pairs whose lower node was tried before.
        also = [starts[starts < s] if same else starts[:0] for s in starts]
        found = self._one_open(asked, second, also)
        every = np.concatenate([f.tuples for f in found])
        scores = np.concatenate([f.scores for f in found])
        best = top_k(scores, question.k)
        exact = self.network.num_nodes(types[first]) <= question.beam
        return Completions(every[best], scores[best], exact)

    def _beam(
        self, nodes: NodeArray, types: EdgeType, first: int, second: int, beam: int
    ) -> NodeArray:
        """Return first nodes by coordinate ascent, starting from the most frequent second ones."""
        n = self.network.num_nodes(types[first])
        taken = members(nodes, types, first)
        if n <= beam:
            return np.setdiff1d(np.arange(n, dtype=np.int64), taken)
        degrees = self.network.degrees(types[second])
        probes = top_k(degrees.astype(np.float64), min(beam, len(degrees)))
        best = np.full(n, -np.inf)
        for start in range(0, len(probes), _TOGETHER):
            rows = np.repeat(nodes[None], len(probes[start : start + _TOGETHER]), axis=0)
            rows[:, second] = probes[start : start + _TOGETHER]
            values, _ = self._values(rows, types, first)
            for row, line in zip(rows, values, strict=True):
                line[members(row, types, first)] = -np.inf
                np.maximum(best, line, out=best)
        best[taken] = -np.inf
        return np.sort(top_k(best, beam))

    # -- positions that may hold anything --------------------------------------------------------

    def _over_rest(self, question: Question) -> Completions:
        if len(question.open_positions) != 1:
            raise ParameterError(
                "with positions that may hold anything, leave exactly one position open, not "
                f"{len(question.open_positions)}"
            )
        found = rank_over_rest(
            self.method,
            question.types,
            np.array(question.nodes, dtype=np.int64),
            question.open_positions[0],
            k=question.k,
            drop_known=question.drop_known,
            beam=question.beam,
            rest=question.rest,
        )
        return Completions(*found)

    # -- what is kept ----------------------------------------------------------------------------

    def is_quick(self, types: EdgeType) -> bool:
        """Whether questions about an edge type are answered within milliseconds."""
        if self._quick is not None and self._quick.has_quick_form(types):
            return True
        return all(self.network.num_nodes(t) < self._least_quick for t in types)

    def warm_up(self) -> None:
        """Prepare what the first questions would otherwise wait for."""
        for types in self.network.edge_types[:_PREPARED]:
            for position in range(len(types)):
                nodes = tuple(OPEN if p == position else 0 for p in range(len(types)))
                self.answer([Question(types, nodes, k=1)])

    def make_short_lists(self) -> None:
        """Build short lists for positions with very many candidates.

        This takes as long as about 130 questions. Until then, every candidate is scored.
        """
        for types in self.network.edge_types[:_PREPARED]:
            for position, node_type in enumerate(types):
                form = self._form(types, position)
                many = self.network.num_nodes(node_type) >= self._least_listed
                if form is None or self._quick is None or not many:
                    continue
                rng = np.random.default_rng(0)
                sizes = [self.network.num_nodes(t) for t in types]
                nodes = rng.integers(sizes, size=(2 * SAMPLE, len(sizes)))
                asked = form.questions(self._quick.fixed(nodes, types, position))
                if asked is not None:
                    made = Landmarks(form.values, asked[:SAMPLE], asked[SAMPLE:], rng)
                    self._landmarks[types, position] = made

    def _form(self, types: EdgeType, position: int) -> QuickForm | None:
        if self._quick is None or self.network.num_nodes(types[position]) < self._least_quick:
            return None
        key = (types, position)
        with self._lock:
            if key in self._forms:
                self._forms.move_to_end(key)
                return self._forms[key]
            form = self._forms[key] = self._quick.quick_form(types, position)
            while len(self._forms) > _TABLES:
                self._forms.popitem(last=False)
            return form
