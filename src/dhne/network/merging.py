"""Merging two networks by name, and comparing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError

from .edge_keys import distinct_rows
from .edges import EdgeSet, EdgeType, NodeArray
from .extras import Extras
from .labels import LabelColumn
from .name_encoding import as_integers
from .vocabulary import IdArray, Vocabulary

if TYPE_CHECKING:
    from .hypernetwork import HyperNetwork


def merge(one: HyperNetwork, other: HyperNetwork, *, fold: bool) -> HyperNetwork:
    """Return a network with the nodes and hyperedges of both, matched by name."""
    from .hypernetwork import HyperNetwork

    nodes, renumber = _join_vocabularies(one, other)
    edges: dict[EdgeType, EdgeSet] = {e.types: e for e in one.edge_sets}
    for theirs in other.edge_sets:
        ids = [renumber[t][theirs.nodes[:, p]] for p, t in enumerate(theirs.types)]
        moved = theirs.with_nodes(np.stack(ids, axis=1))
        mine = edges.get(theirs.types)
        for t in edges if mine is None else ():
            if tuple(t) == tuple(theirs.types) and t.has_sets != theirs.types.has_sets:
                raise InputError(f"edges {tuple(t)!r} are ordered in one network, not in the other")
        edges[theirs.types] = moved if mine is None else EdgeSet.join([mine, moved])
    labels = {
        t: _join_columns(_labels(one, t), _labels(other, t), len(nodes[t]), renumber.get(t))
        for t in _labelled(one, other)
    }
    a, b = one.extras, other.extras
    texts = {
        t: _join_columns(a.nodes.get(t), b.nodes.get(t), len(nodes[t]), renumber.get(t))
        for t in {**a.nodes, **b.nodes}
    }
    extras = Extras(texts, b.network if a.network is None else a.network)
    chosen = [e.fold() for e in edges.values()] if fold else list(edges.values())
    return HyperNetwork(nodes, chosen, labels, extras)


def _labels(network: HyperNetwork, t: str) -> LabelColumn | None:
    return network.labels(t) if t in network.node_types else None


def _labelled(one: HyperNetwork, other: HyperNetwork) -> list[str]:
    return list(dict.fromkeys(one.labelled_types + other.labelled_types))


def _join_vocabularies(
    one: HyperNetwork, other: HyperNetwork
) -> tuple[dict[str, Vocabulary], dict[str, IdArray]]:
    nodes = {t: one.vocabulary(t) for t in one.node_types}
    renumber: dict[str, IdArray] = {}
    for t in other.node_types:
        theirs = other.vocabulary(t)
        if t not in nodes or nodes[t] == theirs:
            nodes.setdefault(t, theirs)
            renumber[t] = np.arange(len(theirs), dtype=np.int64)
            continue
        mine = nodes[t]
        mine, theirs = _alike(mine, theirs, t)
        nodes[t] = mine
        ids = mine.find(theirs.names)
        new = np.flatnonzero(ids < 0)
        ids[new] = len(mine) + np.arange(len(new))
        renumber[t] = ids
        if len(new):
            added = theirs.take(new).cast(mine.names.type if len(mine) else theirs.names.type)
            joined = pa.concat_arrays([mine.names.cast(added.type), added])
            nodes[t] = Vocabulary(joined, node_type=t, checked=True)
    return nodes, renumber


def _alike(mine: Vocabulary, theirs: Vocabulary, t: str) -> tuple[Vocabulary, Vocabulary]:
    """Return both with names of one kind: mine, if it can hold all of them, and else strings.

    A text file holds 100 as an integer or as a string, as its other names decide. An integer is the
    string that it prints as.
    """
    if mine.has_integers == theirs.has_integers or not len(mine) or not len(theirs):
        return mine, theirs
    if mine.has_integers:
        integers = as_integers(theirs.names)
        if integers is not None:
            return mine, Vocabulary(integers, node_type=t, checked=True)
        return _as_strings(mine, t), theirs
    return mine, _as_strings(theirs, t)


def _as_strings(vocabulary: Vocabulary, t: str) -> Vocabulary:
    return Vocabulary(vocabulary.names.cast(pa.large_string()), node_type=t, checked=True)


def _join_columns(
    mine: pa.Array | None, theirs: pa.Array | None, n: int, renumber: IdArray | None
) -> pa.Array:
    """Each node keeps this network's labels or text; nodes without take the other's."""
    row = np.full(n, -1, dtype=np.int64)  # into the two columns, one after the other
    columns = []
    offset = 0
    for column, ids in ((theirs, renumber), (mine, None)):
        if column is None:
            continue
        where = np.arange(len(column)) if ids is None else ids
        has = _is_filled(column)
        row[where[has]] = offset + np.flatnonzero(has)
        columns.append(column)
        offset += len(column)
    return pa.concat_arrays(columns).take(pa.array(row, mask=row < 0))


def _is_filled(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Which rows hold text, or a list that is not empty."""
    if pa.types.is_large_string(column.type):
        filled: npt.NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    else:
        filled = pc.list_value_length(column).to_numpy(zero_copy_only=False) > 0
    return filled


