"""Kinds of parameter values: how to check, parse and describe them.

The kind follows from the type annotation of the field that declares the parameter; see `kind_of`.
"""

from __future__ import annotations

import csv
import functools
import math
import operator
from collections.abc import Mapping
from numbers import Integral, Real
from types import NoneType
from typing import Any, ClassVar, get_args

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


class Kind:
    """Base of all kinds: any text.

    Attributes
    ----------
    python : the type, as shown in the documentation
    metavar : placeholder for the value in a command's help
    example : a sample value, if the syntax is not obvious
    """

    python: ClassVar[str] = "str"
    metavar: ClassVar[str] = "TEXT"
    example: ClassVar[str] = ""

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted, limits included."""
        return f"a text{limits}"

    def checked(self, value: Any) -> Any:
        """Return the value in its plain form; raise ValueError for another kind."""
        if not isinstance(value, str):
            raise ValueError(value)
        return value

    def parsed(self, text: str) -> Any:
        """Parse a text; raise ValueError if it is not a value of this kind."""
        return text

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the numbers of a checked value that the limits apply to."""
        return ()


class Integer(Kind):
    """An integer; a float is rejected even if it is whole."""

    python, metavar = "int", "N"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return f"an integer{limits}"

    def checked(self, value: Any) -> Any:
        """Return the value as a Python int."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError(value)
        return int(value)

    def parsed(self, text: str) -> Any:
        """Parse an int."""
        return int(text)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the number."""
        return (value,)


class Number(Kind):
    """A finite number."""

    python, metavar = "float", "X"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return f"a number{limits}"

    def checked(self, value: Any) -> Any:
        """Return the value as a Python int or float."""
        if isinstance(value, bool) or not isinstance(value, int | float | Real):
            raise ValueError(value)
        if not math.isfinite(value):
            raise ValueError(value)
        return value if isinstance(value, int | float) else float(value)

    def parsed(self, text: str) -> Any:
        """Parse a float."""
        return float(text)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the number."""
        return (value,)


class Flag(Kind):
    """A boolean."""

    python, metavar = "bool", "true|false"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return "true or false"

    def checked(self, value: Any) -> Any:
        """Return the value as a Python bool."""
        if value not in (True, False) or isinstance(value, str):
            raise ValueError(value)
        return bool(value)

    def parsed(self, text: str) -> Any:
        """Parse true or false."""
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(text)
        return text.lower() in _TRUE


class Sizes(Integer):
    """Sizes of layers: any number of integers."""

    python, metavar, example = "tuple of int", "N,…", "192,64"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return f"integers{limits}"

    def checked(self, value: Any) -> Any:
        """Return the sizes as a tuple."""
        if not isinstance(value, tuple | list):
            raise ValueError(value)
        return tuple(super(Sizes, self).checked(v) for v in value)

    def parsed(self, text: str) -> Any:
        """Parse comma-separated integers."""
        return [int(part) for part in text.split(",")]

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return all numbers."""
        return tuple(value)


class OneOrSeveral(Sizes):
    """An integer, or several."""

    python = "int or tuple of int"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return f"an integer{limits}, or several"

    def checked(self, value: Any) -> Any:
        """Return an int or a tuple."""
        return super().checked(value) if _many(value) else Integer.checked(self, value)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return all numbers."""
        return value if _many(value) else (value,)


class SizePerType(Integer):
    """An integer, or one per node type."""

    python, metavar, example = "int, or mapping of node type to int", "N", "user=32,movie=64"

    def wanted(self, limits: str) -> str:
        """Describe the values that are accepted."""
        return f"an integer{limits}, or one per node type"

    def checked(self, value: Any) -> Any:
        """Return an int or a dict."""
        if not isinstance(value, Mapping):
            return super().checked(value)
        if not value:
            raise ValueError(value)
        return {str(t): super(SizePerType, self).checked(v) for t, v in value.items()}

    def parsed(self, text: str) -> Any:
        """Parse an integer, or ``user=32,movie=64``.

        Examples
        --------
        >>> SizePerType().parsed("user=32,movie=64")
        {'user': 32, 'movie': 64}
        """
        if "=" not in text:
            return int(text)
        parts = (part.rpartition("=") for part in next(csv.reader([text])))
        return {node_type.strip(): int(size) for node_type, _, size in parts}

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return all numbers."""
        return tuple(value.values()) if isinstance(value, Mapping) else (value,)


def _many(value: Any) -> bool:
    return isinstance(value, tuple | list)


_KINDS: dict[Any, Kind] = {
    int: Integer(),
    float: Number(),
    bool: Flag(),
    str: Kind(),
    tuple[int, ...]: Sizes(),
    int | tuple[int, ...]: OneOrSeveral(),
    int | Mapping[str, int]: SizePerType(),
}


def kind_of(annotation: Any) -> tuple[Kind, bool]:
    """Return the kind for an annotation, and whether None is allowed.

    Examples
    --------
    >>> kind, optional = kind_of(float | None)
    >>> kind.wanted(" above 0"), optional
    ('a number above 0', True)
    """
    parts = get_args(annotation)
    optional = NoneType in parts
    if optional:
        annotation = functools.reduce(operator.or_, (p for p in parts if p is not NoneType))
    return _KINDS[annotation], optional
