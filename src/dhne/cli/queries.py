"""From ``user=ann movie=Heat tag=?`` to a tuple with open positions, and its edge type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dhne.errors import InputError, ParameterError, UnknownNameError

if TYPE_CHECKING:
    from dhne.estimator import DHNE
    from dhne.network.edges import EdgeType
    from dhne.network.hypernetwork import HyperNetwork
    from dhne.network.vocabulary import Vocabulary

OPEN = "?"

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="The directory of a run.")]
CountOption = Annotated[int, typer.Option("-k", "--count", min=1, help="How many answers to give.")]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON; - for standard output.")
]


def open_run(path: str) -> DHNE:
    """Return the model of a run."""
    from dhne.estimator import load

    return load(path)


def as_name(vocabulary: Vocabulary, text: str) -> str | int:
    """Return a typed name as a string or an integer, as the node type has it.

    Examples
    --------
    >>> from dhne import Vocabulary
    >>> as_name(Vocabulary([10, 42]), "42"), as_name(Vocabulary(["42"]), "42")
    (42, '42')
    """
    if vocabulary.has_integers:
        try:
            return int(text)
        except ValueError:
            return text  # the vocabulary will report that it is unknown
    return text


def parse_query(network: HyperNetwork, words: Sequence[str]) -> tuple[EdgeType, tuple[Any, ...]]:
    """Return (edge type, tuple) of a question: None for an open position, ``...`` for any node.

    Parts may come in any order. Those of a node type that an edge type repeats fill its positions
    from left to right. Positions that are not named may hold anything, or are open if no other is.
    Members of a set may be written in one part, ``node=a,b,?``; roles may take the place of node
    types, ``tail=a,b head=?``.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    >>> parse_query(net, ["movie=Heat", "tag=?", "user=ann"])
    (('user', 'movie', 'tag'), ('ann', 'Heat', None))
    """
    parts = [part for word in words for part in _members(network, *_split(network, word))]
    if any(key not in network.node_types for key, _ in parts):
        return _by_role(network, parts)
    edge_type = _edge_type(network, tuple(t for t, _ in parts))
    waiting: dict[str, list[Any]] = {}
    for node_type, text in parts:
        waiting.setdefault(node_type, []).append(_name(network, node_type, text))
    asked = any(None in names for names in waiting.values())
    unnamed = ... if asked else None
    values = tuple(waiting[t].pop(0) if waiting.get(t) else unnamed for t in edge_type)
    if None not in values:
        raise ParameterError(
            f"every position is named; write {OPEN} for the one to rank, as in "
            f"{parts[-1][0]}={OPEN}"
        )
    return edge_type, values


def _name(network: HyperNetwork, node_type: str, text: str) -> str | int | None:
    """Return the name that was typed, None for an open position."""
    if text == OPEN:
        return None
    vocabulary = network.vocabulary(node_type)
    name = as_name(vocabulary, _unescape(text))
    vocabulary.ids([name])  # raises, with similar names, if it is unknown
    return name


def _roles(network: HyperNetwork) -> dict[str, str]:
    """Return the node type of each role that is named otherwise."""
    families = [t.family for t in network.edge_types if t.has_sets]
    named = {r: t for f in families for t, r in zip(f, f.roles, strict=True)}
    return {role: t for role, t in named.items() if role not in network.node_types}


def _members(network: HyperNetwork, key: str, text: str) -> list[tuple[str, str]]:
    """Return one part per member of a set; a comma within a name is part of the name."""
    node_type = key if key in network.node_types else _roles(network)[key]
    is_set = any(
        many and key in (t, role)
        for e in network.edge_types
        for t, role, many in zip(e, e.roles, e.many, strict=True)
    )
    names = network.vocabulary(node_type)
    if not is_set or "," not in text or as_name(names, _unescape(text)) in names:
        return [(key, text)]
    return [(key, member.strip()) for member in text.split(",")]


def _by_role(
    network: HyperNetwork, parts: Sequence[tuple[str, str]]
) -> tuple[EdgeType, tuple[Any, ...]]:
    """Return (edge type, tuple) of a question that names roles; one of no member is open."""
    given: dict[str, list[str]] = {}
    for key, text in parts:
        given.setdefault(key, []).append(text)
    families = dict.fromkeys(t.family for t in network.edge_types)
    fitting = [f for f in families if set(given) <= set(f.roles)]
    if len(fitting) != 1:
        shown = "; ".join(f.family_label for f in families)
        raise ParameterError(f"name the roles of one of: {shown}; got {', '.join(given)}")
    (family,) = fitting
    members = [given.get(role, [OPEN]) for role in family.roles]
    values = tuple(
        _name(network, node_type, text)
        for node_type, texts in zip(family, members, strict=True)
        for text in texts
    )
    if None not in values:
        raise ParameterError(f"every role is filled; add {OPEN} where a member is open")
    return _in_known_order(network, family.form([len(texts) for texts in members]), values)


def _in_known_order(
    network: HyperNetwork, form: EdgeType, values: tuple[Any, ...]
) -> tuple[EdgeType, tuple[Any, ...]]:
    """Return the tuple with its roles in the order that the network's hyperedges have."""
    for known in network.edge_types:
        if known.key == form.key and Counter(known.slots) == Counter(form.slots):
            waiting: dict[int, list[Any]] = {}
            for slot, value in zip(form.slots, values, strict=True):
                waiting.setdefault(slot, []).append(value)
            return known, tuple(waiting[slot].pop(0) for slot in known.slots)
    return form, values


def _unescape(text: str) -> str:
    return text[1:] if text.startswith("\\" + OPEN) else text


def _split(network: HyperNetwork, word: str) -> tuple[str, str]:
    """Return (node type, name); a node type may itself contain an equals sign."""
    keys = (*network.node_types, *_roles(network))
    fitting = [t for t in keys if word.startswith(f"{t}=")]
    if fitting:
        node_type = max(fitting, key=len)
        return node_type, word[len(node_type) + 1 :]
    node_type, equals, _ = word.partition("=")
    if not equals:
        raise ParameterError(
            f"cannot parse {word!r}; write TYPE=NAME, with TYPE one of "
            f"{', '.join(network.node_types)}, and ? for a name to find"
        )
    raise UnknownNameError("node type", node_type, keys)


def _edge_type(network: HyperNetwork, types: Sequence[str]) -> EdgeType:
    """Return the edge type that has the given positions, in whatever order."""
    if types in network.edge_types:
        return network.edge_set(types).types
    given = Counter(types)
    exact = [t for t in network.edge_types if Counter(t) == given]
    if not exact and (form := _any_size(network, types)) is not None:
        return form
    larger = [t for t in network.edge_types if given <= Counter(t)]
    found = exact or larger
    if len(found) == 1:
        return found[0]
    shown = "; ".join(" ".join(f"{t}=…" for t in e) for e in found or network.edge_types)
    if found:
        raise ParameterError(f"several edge types fit, name every position in order: {shown}")
    raise InputError(
        f"no edge type has the positions ({', '.join(types)}); the edge types are: {shown}"
    )


def _any_size(network: HyperNetwork, types: Sequence[str]) -> EdgeType | None:
    """Return the edge type of a set of this size: one similarity serves sets of every size."""
    forms = (t.resized(len(types)) for t in network.edge_types if len(types) >= 2)
    return next((f for f in forms if f is not None and Counter(f) == Counter(types)), None)
