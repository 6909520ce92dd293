"""Labels by name: from mappings, pandas Series and tables to a label column per node type.

A table has a row per label: a column of names, a column of labels and, where a name alone does not
tell its node type, a column of types. Its columns are ``type``, ``name`` and ``label``; instead of
``name`` the column may be called like a node type, whose names it then holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError, InputWarning, ParameterError, UnknownNameError, suggest

from .labels import LabelColumn, as_label_column, as_list
from .memory_tables import as_table, is_table
from .vocabulary import Vocabulary

Nodes = Mapping[str, Vocabulary]
_TYPE = ("type", "node_type", "node type")
_NAME = ("name", "node")
_LABEL = ("label", "labels", "class")
_UNKNOWN = ("raise", "warn")


def labels_of(nodes: Nodes, labels: Any, *, unknown: str = "raise") -> dict[str, LabelColumn]:
    """Return the label column of each node type in `labels`.

    Parameters
    ----------
    nodes : mapping of node type to vocabulary
    labels : mapping of node type to labels, or a table
        Labels of a type are a mapping of names to labels, a pandas Series (by its index), or a
        sequence with an entry per node, in the order of ids. One node may have several.
    unknown : {"raise", "warn"}
        What to do with names that no node has.

    Examples
    --------
    >>> nodes = {"p": Vocabulary(["a", "b", "c"])}
    >>> labels_of(nodes, {"p": {"c": "ILL", "a": ["WELL", "OLD"]}})["p"].to_pylist()
    [['WELL', 'OLD'], [], ['ILL']]
    >>> labels_of(nodes, [{"name": "b", "label": "ILL"}])["p"].to_pylist()
    [[], ['ILL'], []]
    """
    if unknown not in _UNKNOWN:
        raise ParameterError(f"unknown must be one of {', '.join(_UNKNOWN)}, got {unknown!r}")
    if isinstance(labels, Mapping) and not _is_table_of_columns(nodes, labels):
        for t in labels:
            if t not in nodes:
                raise UnknownNameError("node type", t, nodes)
        return {t: _column(given, nodes[t], t, unknown) for t, given in labels.items()}
    return _from_table(nodes, as_table(labels), unknown)


def _is_table_of_columns(nodes: Nodes, labels: Mapping[Any, Any]) -> bool:
    keys = {str(k).casefold() for k in labels}
    return not (set(labels) <= set(nodes)) and bool(keys & set(_LABEL)) and is_table(labels)


def _column(given: Any, vocabulary: Vocabulary, t: str, unknown: str) -> LabelColumn:
    if hasattr(given, "index") and hasattr(given, "items") and hasattr(given, "to_numpy"):
        names, values = list(given.index), list(given)  # a pandas Series
    elif isinstance(given, Mapping):
        names, values = list(given), list(given.values())
    else:
        return as_label_column(given, len(vocabulary), t)
    return _by_name(names, values, vocabulary, t, unknown)


def _by_name(
    names: list[Any], values: list[Any], vocabulary: Vocabulary, t: str, unknown: str
) -> LabelColumn:
    ids = find_names(vocabulary, names)
    missing = np.flatnonzero(ids < 0)
    if len(missing):
        _complain([names[i] for i in missing], len(names), vocabulary, t, unknown)
    found: list[list[str]] = [[] for _ in range(len(vocabulary))]
    for node, value in zip(ids.tolist(), values, strict=True):
        if node >= 0:
            found[node] += [x for x in as_list(value) if x not in found[node]]
    return as_label_column(found, len(vocabulary), t)


def find_names(vocabulary: Vocabulary, names: Iterable[Any]) -> npt.NDArray[np.int64]:
    """Return the id of each name, -1 for an unknown one; "42" is the integer 42 where all are."""
    wanted = [_as_name(n, integers=vocabulary.has_integers) for n in names]
    ids = np.full(len(wanted), -1, np.int64)
    asked = [i for i, n in enumerate(wanted) if n is not None]
    if asked:
        kind = pa.int64() if vocabulary.has_integers else pa.large_string()
        ids[asked] = vocabulary.find(pa.array([wanted[i] for i in asked], kind))
    return ids


def _as_name(name: Any, *, integers: bool) -> str | int | None:
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if name is None or isinstance(name, float | bool):
        return None
    text = str(name)
    if not integers:
        return text if text.isascii() or _is_unicode(text) else None
    digits = text.removeprefix("-")
    whole = digits.isdecimal() and digits.isascii() and len(digits) <= 18
    return int(text) if whole and str(int(text)) == text else None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _complain(missing: list[Any], total: int, vocabulary: Vocabulary, t: str, unknown: str) -> None:
    near = suggest(str(missing[0]), vocabulary.names.slice(0, 200_000).to_pylist(), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    what = (
        f"{len(missing)} of {total} labels of node type {t!r} are for names that no node has, "
        f"such as {missing[0]!r}{hint}"
    )
    if unknown == "raise" or len(missing) == total:
        raise InputError(f"{what}; labels without names must be a list with one entry per node")
    warnings.warn(f"{what}; they were left out", InputWarning, stacklevel=5)


# -- tables ----------------------------------------------------------------------------------------


def _from_table(nodes: Nodes, table: pa.Table, unknown: str) -> dict[str, LabelColumn]:
    type_column, name_column, label_column, node_type = _columns(nodes, table.column_names)
    names = table[name_column].to_pylist()
    values = table[label_column].to_pylist()
    if type_column is not None:
        types = [str(t) for t in table[type_column].to_pylist()]
        for t in dict.fromkeys(types):
            if t not in nodes:
                raise UnknownNameError("node type", t, nodes)
    else:
        types = [node_type or _only_type(nodes, names)] * len(names)
    rows: dict[str, list[int]] = {}
    for row, t in enumerate(types):
        rows.setdefault(t, []).append(row)
    return {
        t: _by_name([names[i] for i in r], [values[i] for i in r], nodes[t], t, unknown)
        for t, r in rows.items()
    }


def _columns(nodes: Nodes, there: list[str]) -> tuple[str | None, str, str, str | None]:
    """Return the columns of types, names and labels, and the node type that a column names."""
    types, names, labels = (_called(there, names) for names in (_TYPE, _NAME, _LABEL))
    node_type = None
    if names is None:
        alike = [c for c in there if c in nodes]
        if len(alike) == 1:
            names = node_type = alike[0]
    rest = [c for c in there if c not in (types, names, labels)]
    if labels is None and len(rest) == 1:
        labels = rest[0]
    if names is None or labels is None:
        raise InputError(
            f"found the columns {', '.join(there)}; labels need the columns type, name and label "
            "(type may be left out if the names are all of one type)"
        )
    return types, names, labels, node_type


def _called(there: list[str], names: tuple[str, ...]) -> str | None:
    return next((c for c in there if c.strip().casefold() in names), None)


def _only_type(nodes: Nodes, names: list[Any]) -> str:
    """Return the node type that all names are of, as far as they are known."""
    distinct = list(dict.fromkeys(names))
    fitting = [t for t, v in nodes.items() if (find_names(v, distinct) >= 0).any()]
    if len(fitting) == 1 or len(nodes) == 1:
        return fitting[0] if fitting else next(iter(nodes))
    where = f"in {', '.join(fitting)}" if fitting else "in no node type"
    raise InputError(
        f"there is no column 'type', and the names occur {where}; add a column with the node type "
        f"of each name: {', '.join(nodes)}"
    )
