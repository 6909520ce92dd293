"""One run as the explorer sees it: the model, and indices that are computed once and kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from dhne.errors import InputError, UnknownNameError
from dhne.estimator import DHNE
from dhne.network.edges import NodeArray
from dhne.sampling import KnownEdges

from .comparison import meetings
from .incidence import Incidence
from .layouts import Points, UmapLayout, principal_components
from .names import NameIndex

T = TypeVar("T")

CLASSES = 10  # labels with a colour of their own; the others share one
OTHER, NO_LABEL = 254, 255
_SORTED_EDGES = 20_000  # hyperedges of one node that are scored for sorting


class Labels:
    """The labels of a node type as colour codes: a number for the commonest, `OTHER`, `NO_LABEL`.

    A node with several labels gets the code of its commonest label.
    """

    def __init__(self, column: Any) -> None:
        counts = pc.value_counts(column.flatten())
        order = np.lexsort(
            (np.array(counts.field("values").to_pylist()), -counts.field("counts").to_numpy())
        )
        names = counts.field("values").take(order)
        self.classes = [
            {"name": name, "nodes": count}
            for name, count in zip(
                names.to_pylist()[:CLASSES],
                counts.field("counts").take(order).to_pylist()[:CLASSES],
                strict=True,
            )
        ]
        self.more = max(0, len(names) - CLASSES)
        rank = pc.index_in(column.flatten(), value_set=names).to_numpy(zero_copy_only=False)
        best = np.full(len(column), np.iinfo(np.int64).max)
        np.minimum.at(best, pc.list_parent_indices(column).to_numpy(), rank.astype(np.int64))
        codes = np.where(best < CLASSES, best, OTHER)
        self.codes = np.where(best == np.iinfo(np.int64).max, NO_LABEL, codes).astype(np.uint8)


class Atlas:
    """A fitted model, and the indices that the page's questions need.

    Parameters
    ----------
    model : DHNE
    name : str
        The name of the run on the page.
    path : path, optional
        The run's directory, where computed UMAP layouts are kept.
    """

    def __init__(self, model: DHNE, name: str, path: Path | None = None) -> None:
        self.model, self.name, self.network, self.path = model, name, model.network_, path
        self.incidence = Incidence(self.network)
        self.completer, self.nearest = model.completer, model.nearest_nodes
        self._cache = None if path is None else path / "cache"
        self._made: dict[tuple[str, str], Any] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def _once(self, what: str, key: str, make: Callable[[], T]) -> T:
        """Return a value, computed on first use; concurrent callers wait for it."""
        slot = (what, key)
        with self._lock:
            lock = self._locks.setdefault(slot, threading.Lock())
        with lock:
            if slot not in self._made:
                self._made[slot] = make()
        made: T = self._made[slot]
        return made

    def warm_up(self) -> None:
        """Compute what the page needs first."""
        for node_type in self.network.node_types:
            self.points(node_type)
            self.names(node_type)
            self.nearest.unit(node_type)
        self.completer.warm_up()
        _ = self.known

    def make_short_lists(self) -> None:
        """Build the short lists that speed up ranking over very many nodes."""
        self.completer.make_short_lists()

    def close(self) -> None:
        """Stop background work."""
        for (what, _), made in list(self._made.items()):
            if what == "umap":
                made.close()

    # -- node types ------------------------------------------------------------------------------

    def check_type(self, node_type: str) -> str:
        """Return a node type; raises if it is unknown."""
        if node_type not in self.network.node_types:
            raise UnknownNameError("node type", node_type, self.network.node_types)
        return node_type

    def names(self, node_type: str) -> NameIndex:
        """Return the search index over the names of a node type."""
        self.check_type(node_type)
        return self._once(
            "names",
            node_type,
            lambda: NameIndex(self.network.vocabulary(node_type), self.degrees(node_type)),
        )

    def degrees(self, node_type: str) -> NodeArray:
        """Return the number of hyperedges of each node of a type."""
        self.check_type(node_type)
        return self._once("degrees", node_type, lambda: self.network.degrees(node_type))

    def points(self, node_type: str) -> Points:
        """Return the first two principal components of a type's vectors."""
        self.check_type(node_type)
        return self._once(
            "points", node_type, lambda: principal_components(self.model.vectors_[node_type])
        )

    def umap(self, node_type: str) -> UmapLayout:
        """Return the UMAP layout of a node type, whether or not it has been computed."""
        self.check_type(node_type)
        return self._once(
            "umap", node_type, lambda: UmapLayout(self.model.vectors_[node_type], self._cache)
        )

    def labels(self, node_type: str) -> Labels | None:
        """Return the labels of a node type as colour codes, or None if it has none."""
        self.check_type(node_type)
        column = self.network.labels(node_type)
        return None if column is None else self._once("labels", node_type, lambda: Labels(column))

    def meetings(self, node_type: str, nodes: NodeArray | None = None) -> dict[str, NodeArray]:
        """Return, per type, how many of the given nodes (by default all) each node meets."""
        chosen = np.ones(self.network.num_nodes(self.check_type(node_type)), dtype=bool)
        if nodes is None:
            return self._once(
                "meetings", node_type, lambda: meetings(self.network, node_type, chosen)
            )
        chosen[:] = False
        chosen[nodes] = True
        return meetings(self.network, node_type, chosen)

    # -- nodes and tuples ------------------------------------------------------------------------

    def check_node(self, node_type: str, node: int) -> int:
        """Return a node's id; raises if it is unknown."""
        n = self.network.num_nodes(self.check_type(node_type))
        if not 0 <= node < n:
            raise UnknownNameError("node", f"{node_type} {node}")
        return node

    def nearness(
        self, node_type: str, first: int, second: int, second_type: str
    ) -> tuple[float | None, tuple[int | None, int | None]]:
        """Return the cosine of two nodes, and the rank of each among the neighbours of the other.

        Embeddings of different types are not comparable: then all are None.
        """
        if node_type != second_type:
            return None, (None, None)
        of_first = self.nearest.cosines(node_type, first)
        of_second = self.nearest.cosines(node_type, second)
        cosine = float(of_first[second])
        return cosine, (_place(of_second, first, second), _place(of_first, second, first))

    def find(self, node_type: str, text: str) -> int:
        """Return the id of a node by name; an unknown name raises, with suggestions."""
        index = self.names(node_type)
        node = index.find(text)
        if node >= 0:
            return node
        # Comparing with every name would take seconds; suggest names with the same beginning.
        near: list[str] = []
        for length in range(min(len(text), 12), min(len(text), 3) - 1, -1):
            found, _ = index.search(text[:length], 2)
            if len(found):
                near = index.many(found)
                break
        raise UnknownNameError(node_type, text, near)

    def edge_type_number(self, number: int) -> int:
        """Return the number of an edge type; raises if it is unknown."""
        if not 0 <= number < len(self.network.edge_types):
            raise UnknownNameError("edge type", number, range(len(self.network.edge_types)))
        return number

    def resolve(self, edge_type: int, names: list[str | None]) -> tuple[int, ...]:
        """Return the ids of a tuple's names, -1 for open positions."""
        types = self.network.edge_types[self.edge_type_number(edge_type)]
        if len(names) != len(types):
            raise InputError(
                f"a tuple of type {types!r} has {len(types)} positions, not {len(names)}"
            )
        return tuple(
            -1 if name is None else self.find(t, name) for t, name in zip(types, names, strict=True)
        )

    @property
    def known(self) -> KnownEdges:
        """The known hyperedges of the network."""
        return self._once("known", "", lambda: KnownEdges(self.network))

    def is_known(self, tuples: NodeArray, edge_type: int) -> npt.NDArray[np.bool_]:
        """Return which complete tuples are hyperedges of the network."""
        edges = self.network.edge_sets[edge_type]
        nodes = edges.types.canonical(tuples)
        known: npt.NDArray[np.bool_] = self.known.contains(nodes, edges.types)
        return known

    def score(self, tuples: NodeArray, edge_type: int) -> npt.NDArray[np.float64]:
        """Return the similarity of complete tuples."""
        edges = self.network.edge_sets[edge_type]
        nodes = edges.types.canonical(tuples)
        return self.model.score_ids(nodes, edges.types)

    def hyperedges(
        self, node_type: str, node: int, edge_type: int, order: str, offset: int, limit: int
    ) -> tuple[NodeArray, npt.NDArray[np.float64], int, str]:
        """Return (rows, similarities, total, order) of one page of a node's hyperedges.

        `order` is "stored", "best" or "worst"; the hyperedges of a node with very many of them are
        always in the stored order.
        """
        self.check_node(node_type, node)
        nodes = self.network.edge_sets[self.edge_type_number(edge_type)].nodes
        rows = self.incidence.rows(edge_type, node_type, node)
        if len(rows) > _SORTED_EDGES:
            order = "stored"
        if order == "stored":
            page = rows[offset : offset + limit]
            return page, self.score(nodes[page], edge_type), len(rows), order
        scores = self.score(nodes[rows], edge_type)
        by = np.argsort(-scores if order == "best" else scores, kind="stable")
        page = by[offset : offset + limit]
        return rows[page], scores[page], len(rows), order


def _place(cosines: npt.NDArray[np.float32], node: int, asked: int) -> int:
    """Return the rank of a node, from 1, by its cosine with the node `asked`."""
    nearer = cosines > cosines[node]
    nearer[asked] = False
    return int(nearer.sum()) + 1
