"""The rules of the Hypergraph Interchange Format, version 0.1, checked by hand.

A file is one JSON object with the keys ``incidences`` (required), ``nodes``, ``edges``,
``metadata`` and ``network-type``, and no others. The first three are lists of records:

========== ================ ===========================================
list       required         optional
========== ================ ===========================================
incidences ``edge``, ``node`` ``weight``, ``direction`` (head, tail), ``attrs``
nodes      ``node``         ``weight``, ``attrs``
edges      ``edge``         ``weight``, ``attrs``
========== ================ ===========================================

Ids are strings or integers (``1.0`` is an integer to JSON), weights numbers, ``attrs`` and
``metadata`` any objects, ``network-type`` one of undirected, directed, asc. Nothing has to be
unique or declared: a node may appear in an incidence alone, a record may be repeated.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dhne.errors import InputError, suggest
from dhne.files.reading import StrPath

_TOP = ("network-type", "metadata", "incidences", "nodes", "edges")
_NETWORK_TYPES = ("undirected", "directed", "asc")
_REQUIRED = {"incidences": ("edge", "node"), "nodes": ("node",), "edges": ("edge",)}
_ALLOWED = {
    "incidences": frozenset({"edge", "node", "weight", "direction", "attrs"}),
    "nodes": frozenset({"node", "weight", "attrs"}),
    "edges": frozenset({"edge", "weight", "attrs"}),
}


def check_hif(found: Any, file: StrPath) -> None:
    """Raise an `InputError` that names the place of the first thing the standard forbids.

    Examples
    --------
    >>> check_hif({"incidences": [{"edge": 1, "node": "a"}]}, "x.json")
    >>> check_hif({"incidences": [{"edge": 1, "node": 2.5}]}, "x")
    Traceback (most recent call last):
    dhne.errors.InputError: x: incidences[0].node: an id must be a string or an integer, not 2.5
    """
    if not isinstance(found, dict):
        raise InputError(f"a HIF file is a JSON object, this is {_kind(found)}", file=file)
    for key in found:
        if key not in _TOP:
            _refuse(file, key, f"HIF has no such top-level key{_near(key, _TOP)}")
    if "incidences" not in found:
        raise InputError("the key 'incidences' is missing; is this a HIF file?", file=file)
    if "network-type" in found and found["network-type"] not in _NETWORK_TYPES:
        choices = ", ".join(_NETWORK_TYPES)
        _refuse(
            file, "network-type", f"must be one of {choices}, not {_show(found['network-type'])}"
        )
    if not isinstance(found.get("metadata", {}), dict):
        _refuse(file, "metadata", f"must be an object, not {_kind(found['metadata'])}")
    for name in _REQUIRED:
        records = found.get(name, [])
        if not isinstance(records, list):
            _refuse(file, name, f"must be a list, not {_kind(records)}")
        _check_records(records, name, file)


def _check_records(records: list[Any], name: str, file: StrPath) -> None:
    required, allowed = _REQUIRED[name], _ALLOWED[name]
    for i, record in enumerate(records):
        if type(record) is not dict:
            _refuse(file, f"{name}[{i}]", f"must be an object, not {_kind(record)}")
        if not record.keys() <= allowed:
            key = next(k for k in record if k not in allowed)
            hint = _near(key, sorted(allowed)) or "; put it into 'attrs'"
            _refuse(file, f"{name}[{i}].{key}", f"HIF has no such key here{hint}")
        for key in required:
            if key not in record:
                _refuse(file, f"{name}[{i}]", f"the key {key!r} is missing")
            value = record[key]
            kind = type(value)
            if kind is not str and kind is not int and not (kind is float and value.is_integer()):
                what = f"an id must be a string or an integer, not {_show(value)}"
                _refuse(file, f"{name}[{i}].{key}", what)
        if len(record) > len(required):
            _check_optional(record, f"{name}[{i}]", file)


def _check_optional(record: dict[str, Any], place: str, file: StrPath) -> None:
    if "weight" in record and type(record["weight"]) not in (int, float):
        _refuse(file, f"{place}.weight", f"must be a number, not {_show(record['weight'])}")
    if "attrs" in record and type(record["attrs"]) is not dict:
        _refuse(file, f"{place}.attrs", f"must be an object, not {_kind(record['attrs'])}")
    if "direction" in record and record["direction"] not in ("head", "tail"):
        _refuse(
            file, f"{place}.direction", f"must be head or tail, not {_show(record['direction'])}"
        )


def _refuse(file: StrPath, place: str, message: str) -> NoReturn:
    raise InputError(f"{place}: {message}", file=file)


def _near(key: str, choices: Any) -> str:
    near = suggest(key, choices, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _show(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float) else _kind(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
