"""Tuples written by name: ``{"user": "ann", "movie": "Heat"}``.

A name is a position's column (``person``, ``person.2``), or its role; a tuple of names fills
positions of one type. Of the edge types that have all these positions, the one with no others is
meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dhne.errors import InputError, ParameterError

from .edge_type import EdgeType
from .hypernetwork import HyperNetwork


def spread(
    network: HyperNetwork, row: Mapping[str, Any], edge_type: Sequence[str] | None = None
) -> tuple[EdgeType, tuple[Any, ...]]:
    """Return the edge type of a row and its names in order, ``...`` where it names none.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    >>> spread(net, {"tag": None, "user": "ann"})
    (('user', 'movie', 'tag'), ('ann', Ellipsis, None))
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        members = value if isinstance(value, tuple | set | frozenset) else [value]
        for number, member in enumerate(members, start=1):
            flat[str(name) if number == 1 else f"{name}.{number}"] = member
    types, places = find_positions(network, flat, edge_type)
    values: list[Any] = [...] * len(types)
    for name, value in flat.items():
        values[places[name]] = value
    return types, tuple(values)


def find_positions(
    network: HyperNetwork, names: Iterable[str], edge_type: Sequence[str] | None = None
) -> tuple[EdgeType, dict[str, int]]:
    """Return the edge type that has positions of these names, and the position of each."""
    names = list(names)
    if not names:
        raise InputError("an empty row names no position")
    known = [network.edge_set(edge_type).types] if edge_type is not None else network.edge_types
    found = [(t, places) for t in known if (places := _places(t, names)) is not None]
    found = [f for f in found if len(f[0]) == len(names)] or found
    if not found:  # one similarity serves sets of every size
        forms = (t.resized(len(names)) for t in known if len(names) >= 2)
        resized = [(t, _places(t, names)) for t in forms if t is not None]
        found = [(t, places) for t, places in resized if places is not None][:1]
    if len(found) == 1:
        return found[0]
    shown = "; ".join(", ".join(t.columns) for t in known)
    if found:
        raise ParameterError(
            f"several edge types have the positions {', '.join(names)}, name one with edge_type=; "
            f"the edge types are: {shown}"
        )
    raise InputError(
        f"no edge type has the positions {', '.join(names)}; the edge types are: {shown}"
    )


def _places(types: EdgeType, names: Sequence[str]) -> dict[str, int] | None:
    """Return the position of each name, or None if one is not a position of this edge type."""
    places: dict[str, int] = {}
    for labels in (types.roles, types.columns):  # a column's name goes before a role's
        places |= {label: p for p, label in enumerate(labels) if labels.count(label) == 1}
    found = {name: places[name] for name in names if name in places}
    return found if len(found) == len(names) == len(set(found.values())) else None
