"""Networks that belong together, numbered alike: the parts of a split, a model and new hyperedges.

Nodes are matched by name. Text files have no types, so the same names may be integers in one file
and strings in the other (``7`` and ``12`` in train, ``007`` in test); they are compared as text
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import UnknownNameError

from .edges import EdgeSet
from .hypernetwork import HyperNetwork
from .vocabulary import IdArray, Vocabulary


def number_alike(parts: Sequence[HyperNetwork]) -> list[HyperNetwork]:
    """Return the same networks over all nodes of all of them, so that ids agree.

    Every part also has every edge type, if need be without hyperedges.

    Examples
    --------
    >>> train = HyperNetwork.from_tuples([("ann", "Heat")], ("user", "movie"))
    >>> test = HyperNetwork.from_tuples([("bob", "Heat")], ("user", "movie"))
    >>> train, test = number_alike([train, test])
    >>> test.edges(), train.num_nodes("user")
    (array([[1, 0]]), 2)
    """
    parts = _names_of_one_kind(parts)
    whole = reduce(lambda one, other: one.merge(other, fold=False), parts)
    begin = dict.fromkeys(whole.edge_types, 0)
    found = []
    for part in parts:
        rows = {}
        for types in whole.edge_types:
            held = part.num_edges(types) if types in part.edge_types else 0
            rows[types] = np.arange(begin[types], begin[types] + held)
            begin[types] += held
        found.append(whole.subset(rows))
    return found


def match_nodes(known: HyperNetwork, other: HyperNetwork) -> tuple[HyperNetwork, int]:
    """Return (hyperedges of `other` with the ids of `known`, how many had unknown names).

    Hyperedges with a name, or of an edge type, that `known` does not have are left out.

    Examples
    --------
    >>> known = HyperNetwork.from_tuples([(7, "x"), (12, "y")], ("left", "right"))
    >>> other = HyperNetwork.from_tuples([("12", "x"), ("007", "x")], ("left", "right"))
    >>> network, left_out = match_nodes(known, other)
    >>> network.edges(), left_out
    (array([[1, 0]]), 1)
    """
    shared = [t for t in other.node_types if t in known.node_types]
    ids = {t: _ids(known.vocabulary(t), other.names(t)) for t in shared}
    edge_sets: list[EdgeSet] = []
    left_out = 0
    for e in other.edge_sets:
        if e.types not in known.edge_types:
            left_out += len(e)
            continue
        nodes = np.stack([ids[t][e.nodes[:, p]] for p, t in enumerate(e.types)], axis=1)
        kept: npt.NDArray[np.bool_] = np.all(nodes >= 0, axis=1)
        left_out += int(np.count_nonzero(~kept))
        edge_sets.append(e.take(kept).with_nodes(nodes[kept]))
    return known.with_edges(edge_sets), left_out


def first_unknown(known: HyperNetwork, other: HyperNetwork) -> UnknownNameError | None:
    """Return the error for the first edge type or name of `other` that `known` does not have."""
    for e in other.edge_sets:
        if len(e) and e.types not in known.edge_types:
            return UnknownNameError("edge type", e.types, known.edge_types)
    for t in other.node_types:
        if t not in known.node_types:
            continue
        vocabulary = known.vocabulary(t)
        ids = _ids(vocabulary, other.names(t))
        missing = np.flatnonzero((ids < 0) & (other.degrees(t) > 0))
        if len(missing):
            near = vocabulary.names.slice(0, 200_000).to_pylist()
            return UnknownNameError(t, other.vocabulary(t).name(int(missing[0])), near)
    return None


def _ids(vocabulary: Vocabulary, names: pa.Array) -> IdArray:
    """Return the ids of names, -1 for unknown ones; integers equal their text."""
    if pa.types.is_integer(names.type) == vocabulary.has_integers or not len(names):
        return vocabulary.find(names)
    if not vocabulary.has_integers:
        return vocabulary.find(names.cast(pa.string()))
    plain = pc.match_substring_regex(names, r"^(0|-?[1-9][0-9]{0,17})$")
    ids = np.full(len(names), -1, np.int64)
    good = plain.to_numpy(zero_copy_only=False).astype(bool)
    ids[good] = vocabulary.find(names.filter(plain).cast(pa.int64()))
    return ids


def _names_of_one_kind(parts: Sequence[HyperNetwork]) -> list[HyperNetwork]:
    """Return the networks with integers as text where the same node type has text elsewhere."""
    kinds: dict[str, set[bool]] = {}
    for part in parts:
        for t in part.node_types:
            if part.num_nodes(t):
                kinds.setdefault(t, set()).add(part.vocabulary(t).has_integers)
    mixed = {t for t, found in kinds.items() if len(found) > 1}
    return [_as_text(part, mixed) for part in parts] if mixed else list(parts)


def _as_text(network: HyperNetwork, node_types: set[str]) -> HyperNetwork:
    nodes = {t: network.vocabulary(t) for t in network.node_types}
    for t in node_types & set(nodes):
        if nodes[t].has_integers:
            names = nodes[t].names.cast(pa.string())
            nodes[t] = Vocabulary(names, node_type=t, checked=True)
    labels = {t: network.labels(t) for t in network.labelled_types}
    return HyperNetwork(nodes, network.edge_sets, labels, network.extras)
