"""`EdgeType`: the node type and the role of each position of a hyperedge.

Positions with the same node type and role are a *set*: their order means nothing, and there may be
any number of them. So

=====================  ==========================================================================
ordered tuples         every position has a role of its own: (head, relation, tail)
sets                   all positions share one role: {author, author, …}
directed hyperedges    two roles, each a set: tail {substrate, …} → head {product, …}
mixtures               (venue, author, author, …): one position and a set
=====================  ==========================================================================

Edge types that differ only in how many positions their sets have are one *family*: they share one
similarity and are trained together. `family` has one position per role; `form` leads back to
the edge type of one size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError, ParameterError, UnknownNameError

NodeArray = npt.NDArray[np.int64]


class EdgeType(tuple[str, ...]):  # noqa: SLOT001 - it carries roles
    """The node types of a hyperedge's positions, with a role each.

    It is the tuple of its node types and equals it; two edge types are equal if their roles are.

    Parameters
    ----------
    types : iterable of str
    roles : iterable of str, optional
        One per position; by default each position has its own.
    many : iterable of bool, optional
        Which positions are members of a set of any size; by default those that share a role.

    Examples
    --------
    >>> EdgeType(("user", "movie", "tag")) == ("user", "movie", "tag")
    True
    >>> EdgeType(("person", "person")).roles
    ('person', 'person.2')
    >>> reaction = EdgeType(("compound",) * 3, ("tail", "head", "head"), (True,) * 3)
    >>> reaction.label
    '(tail {compound}, head {compound, compound})'
    >>> reaction.family.roles
    ('head', 'tail')
    """

    roles: tuple[str, ...]
    many: tuple[bool, ...]

    def __new__(
        cls,
        types: Iterable[str],
        roles: Iterable[str] | None = None,
        many: Iterable[bool] | None = None,
    ) -> Self:
        """Check the parts and put them together."""
        self = super().__new__(cls, types)
        self.roles = _numbered(self) if roles is None else tuple(roles)
        if len(self.roles) != len(self):
            raise InputError(f"edge type {tuple(self)!r} needs one role per position")
        shared = Counter(zip(self, self.roles, strict=True))
        repeats = tuple(shared[key] > 1 for key in zip(self, self.roles, strict=True))
        self.many = repeats if many is None else tuple(bool(m) for m in many)
        whole = len(self.many) == len(self)
        if not whole or any(r > m for r, m in zip(repeats, self.many, strict=True)):
            raise InputError(f"positions of {tuple(self)!r} that share a role must be a set")
        return self

    @classmethod
    def of(cls, types: Iterable[str], *, ordered: bool = True) -> EdgeType:
        """Return the edge type of positions that are all distinct or, by node type, sets.

        Examples
        --------
        >>> EdgeType.of(("author", "author"), ordered=False).label
        '{author, author}'
        """
        if isinstance(types, EdgeType):
            return types
        types = tuple(types)
        if ordered or len(set(types)) == len(types):
            return cls(types)
        return cls(types, types, (True,) * len(types))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EdgeType) and (self.roles, self.many) != (other.roles, other.many):
            return False
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        return tuple.__repr__(self) if not self.has_sets else self.label

    def __getnewargs__(self) -> tuple[Any, ...]:  # how it is copied
        return tuple(self), self.roles, self.many

    # -- families --------------------------------------------------------------------------------

    @property
    def has_sets(self) -> bool:
        """Whether some positions are members of a set."""
        return any(self.many)

    @cached_property
    def family(self) -> EdgeType:
        """The edge type with one position per role; itself if it has no sets."""
        if not self.has_sets:
            return self
        first = sorted((group[0] for group in self.groups), key=lambda p: (self[p], self.roles[p]))
        parts = [(self[p], self.roles[p], self.many[p]) for p in first]
        return EdgeType(*zip(*parts, strict=True))

    @cached_property
    def key(self) -> tuple[tuple[str, str, bool], ...]:
        """What two edge types of the same family have in common, and no others."""
        family = self.family
        return tuple(zip(family, family.roles, family.many, strict=True))

    def form(self, sizes: Sequence[int]) -> EdgeType:
        """Return the edge type with so many positions for each role of this family.

        Examples
        --------
        >>> EdgeType.of(("author", "author"), ordered=False).family.form((3,)).label
        '{author, author, author}'
        """
        parts = [
            part
            for n, *part in zip(sizes, self, self.roles, self.many, strict=True)
            for _ in range(n)
        ]
        return EdgeType(*zip(*parts, strict=True))

    def resized(self, length: int) -> EdgeType | None:
        """Return its family's form with `length` positions, if the length alone determines it."""
        family = self.family
        rest = length - sum(not m for m in family.many)
        if sum(family.many) != 1 or rest < 1:
            return None
        return family.form([rest if many else 1 for many in family.many])

    # -- positions and sets ----------------------------------------------------------------------

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The positions that share a node type and a role, in the order of the first of each."""
        found: dict[tuple[str, str], list[int]] = {}
        for position, key in enumerate(zip(self, self.roles, strict=True)):
            found.setdefault(key, []).append(position)
        return tuple(tuple(positions) for positions in found.values())

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """For each position the number of its parameters; positions that share a role share them.

        Where there are sets, slots follow the family's order and are the same for every size.
        """
        if not self.has_sets:
            return tuple(range(len(self)))
        numbers = {(t, role): n for n, (t, role, _) in enumerate(self.key)}
        return tuple(numbers[key] for key in zip(self, self.roles, strict=True))

    @property
    def slot_types(self) -> tuple[str, ...]:
        """The node type of each slot."""
        return tuple(self.family)

    def peers(self, position: int) -> tuple[int, ...]:
        """Return the other positions of the same set."""
        for group in self.groups:
            if position in group:
                return tuple(q for q in group if q != position)
        return ()

    def positions_of(self, node_type: str) -> tuple[int, ...]:
        """Return the positions of a node type."""
        return tuple(p for p, t in enumerate(self) if t == node_type)

    def without(self, position: int) -> EdgeType:
        """Return what is left when a position is taken out; it may have a single position."""
        kept = [p for p in range(len(self)) if p != position]
        parts = [(self[p], self.roles[p], self.many[p]) for p in kept]
        return EdgeType(*zip(*parts, strict=True))

    def canonical(self, nodes: npt.ArrayLike) -> NodeArray:
        """Return a copy of tuples ``int64[m, N]`` with the ids of each set ascending."""
        array = np.array(nodes, dtype=np.int64)
        self.sort_sets(array)
        return array

    def sort_sets(self, nodes: NodeArray) -> None:
        """Sort the ids of each set in place."""
        for group in self.groups:
            if len(group) > 1:
                nodes[:, group] = np.sort(nodes[:, group], axis=1)

    # -- names and plain data --------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """A distinct name for each position: its node type, numbered where it repeats."""
        return _numbered(self)

    @property
    def label(self) -> str:
        """How people read it: round brackets for tuples, curly ones for sets.

        Examples
        --------
        >>> EdgeType(("user", "tag")).label
        '(user, tag)'
        """
        parts = []
        for group in self.groups:
            t, role = self[group[0]], self.roles[group[0]]
            shown = ", ".join([t] * len(group))
            name = "" if role in (t, *_numbered(self)) else f"{role} "
            parts.append(f"{name}{{{shown}}}" if self.many[group[0]] else name + shown)
        whole = ", ".join(parts)
        return whole if len(parts) == 1 and self.has_sets else f"({whole})"

    @property
    def family_label(self) -> str:
        """A readable name for its family, independent of the sizes of its sets.

        Examples
        --------
        >>> EdgeType.of(("author",) * 3, ordered=False).family_label
        '{author, …}'
        >>> EdgeType(("venue", "author"), ("venue", "author"), (False, True)).family_label
        '({author, …}, venue)'
        """
        if not self.has_sets:
            return self.label
        parts = []
        for node_type, role, many in self.key:
            name = "" if role == node_type else f"{role} "
            parts.append(f"{name}{{{node_type}, …}}" if many else name + node_type)
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        record: dict[str, Any] = {"types": list(self), "ordered": not self.has_sets}
        plain = EdgeType.of(tuple(self), ordered=not self.has_sets)
        if (self.roles, self.many) != (plain.roles, plain.many):
            record |= {"roles": list(self.roles), "many": list(self.many)}
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> EdgeType:
        """Return what `to_record` wrote, or version 0.1: types, and whether they are ordered."""
        if record.get("roles") is not None:
            return cls(record["types"], record["roles"], record.get("many"))
        return cls.of(record["types"], ordered=record.get("ordered", True))

    @staticmethod
    def is_record(record: Any) -> bool:
        """Whether this has the shape of what `to_record` writes."""
        if not isinstance(record, Mapping) or not isinstance(record.get("ordered", True), bool):
            return False
        types = record.get("types")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            return False
        for name, kind in (("roles", str), ("many", bool)):
            values = record.get(name)
            if values is not None and not (
                isinstance(values, list)
                and len(values) == len(types)
                and all(isinstance(v, kind) for v in values)
            ):
                return False
        return True


def find_edge_type(wanted: Sequence[str] | None, known: Iterable[EdgeType]) -> EdgeType:
    """Return the one among the known edge types that is meant; None means the only one."""
    known = list(known)
    if wanted is None:
        fitting = known
    else:
        wanted = wanted if isinstance(wanted, EdgeType) else tuple(wanted)
        fitting = [t for t in known if t == wanted]
        if not fitting:
            raise UnknownNameError("edge type", tuple(wanted), known)
    if len(fitting) != 1:
        raise ParameterError(
            f"there are {len(fitting)} edge types, name one of: " + ", ".join(map(str, fitting))
        )
    return fitting[0]


def _numbered(types: Iterable[str]) -> tuple[str, ...]:
    """Return the types, those that repeat numbered from the second on."""
    seen: Counter[str] = Counter()
    names = []
    for t in types:
        seen[t] += 1
        names.append(t if seen[t] == 1 else f"{t}.{seen[t]}")
    return tuple(names)
