"""Which columns of a table are the positions of its hyperedges, its weights and its times.

A mapping may be ``{"user": "userId", "movie": "movieId"}``; with a list where a node type repeats,
``{"person": ["head", "tail"]}``; or pairs where the order of positions matters,
``[("person", "head"), ("relation", "rel"), ("person", "tail")]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError, suggest
from dhne.files.reading import StrPath

from .times import CALLED_TIME, looks_like_dates

Columns = Mapping[str, str | Sequence[str]] | Sequence[str | tuple[str, str]]

_TIMES, _DATES = "times", "dates"
_NUMBER = r"^[+-]?\d+(\.\d*)?$"
WEIGHT = "weight"  # a column of this name holds weights by default


@dataclass(frozen=True)
class Mapped:
    """The node type and column of each position, and the columns of weights and times."""

    types: tuple[str, ...]
    columns: tuple[str, ...]
    weight: str | None = None
    time: str | None = None

    @property
    def used(self) -> list[str]:
        """Every column that is needed, each once."""
        others = [c for c in (self.weight, self.time) if c is not None]
        return list(dict.fromkeys([*self.columns, *others]))


class UnsuitableColumnsError(InputError):
    """A table whose columns cannot all be names; `suitable` are those that can."""

    def __init__(
        self, file: StrPath | None, found: Sequence[str], reasons: Mapping[str, str]
    ) -> None:
        self.found, self.reasons = list(found), dict(reasons)
        self.suitable = [c for c in found if c not in reasons and c != WEIGHT]
        times = [c for c, reason in reasons.items() if reason in (_TIMES, _DATES)]
        self.time = times[0] if len(times) == 1 else None
        why = "; ".join(f"{c!r} holds {reason}" for c, reason in reasons.items())
        example = ", ".join(f"{c!r}: {c!r}" for c in self.suitable) or "'user': 'userId', …"
        super().__init__(
            f"found the columns {_list(found)}, but {why}, not names; "
            f"choose the ones to use: columns={{{example}}}"
            + ("" if self.time is None else f", time={self.time!r}"),
            file=file,
        )


def map_columns(
    names: Sequence[str],
    columns: Columns | None,
    weight: str | bool | None,
    file: StrPath | None,
    *,
    header: bool = True,
    time: str | None = None,
) -> Mapped:
    """Return the positions that `columns` asks for, each checked against the table's `names`.

    A column called ``weight`` that is not a position holds the weights, unless another one is named
    or `weight` is False. Without a header, names other than c1, c2 … refer to the first columns in
    order.
    """
    pairs = None if columns is None else _pairs(columns)
    if pairs is not None and not header and all(c not in names for _, c in pairs):
        pairs = [(t, names[i] if i < len(names) else c) for i, (t, c) in enumerate(pairs)]
    if weight is None and WEIGHT in names and WEIGHT not in [c for _, c in pairs or ()]:
        weight = WEIGHT
    weight = None if isinstance(weight, bool) else weight
    if pairs is None:
        left_out = {weight, time, *([WEIGHT] if weight is None else [])}
        pairs = [(name, name) for name in names if name not in left_out]
    for _, column in pairs:
        _check(column, names, file)
    for other in (weight, time):
        if other is not None:
            _check(other, names, file)
    if len(pairs) < 2:
        raise InputError(_too_short(pairs, names, weight), file=file)
    return Mapped(tuple(t for t, _ in pairs), tuple(c for _, c in pairs), weight, time)


def columns_of(columns: Columns) -> list[str]:
    """Return the columns that a mapping names.

    Examples
    --------
    >>> columns_of({"person": ["head", "tail"], "relation": "rel"})
    ['head', 'tail', 'rel']
    """
    return [column for _, column in _pairs(columns)]


def _pairs(columns: Columns) -> list[tuple[str, str]]:
    if isinstance(columns, str):
        raise InputError(f"columns must be a mapping or a list, got the string {columns!r}")
    pairs: list[tuple[str, str]] = []
    items = columns.items() if isinstance(columns, Mapping) else columns
    for item in items:
        if isinstance(item, str):
            pairs.append((item, item))
            continue
        node_type, named = _pair(item)
        for column in named if isinstance(named, list | tuple) else [named]:
            if not isinstance(column, str):
                raise InputError(f"columns: a column's name must be a string, got {column!r}")
            pairs.append((node_type, column))
    return pairs


def _pair(item: Any) -> tuple[str, Any]:
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        return item[0], item[1]
    raise InputError(f"columns: expected (node type, column), got {item!r}")


def _check(column: str, names: Sequence[str], file: StrPath | None) -> None:
    count = list(names).count(column)
    if count == 1:
        return
    if count > 1:
        raise InputError("this column appears twice in the table", file=file, column=column)
    near = suggest(column, names)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"the columns are: {_list(names)}"
    )
    raise InputError(f"no column {column!r}; {hint}", file=file)


def _too_short(pairs: list[tuple[str, str]], names: Sequence[str], weight: str | None) -> str:
    message = f"a hyperedge needs at least two columns, got {len(pairs)}: {_list(names)}"
    if len(names) == 1 and weight is None:
        other = [d for d in ("\t", ";", "|", ",") if d in names[0]]
        if other:
            message += f"; is the delimiter {other[0]!r}?"
    return message


def check_suitable(table: pa.Table, names: Sequence[str], file: StrPath | None) -> None:
    """Refuse a table without a mapping if its columns hold measurements or times, not names."""
    reasons = {}
    for name in names:
        reason = _not_names(table[name], called_time=name.strip().casefold() in CALLED_TIME)
        if reason:
            reasons[name] = reason
    if reasons:
        raise UnsuitableColumnsError(file, table.column_names, reasons)


def _not_names(column: pa.ChunkedArray, *, called_time: bool) -> str | None:
    kind = column.type
    if pa.types.is_nested(kind):
        return "nested values"
    if pa.types.is_temporal(kind):
        return _TIMES
    if pa.types.is_string(kind):  # text: look at the first rows as numbers
        column = column.slice(0, 1000).drop_null()
        if looks_like_dates(column):
            return _DATES
        if (
            called_time
            and len(column)
            and pc.all(pc.match_substring_regex(column, _NUMBER)).as_py()
        ):
            return _TIMES
        plain = pc.all(pc.match_substring_regex(column, r"^[+-]?\d+\.\d+([eE][+-]?\d+)?$")).as_py()
        return "decimal numbers" if len(column) and plain else None
    if pa.types.is_floating(kind):
        column = column.drop_null()
        whole = pc.all(pc.equal(column, pc.round(column)), min_count=0).as_py()
        return _TIMES if called_time else None if whole else "decimal numbers"
    return _TIMES if called_time else None


def _list(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(n if n.isprintable() and n.strip() else repr(n) for n in names[:limit])
    return shown if len(names) <= limit else f"{shown}, … ({len(names)} in all)"
