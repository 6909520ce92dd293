"""The options of tables on the command line, as the options of :func:`dhne.read_table`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from dhne.errors import ParameterError

NONE, AUTO = "none", "auto"  # for a file: no such column; columns as they are


def table_options(
    names: Sequence[str],
    columns: Sequence[str] | None,
    weight: Sequence[str] | None,
    time: Sequence[str] | None,
    *,
    unordered: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: bool = False,
) -> list[dict[str, Any]]:
    """Return the options of :func:`dhne.read_table` for each of several files."""
    options = for_all(unordered, delimiter, encoding, no_header)
    return for_each(names, columns, weight, time, options)


def for_all(
    unordered: bool, delimiter: str | None, encoding: str | None, no_header: bool | None
) -> dict[str, Any]:
    """Return the options that are the same for all files."""
    options: dict[str, Any] = {"delimiter": _unescape(delimiter), "encoding": encoding}
    options |= {"ordered": False} if unordered else {}
    return options | ({"header": False} if no_header else {})


def for_each(
    names: Sequence[str],
    columns: str | Sequence[str] | None,
    weight: str | Sequence[str] | None,
    time: str | Sequence[str] | None,
    options: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return the options of each file, `options` among them."""
    given = (("--columns", columns), ("--weight", weight), ("--time", time))
    mappings, weights, times = (one_each(name, value, len(names)) for name, value in given)
    found = []
    for mapping, column, when in zip(mappings, weights, times, strict=True):
        chosen = {k: v for k, v in options.items() if v is not None}
        if mapping is not None and mapping != AUTO:
            chosen["columns"] = parse_columns(mapping)
        if column is not None:
            chosen["weight"] = False if column == NONE else column
        if when not in (None, NONE):
            chosen["time"] = when
        found.append(chosen)
    return found


def parse_columns(text: str) -> list[tuple[str, str]]:
    """Return the (node type, column) pairs of ``user=userId,movie=movieId``.

    Examples
    --------
    >>> parse_columns("person=head,person=tail,tag")
    [('person', 'head'), ('person', 'tail'), ('tag', 'tag')]
    """
    pairs = []
    for part in next(csv.reader([text]), []):
        node_type, equals, column = part.partition("=")
        if not node_type.strip() or (equals and not column.strip()):
            raise ParameterError(
                f"--columns {text}: cannot parse {part!r}; "
                "write TYPE=COLUMN, as in user=userId,movie=movieId"
            )
        pairs.append((node_type.strip(), column.strip() if equals else node_type.strip()))
    return pairs


def one_each(option: str, given: str | Sequence[str] | None, number: int) -> list[str | None]:
    """Return the value of an option for each file, given once for all or once per file."""
    values = [given] if isinstance(given, str) else list(given or [])
    if len(values) <= 1:
        return [values[0] if values else None] * number
    if len(values) != number:
        raise ParameterError(f"{option} was given {len(values)} times for {number} file(s)")
    return list(values)


def _unescape(delimiter: str | None) -> str | None:
    return {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter) if delimiter else delimiter
