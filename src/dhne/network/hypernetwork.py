"""`HyperNetwork`: typed nodes with names, and hyperedges with weights; immutable once built.

Everything is columns: the names of a node type are one Arrow array, the hyperedges of an edge type
one integer array. Operations return new networks and share what has not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError, ParameterError, UnknownNameError

from .edge_columns import EdgeColumns, number_columns
from .edge_keys import first_in_tuple
from .edge_type import find_edge_type
from .edges import EdgeSet, EdgeType, NodeArray, WeightArray, position_sizes
from .extras import Extras
from .label_tables import labels_of
from .labels import LabelColumn, as_label_column
from .vocabulary import IdArray, Name, Vocabulary

Seed = int | np.random.Generator


class HyperNetwork:
    """Typed nodes with names, and hyperedges with weights.

    Usually created by :meth:`from_tuples`, :func:`dhne.read_table` or :func:`dhne.load_dataset`;
    the constructor takes the parts as they are.

    Parameters
    ----------
    nodes : mapping of node type to Vocabulary
    edges : sequence of EdgeSet
        One for each edge type.
    labels : mapping of node type to label column, optional
        For each node none, one or several labels.
    extras : Extras, optional
        Other attributes of nodes and network in a file, kept to be written back.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "Heat", "heist"), ("bob", "Heat", "noir"), ("bob", "Alien", "space")],
    ...     types=("user", "movie", "tag"),
    ... )
    >>> net
    HyperNetwork(3 hyperedges)
      nodes: user 2, movie 2, tag 3
      edges: (user, movie, tag) 3
    >>> net.degrees("movie")
    array([2, 1])
    """

    def __init__(
        self,
        nodes: Mapping[str, Vocabulary],
        edges: Iterable[EdgeSet],
        labels: Mapping[str, Any] | None = None,
        extras: Extras | None = None,
    ) -> None:
        self._nodes = dict(nodes)
        self._edges: dict[EdgeType, EdgeSet] = {}
        for edge_set in edges:
            self._check(edge_set)
            self._edges[edge_set.types] = edge_set
        self._labels: dict[str, LabelColumn] = {}
        for node_type, column in (labels or {}).items():
            self._labels[node_type] = as_label_column(column, self.num_nodes(node_type), node_type)
        self._extras = extras or Extras()

    def _check(self, edge_set: EdgeSet) -> None:
        if edge_set.types in self._edges:
            raise InputError(f"edge type {edge_set.types!r} is given twice; merge the networks")
        for position, node_type in enumerate(edge_set.types):
            size = self.num_nodes(node_type)
            column = edge_set.nodes[:, position]
            if len(column) and (column.min() < 0 or column.max() >= size):
                raise InputError(
                    f"edges of type {edge_set.types!r} hold ids outside 0 … {size - 1} "
                    f"of node type {node_type!r} at position {position}"
                )

    # -- making one ------------------------------------------------------------------------------

    @classmethod
    def from_tuples(
        cls,
        tuples: Sequence[Sequence[Name]],
        types: Sequence[str],
        *,
        weights: npt.ArrayLike | None = None,
        ordered: bool = True,
    ) -> HyperNetwork:
        """Make a network of one edge type from tuples of names.

        Examples
        --------
        >>> net = HyperNetwork.from_tuples(
        ...     [("a", "b"), ("b", "c")], ("author", "author"), ordered=False
        ... )
        >>> net.names("author").to_pylist()
        ['a', 'b', 'c']
        """
        for row, names in enumerate(tuples):
            if len(names) != len(types):
                raise InputError(
                    f"tuple {row + 1} has {len(names)} names, its type {tuple(types)!r} "
                    f"has {len(types)} positions"
                )
        columns = [[names[p] for names in tuples] for p in range(len(types))]
        return cls.from_columns(
            [EdgeColumns(EdgeType.of(types, ordered=ordered), columns, weights)]
        )

    @classmethod
    def from_columns(
        cls,
        tables: Iterable[EdgeColumns],
        labels: Mapping[str, Any] | None = None,
        nodes: Mapping[str, Any] | None = None,
    ) -> HyperNetwork:
        """Make a network from columns of names, one table per edge type.

        Parameters
        ----------
        tables : iterable of EdgeColumns
            Ids are given in order of first appearance, position by position.
        labels : mapping of node type to label column, optional
        nodes : mapping of node type to names, optional
            Names that exist even without an edge; they get the first ids, in this order.
        """
        vocabularies, edge_sets = number_columns(tables, nodes or {})
        network = cls(vocabularies, (), labels)
        for edge_set in edge_sets:  # right by construction: neither copied nor checked again
            if edge_set.types in network._edges:
                raise InputError(f"edge type {edge_set.types!r} is given twice; merge the networks")
            network._edges[edge_set.types] = edge_set
        return network

    @classmethod
    def from_arrays(
        cls,
        edges: Mapping[Sequence[str], npt.ArrayLike],
        num_nodes: Mapping[str, int] | None = None,
        *,
        weights: Mapping[Sequence[str], npt.ArrayLike] | None = None,
        ordered: bool = True,
    ) -> HyperNetwork:
        """Make a network of nodes without names from arrays of ids, one per edge type.

        Examples
        --------
        >>> HyperNetwork.from_arrays({("user", "item"): [[0, 1], [1, 1]]}).num_nodes("item")
        2
        """
        sizes = dict(num_nodes or {})
        edge_sets = []
        for types, ids in edges.items():
            edge_set = EdgeSet.build(types, ids, (weights or {}).get(types), ordered=ordered)
            edge_sets.append(edge_set)
            if num_nodes is None:
                for position, node_type in enumerate(types):
                    top = int(edge_set.nodes[:, position].max(initial=-1)) + 1
                    sizes[node_type] = max(sizes.get(node_type, 0), top)
        return cls({t: Vocabulary.of_size(n, node_type=t) for t, n in sizes.items()}, edge_sets)

    # -- looking at it ---------------------------------------------------------------------------

    @property
    def node_types(self) -> tuple[str, ...]:
        """The node types."""
        return tuple(self._nodes)

    @property
    def edge_types(self) -> tuple[EdgeType, ...]:
        """The edge types, each the tuple of its positions' node types."""
        return tuple(self._edges)

    @property
    def edge_sets(self) -> tuple[EdgeSet, ...]:
        """The hyperedges, one `EdgeSet` per edge type."""
        return tuple(self._edges.values())

    def edge_set(self, edge_type: Sequence[str] | None = None) -> EdgeSet:
        """Return the hyperedges of one type; the type may be left out if there is only one."""
        return self._edges[find_edge_type(edge_type, self._edges)]

    def edges(self, edge_type: Sequence[str] | None = None) -> NodeArray:
        """Return the hyperedges of one type as ``int64[m, N]``."""
        return self.edge_set(edge_type).nodes

    def weights(self, edge_type: Sequence[str] | None = None) -> WeightArray:
        """Return the weights of the hyperedges of one type as ``float64[m]``."""
        return self.edge_set(edge_type).weights

    def vocabulary(self, node_type: str) -> Vocabulary:
        """Return the vocabulary of a node type."""
        if node_type not in self._nodes:
            raise UnknownNameError("node type", node_type, self._nodes)
        return self._nodes[node_type]

    def names(self, node_type: str) -> pa.Array:
        """Return the names of a node type; row i is node i."""
        return self.vocabulary(node_type).names

    def ids(self, node_type: str, names: Any) -> IdArray:
        """Return the ids of `names`; an unknown one raises."""
        return self.vocabulary(node_type).ids(names)

    def labels(self, node_type: str) -> LabelColumn | None:
        """Return the labels of a node type, one list of strings per node, or None."""
        self.vocabulary(node_type)
        return self._labels.get(node_type)

    @property
    def labelled_types(self) -> tuple[str, ...]:
        """The node types that have labels."""
        return tuple(self._labels)

    @property
    def extras(self) -> Extras:
        """Attributes of nodes and network that nothing here uses, as JSON text."""
        return self._extras

    def num_nodes(self, node_type: str | None = None) -> int:
        """Return the number of nodes of a type, or of all types."""
        if node_type is None:
            return sum(len(v) for v in self._nodes.values())
        return len(self.vocabulary(node_type))

    def num_edges(self, edge_type: Sequence[str] | None = None) -> int:
        """Return the number of hyperedges of a type, or of all types; repeats count."""
        if edge_type is None:
            return sum(len(e) for e in self._edges.values())
        return len(self.edge_set(edge_type))

    def position_sizes(self, edge_type: Sequence[str] | None = None) -> NodeArray:
        """Return how many nodes may be at each position of an edge type."""
        sizes = {t: len(v) for t, v in self._nodes.items()}
        return position_sizes(self.edge_set(edge_type).types, sizes)

    def degrees(self, node_type: str, *, weighted: bool = False) -> npt.NDArray[Any]:
        """Return the number (or the total weight) of hyperedges at each node of a type."""
        n = self.num_nodes(node_type)
        total = np.zeros(n, dtype=np.float64 if weighted else np.int64)
        for edges in self._edges.values():
            for position, t in enumerate(edges.types):
                if t != node_type:
                    continue
                first = first_in_tuple(edges.nodes, edges.types, position)
                rows = slice(None) if first is None else first
                weight = edges.weights[rows] if weighted else None
                total += np.bincount(edges.nodes[rows, position], weights=weight, minlength=n)
        return total

    def statistics(self) -> dict[str, Any]:
        """Return what is in the network, as plain data: counts, repeats, degrees, weights."""
        from .statistics import describe

        return describe(self)

    # -- deriving others -------------------------------------------------------------------------

    def with_edges(self, edges: Iterable[EdgeSet]) -> HyperNetwork:
        """Return a network with the same nodes and labels and other hyperedges."""
        return HyperNetwork(self._nodes, edges, self._labels, self._extras)

    def with_labels(self, labels: Any, *, unknown: str = "raise") -> HyperNetwork:
        """Return the same network with these labels instead of its own.

        Parameters
        ----------
        labels : mapping of node type to labels, or a table
            Labels by name, ``{"movie": {"Heat": "crime"}}``, as a pandas Series (by its index), or
            by position, one entry per node; or a table with the columns type, name and label.
        unknown : {"raise", "warn"}
            What to do with names that no node has.
        """
        found = labels_of(self._nodes, labels, unknown=unknown)
        return HyperNetwork(self._nodes, self.edge_sets, found, self._extras)

    def fold(self) -> HyperNetwork:
        """Return the network with repeated hyperedges folded into one, their weights added.

        Examples
        --------
        >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 0], [0, 1]]}).fold()
        >>> net.weights()
        array([2., 1.])
        """
        return self.with_edges(e.fold() for e in self.edge_sets)

    def split(self, fraction: float, *, seed: Seed = 0) -> tuple[HyperNetwork, HyperNetwork]:
        """Return (train, test): `fraction` of each type's hyperedges, drawn at random, is test.

        Both keep all nodes, so ids mean the same in both.
        """
        if not 0 < fraction < 1:
            raise ParameterError(
                f"the fraction to hold out must be between 0 and 1, got {fraction}"
            )
        rng = np.random.default_rng(seed)
        train, test = [], []
        for edges in self.edge_sets:
            held_out = np.zeros(len(edges), dtype=bool)
            held_out[rng.permutation(len(edges))[: round(fraction * len(edges))]] = True
            train.append(edges.take(~held_out))
            test.append(edges.take(held_out))
        return self.with_edges(train), self.with_edges(test)

    def split_by_time(self, fraction: float) -> tuple[HyperNetwork, HyperNetwork]:
        """Return (train, test): the latest `fraction` of all hyperedges is test.

        No hyperedge of train is as late as one of test: those of the same time stay together. Both
        keep all nodes, so ids mean the same in both.
        """
        from .time import split_by_time

        return split_by_time(self, fraction)

    def with_decay(self, half_life: str | float) -> HyperNetwork:
        """Return the network with weights that halve with every `half_life` of age.

        ``"90d"`` (s, min, h, d, w, y) where times are dates, a plain number where they are numbers.
        """
        from .time import with_decay

        return with_decay(self, half_life)

    def subset(
        self,
        rows: Mapping[EdgeType, npt.NDArray[Any]] | npt.NDArray[Any] | None = None,
        *,
        edge_types: Iterable[Sequence[str]] | None = None,
        drop_nodes: bool = False,
    ) -> HyperNetwork:
        """Return the network of some hyperedges.

        Parameters
        ----------
        rows : mask or index array, or one for each edge type
            Which hyperedges to keep; types that are not named keep all.
        edge_types : edge types to keep
        drop_nodes : bool
            Whether nodes that are left without a hyperedge go too; ids then change, names do not.
        """
        keep = [self.edge_set(t) for t in edge_types] if edge_types is not None else self.edge_sets
        if rows is not None and not isinstance(rows, Mapping):
            rows = {self.edge_set().types: rows}
        for edge_type in rows or {}:
            self.edge_set(edge_type)  # raises if it is not there
        chosen = [
            e.take(np.asarray(rows[e.types])) if rows and e.types in rows else e for e in keep
        ]
        network = self.with_edges(chosen)
        return network._without_isolated() if drop_nodes else network

    def _without_isolated(self) -> HyperNetwork:
        kept = {t: np.flatnonzero(self.degrees(t) > 0) for t in self.node_types}
        kept = {t: k for t, k in kept.items() if len(k)}
        nodes = {
            t: Vocabulary(self.vocabulary(t).take(k), node_type=t, checked=True)
            for t, k in kept.items()
        }
        edges = []
        for e in self.edge_sets:
            if any(t not in kept for t in e.types):
                continue
            ids = [np.searchsorted(kept[t], e.nodes[:, p]) for p, t in enumerate(e.types)]
            edges.append(e.with_nodes(np.stack(ids, 1)))
        labels = {t: c.take(pa.array(kept[t])) for t, c in self._labels.items() if t in kept}
        return HyperNetwork(nodes, edges, labels, self._extras.take(kept))

    def merge(self, other: HyperNetwork, *, fold: bool = True) -> HyperNetwork:
        """Return a network with the nodes and hyperedges of both; ids of this one do not change.

        Parameters
        ----------
        other : HyperNetwork
        fold : bool
            Whether repeated hyperedges become one, their weights added.
        """
        from .merging import merge

        return merge(self, other, fold=fold)

    # -- Python's own ----------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Whether both have the same names, labels and weighted hyperedges, in any order."""
        if not isinstance(other, HyperNetwork):
            return NotImplemented
        from .merging import same

        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        nodes = ", ".join(f"{t} {len(v):,}" for t, v in self._nodes.items())
        lines = [f"HyperNetwork({self.num_edges():,} hyperedges)", f"  nodes: {nodes}"]
        lines += [f"  edges: {e.types.label} {len(e):,}" for e in self.edge_sets]
        if self._labels:
            lines.append("  labels: " + ", ".join(self._labels))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .statistics import as_html

        return as_html(self)