def same(one: HyperNetwork, other: HyperNetwork) -> bool:
    """Whether both have the same names, labels and weighted hyperedges, in any order."""
    if set(one.node_types) != set(other.node_types) or set(one.edge_types) != set(other.edge_types):
        return False
    renumber: dict[str, IdArray] = {}
    for t in one.node_types:
        mine, theirs = one.vocabulary(t), other.vocabulary(t)
        if len(mine) != len(theirs) or (len(mine) and mine.has_integers != theirs.has_integers):
            return False
        ids = np.arange(len(mine), dtype=np.int64) if mine == theirs else mine.find(theirs.names)
        if len(ids) and ids.min() < 0:
            return False
        renumber[t] = ids
    return all(_same_labels(one, other, t, renumber[t]) for t in one.node_types) and all(
        _same_edges(one.edge_set(r), other.edge_set(r), renumber) for r in one.edge_types
    )


def _same_labels(one: HyperNetwork, other: HyperNetwork, t: str, ids: IdArray) -> bool:
    mine, theirs = one.labels(t), other.labels(t)
    if mine is None or theirs is None:
        return all(c is None or len(c.flatten()) == 0 for c in (mine, theirs))
    back = np.empty_like(ids)
    back[ids] = np.arange(len(ids))
    return bool(_label_rows(mine).equals(_label_rows(theirs.take(pa.array(back)))))


def _label_rows(column: LabelColumn) -> pa.Table:
    """(node, label) pairs in order, so that the order of one node's labels does not matter."""
    table = pa.table({"node": pc.list_parent_indices(column), "label": column.flatten()})
    return table.sort_by([("node", "ascending"), ("label", "ascending")]).combine_chunks()


def _same_edges(mine: EdgeSet, theirs: EdgeSet, renumber: dict[str, IdArray]) -> bool:
    if len(mine) != len(theirs):
        return False
    if len(mine) and (mine.times is None) != (theirs.times is None):
        return False
    ids = [renumber[t][theirs.nodes[:, p]] for p, t in enumerate(theirs.types)]
    moved = theirs.with_nodes(np.stack(ids, 1))
    both: NodeArray = np.concatenate([mine.nodes, moved.nodes])
    _, group = distinct_rows(both)
    m = len(mine)
    times = (np.zeros(m) if e.times is None else e.times for e in (mine, moved))
    a, b = (
        np.lexsort((e.weights, time, part))
        for e, time, part in zip((mine, moved), times, (group[:m], group[m:]), strict=True)
    )
    same_times = (
        mine.times is None or moved.times is None or np.array_equal(mine.times[a], moved.times[b])
    )
    return bool(
        same_times
        and np.array_equal(group[:m][a], group[m:][b])
        and np.allclose(mine.weights[a], moved.weights[b], rtol=1e-12, atol=0)
    )
