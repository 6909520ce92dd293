"""`Embedder`: the interface of all methods.

A method learns one vector per node and a score for whole tuples from a hyper-network:

- ``fit(network)`` learns, sets ``network_`` and ``embeddings_``, and returns ``self``;
- ``score(tuples)`` returns one number per tuple, higher for likelier hyperedges;
- ``rank(tuple)`` completes a tuple with open positions; ``similar(type, name)`` finds nearby nodes;
- ``vectors(type)`` returns a node type's vectors with their names.

Scores are computed from `embeddings_`; `vectors_` are for all other uses: `similar`, maps and
classification. They are the same unless a method overrides `vectors_`.

Every call takes one tuple or many. Names are strings or integers as in the network; a NumPy integer
array is taken as ids. A new method overrides `_fit` and `score_ids`, and `score_candidates` if it
can score all candidates of a position faster than one by one. A method that can score a tuple in
several ways lists them in `aggregates` and provides each through `scored_by`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import is_dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator

from .answers.completion import Completer, Completions, Question
from .answers.nearest import NearestNodes
from .answers.ranking import check_k
from .answers.rankings import Ranking
from .answers.tuple_tables import is_whole_table, resolve_table
from .errors import NotFittedError, ParameterError, UnknownNameError
from .hyperparameters import Parameter, declared
from .io.tables import as_network
from .io.vector_column import vector_column
from .network.edges import EdgeType, NodeArray
from .network.hypernetwork import HyperNetwork
from .network.memory_tables import as_table, is_table
from .network.tuples import as_batch, is_single, resolve

__all__ = ["Embedder", "Ranking", "Scores"]

Scores = npt.NDArray[np.float64]
_TUPLES_AT_ONCE = 1 << 18  # scored, unless a method scores candidates itself
# Caches for answering queries, recreated on demand.
_DERIVED = ("_completer", "_explainer", "_nearest_nodes", "_new_vectors", "_scorer")


class Embedder(BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of all methods; the module's docstring describes the contract."""

    # The ways in which a fitted method can score tuples; empty if there is only one.
    aggregates: ClassVar[tuple[str, ...]] = ()
    # Whether `fit` takes ``validation=HyperNetwork``: held-out hyperedges for model selection.
    takes_validation: ClassVar[bool] = False

    network_: HyperNetwork
    embeddings_: dict[str, npt.NDArray[np.float32]]

    def fit(self, network: Any, y: Any = None) -> Self:
        """Learn from a hyper-network, or any input of `read_table`, and return ``self``.

        `y` is ignored; it exists for scikit-learn.
        """
        network = as_network(network)
        if network.num_edges() == 0:
            raise ParameterError("the network has no hyperedges to learn from")
        self._fit(network)
        self.network_ = network
        self._forget()
        return self

    @abstractmethod
    def _fit(self, network: HyperNetwork) -> None:
        """Learn; set `embeddings_` and whatever `score_ids` needs."""

    @abstractmethod
    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> Scores:
        """Return one score per tuple of ids ``int64[m, N]`` of one edge type."""

    @property
    def vectors_(self) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors for all uses but scoring, ``float32[n, dim]`` per node type."""
        return self.embeddings_

    @classmethod
    def declared_parameters(cls) -> Mapping[str, Parameter]:
        """Return the declared arguments, with kind, range and help; see `parameter`."""
        return declared(cls) if is_dataclass(cls) else {}

    def similarities(self) -> tuple[str, ...]:
        """Return the similarities to aggregate; an evaluation chooses one on validation data."""
        return ("",)

    def scored_by(self, aggregate: str, similarity: str = "") -> Self:
        """Return a copy of this fitted method that scores tuples another way.

        The copy shares what was learned. Only the parameters `aggregate` and `similarity` differ,
        which a method with `aggregates` reads only when it scores.
        """
        if aggregate not in self.aggregates:
            raise UnknownNameError("aggregate", aggregate, self.aggregates)
        changes = {"aggregate": aggregate}
        if similarity:
            changes["similarity"] = similarity
        changed: Self = copy(self).set_params(**changes)
        return changed

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> Scores:
        """Return ``[m, n]``: the score of each tuple with every node of the type at `position`."""
        n = self.network_.num_nodes(edge_type[position])
        scores, step = np.empty((len(nodes), n)), max(1, _TUPLES_AT_ONCE // max(n, 1))
        for start in range(0, len(nodes), step):
            part = nodes[start : start + step]
            tuples = np.repeat(part, n, axis=0)
            tuples[:, position] = np.tile(np.arange(n), len(part))
            scores[start : start + step] = self.score_ids(tuples, edge_type).reshape(len(part), n)
        return scores

    @property
    def completer(self) -> Completer:
        """The engine behind `rank`; created once per fit."""
        self._check_fitted()
        if "_completer" not in self.__dict__:
            self._completer = self._make_completer()
        return self._completer

    def _make_completer(self) -> Completer:
        return Completer(self)

    @property
    def nearest_nodes(self) -> NearestNodes:
        """The engine behind `similar`; created once per fit."""
        self._check_fitted()
        if "_nearest_nodes" not in self.__dict__:
            self._nearest_nodes = NearestNodes(self.vectors_)
        return self._nearest_nodes

    def _forget(self) -> None:
        """Drop the caches of an earlier fit."""
        for name in _DERIVED:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in _DERIVED}

    def _check_fitted(self) -> None:
        if not hasattr(self, "network_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(network)")

    def score(self, tuples: Any, edge_type: Sequence[str] | None = None) -> Any:
        """Return one score per tuple, higher for likelier hyperedges; a number for one tuple.

        Parameters
        ----------
        tuples : a tuple or dict of names, a sequence of them, ids ``int[m, N]``, or a table
            In a dict or a table (a DataFrame, a dict of lists), each position is named by its node
            type; a second position of that type is ``person.2``.
        edge_type : tuple of str, optional
            Needed only if the tuple's length is ambiguous.
        """
        self._check_fitted()
        if is_single(tuples):
            return float(self.score(as_batch(tuples), edge_type)[0])
        if is_whole_table(self.network_, tuples):
            types, nodes = resolve_table(self.network_, tuples, edge_type)
            return self.score(nodes, types)
        groups = resolve(self.network_, tuples, edge_type)
        scores = np.empty(sum(len(g.rows) for g in groups), dtype=np.float64)
        for group in groups:
            if group.nodes.size and group.nodes.min() < 0:
                raise ParameterError("score needs whole tuples; use rank for open positions")
            scores[group.rows] = self.score_ids(group.nodes, group.types)
        return scores

    def rank(
        self,
        query: Any,
        k: int = 10,
        *,
        known: str = "keep",
        edge_type: Sequence[str] | None = None,
        beam: int = 64,
        rest: str = "best",
    ) -> Any:
        """Return the `k` best completions of a tuple with one or two open positions.

        Parameters
        ----------
        query : tuple or dict with ``None`` at open positions, or a sequence of them
            Positions given as ``...``, or omitted from a dict, are free: they may hold any node.
        k : int
        known : {"keep", "drop"}
            Whether to keep or drop completions that are hyperedges of the network.
        edge_type : tuple of str, optional
        beam : int
            With two open positions, the number of nodes tried at the first; with free positions,
            the number of ways tried to fill them.
        rest : {"best", "expected"}
            With free positions, a candidate's score: the highest over the ways to fill them, or
            the mean over the ways found in known hyperedges.

        Returns
        -------
        Ranking, or a list of them for a sequence
        """
        self._check_fitted()
        if not isinstance(query, list) and not is_single(query) and is_table(query):
            query = as_table(query).to_pylist()
        if not isinstance(query, Sequence | np.ndarray | Mapping) or isinstance(query, str):
            raise ParameterError(
                f"rank takes a tuple with None at open positions, or several, got {query!r}"
            )
        if is_single(query):
            single = as_batch(query)
            return self.rank(single, k, known=known, edge_type=edge_type, beam=beam, rest=rest)[0]
        if known not in ("keep", "drop"):
            raise ParameterError(f"known must be 'keep' or 'drop', got {known!r}")
        check_k(k)
        alike: dict[Any, list[tuple[int, Question]]] = {}
        for group in resolve(self.network_, query, edge_type):
            for row, nodes in zip(group.rows.tolist(), group.nodes.tolist(), strict=True):
                question = Question(group.types, tuple(nodes), k, known == "drop", beam, rest)
                alike.setdefault((group.types, question.open_positions), []).append((row, question))
        answers: list[Ranking | None] = [None] * len(query)
        for (types, is_open), asked in alike.items():
            found = self.completer.answer([question for _, question in asked])
            for (row, _), completions in zip(asked, found, strict=True):
                answers[row] = self._ranking(completions, types, is_open)
        return answers

    def _ranking(self, found: Completions, types: EdgeType, is_open: tuple[int, ...]) -> Ranking:
        columns = [
            self.network_.vocabulary(t).take(found.tuples[:, p]).to_pylist()
            for p, t in enumerate(types)
        ]
        asked = [columns[p] for p in is_open]
        names = asked[0] if len(asked) == 1 else list(zip(*asked, strict=True))
        whole = list(zip(*columns, strict=True))
        return Ranking(names, found.scores, columns=types.columns, tuples=whole, exact=found.exact)

    def similar(self, node_type: str, name: Any, k: int = 10) -> Any:
        """Return the `k` nodes of a type whose vectors have the largest cosine with a node's.

        `name` is one name, one vector (a float array), or several of either; for several, a list
        of rankings is returned.
        """
        self._check_fitted()
        check_k(k)
        vocabulary = self.network_.vocabulary(node_type)
        if isinstance(name, np.ndarray) and np.issubdtype(name.dtype, np.floating):
            single, vectors = name.ndim == 1, np.atleast_2d(name).astype(np.float32)
            width = self.vectors_[node_type].shape[1]
            if vectors.ndim != 2 or vectors.shape[1] != width:
                raise ParameterError(
                    f"vectors of type {node_type!r} have {width} numbers, got shape "
                    f"{list(name.shape)}"
                )
            if not np.isfinite(vectors).all():
                raise ParameterError("the vector contains numbers that are not finite")
            found = self.nearest_nodes.to_vectors(node_type, vectors, k)
        else:
            single = isinstance(name, str | int | np.integer)
            ids = vocabulary.ids([name] if single else list(name))
            found = self.nearest_nodes.to_nodes(node_type, ids, k)
        answers = [
            Ranking(vocabulary.take(f.nodes).to_pylist(), f.cosines, columns=(node_type,))
            for f in found
        ]
        return answers[0] if single else answers

    def vectors(self, node_type: str) -> pa.Table:
        """Return a table with the columns ``name`` and ``vector``, one row per node."""
        self._check_fitted()
        names = self.network_.names(node_type)
        return pa.table({"name": names, "vector": vector_column(self.vectors_[node_type])})
