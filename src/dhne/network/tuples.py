"""From the tuples people write, names or ids, to arrays of ids, one for each edge type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError

from .edges import EdgeType, NodeArray
from .hypernetwork import HyperNetwork
from .named_rows import spread

OPEN = -1  # the id of a position left open
ANY = -2  # the id of a position that may hold anything, written ``...`` or not named


@dataclass(frozen=True)
class TupleGroup:
    """Tuples of one edge type; `rows` are their places in the question."""

    types: EdgeType
    rows: npt.NDArray[np.int64]
    nodes: NodeArray


def is_single(tuples: Any) -> bool:
    """Whether this is one tuple rather than a sequence of tuples.

    Examples
    --------
    >>> is_single(("ann", "Heat", None)), is_single([("ann", "Heat", "noir")])
    (True, False)
    """
    if isinstance(tuples, np.ndarray):
        return tuples.ndim == 1
    if isinstance(tuples, Mapping):
        return not any(_is_column(value) for value in tuples.values())
    if not isinstance(tuples, Sequence) or isinstance(tuples, str):
        return False
    return len(tuples) > 0 and all(
        not isinstance(part, list | tuple | np.ndarray | Mapping) for part in tuples
    )


def _is_column(value: Any) -> bool:
    """Whether a mapping's value is a column of a table rather than a name, or a set of names."""
    is_vector = hasattr(value, "__array__") and getattr(value, "ndim", 0) == 1
    return isinstance(value, list) or is_vector or hasattr(value, "__arrow_c_array__")


def as_batch(single: Any) -> Any:
    """Return one tuple as a sequence of one: ids stay ids, names stay names."""
    if isinstance(single, Mapping):
        return [single]
    return single[None] if isinstance(single, np.ndarray) else [tuple(single)]


def resolve(
    network: HyperNetwork, tuples: Any, edge_type: Sequence[str] | None = None
) -> list[TupleGroup]:
    """Return the ids of `tuples`, grouped by edge type.

    Parameters
    ----------
    network : HyperNetwork
    tuples : sequence of tuples or dicts of names, or int array ``[m, N]`` of ids
        ``None`` among the names (-1 among the ids) leaves a position open; ``...`` (-2), or no
        name in a dict, lets it hold anything.
    edge_type : tuple of str, optional
        Needed only where a tuple's length does not tell its type.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("a", "x"), ("b", "y")], ("left", "right"))
    >>> resolve(net, [("b", "x")])[0].nodes
    array([[1, 0]])
    """
    if isinstance(tuples, np.ndarray) and np.issubdtype(tuples.dtype, np.integer):
        return _resolve_ids(network, tuples, edge_type)
    if isinstance(tuples, str) or not isinstance(tuples, Iterable):
        raise InputError(
            f"cannot read tuples from {tuples!r}; give a tuple of names or a dict such as "
            "{'user': 'ann', 'movie': None}, a sequence of them, or a table"
        )
    rows = list(tuples)
    by_type: dict[EdgeType, list[int]] = {}
    by_length: dict[int, EdgeType] = {}
    for number, row in enumerate(rows):
        if isinstance(row, Mapping):
            types, rows[number] = spread(network, row, edge_type)
        elif isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
            raise InputError(f"tuple {number + 1} is {row!r}; write each as a tuple of names")
        else:
            if len(row) not in by_length:
                by_length[len(row)] = type_of(network, len(row), edge_type)
            types = by_length[len(row)]
        by_type.setdefault(types, []).append(number)
    groups = []
    for types, numbers in by_type.items():
        nodes = np.empty((len(numbers), len(types)), dtype=np.int64)
        for position, node_type in enumerate(types):
            nodes[:, position] = _ids(network, node_type, [rows[i][position] for i in numbers])
        groups.append(_group(types, np.array(numbers, np.int64), nodes))
    return groups


def _resolve_ids(
    network: HyperNetwork, nodes: NodeArray, edge_type: Sequence[str] | None
) -> list[TupleGroup]:
    if nodes.ndim != 2:
        raise InputError(f"ids of tuples must be an array [m, N], got shape {list(nodes.shape)}")
    types = type_of(network, nodes.shape[1], edge_type)
    for position, node_type in enumerate(types):
        size = network.num_nodes(node_type)
        column = nodes[:, position]
        if len(column) and (column.min() < ANY or column.max() >= size):
            raise InputError(
                f"ids at position {position} must be 0 … {size - 1}, nodes of type {node_type!r}"
            )
    return [_group(types, np.arange(len(nodes)), np.asarray(nodes, np.int64))]


def _group(types: EdgeType, rows: npt.NDArray[np.int64], nodes: NodeArray) -> TupleGroup:
    if types.has_sets and not (nodes < 0).any():
        nodes = types.canonical(nodes)
    return TupleGroup(types, rows, nodes)


def _is_new_size(network: HyperNetwork, edge_type: EdgeType) -> bool:
    """Whether sets of a known family have a size here that no hyperedge has."""
    if edge_type in network.edge_types or not edge_type.has_sets:
        return False
    return any(t.key == edge_type.key for t in network.edge_types)


def type_of(network: HyperNetwork, length: int, edge_type: Sequence[str] | None = None) -> EdgeType:
    """Return the edge type of tuples of this length; see `resolve`."""
    if isinstance(edge_type, EdgeType) and _is_new_size(network, edge_type):
        if len(edge_type) != length:
            raise InputError(
                f"a tuple of type {edge_type.label} has {len(edge_type)} parts, not {length}"
            )
        return edge_type
    if edge_type is not None:
        edges = network.edge_set(edge_type)
        if edges.length != length:
            raise InputError(
                f"a tuple of type {edges.types!r} has {edges.length} parts, not {length}"
            )
        return edges.types
    fitting = [e for e in network.edge_sets if e.length == length]
    if len(fitting) == 1:
        return fitting[0].types
    if len(fitting) > 1:
        raise ParameterError(
            f"several edge types have {length} positions, name one with edge_type=: "
            + ", ".join(str(e.types) for e in fitting)
        )
    for e in network.edge_sets:  # one similarity serves sets of every size
        resized = e.types.resized(length)
        if resized is not None and length >= 2:
            return resized
    lengths = sorted({e.length for e in network.edge_sets})
    raise InputError(f"no edge type has {length} positions; there are ones with {lengths}")


def _ids(network: HyperNetwork, node_type: str, names: list[Any]) -> NodeArray:
    vocabulary = network.vocabulary(node_type)
    ids = np.array([OPEN if n is None else ANY if n is ... else 0 for n in names], dtype=np.int64)
    given = [n for n in names if n is not None and n is not ...]
    if given:
        ids[ids == 0] = vocabulary.ids(given)
    return ids
