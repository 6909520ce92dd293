"""Kinds of values that a parameter may have: how one is checked, read from text and described.

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
    python : the type, as documentation writes it
    metavar : what stands for the value in the help of a command
    example : how to type a value that is not obvious
    """

    python: ClassVar[str] = "str"
    metavar: ClassVar[str] = "TEXT"
    example: ClassVar[str] = ""

    def wanted(self, limits: str) -> str:
        """Return what a value must be, limits included."""
        return f"a text{limits}"

    def checked(self, value: Any) -> Any:
        """Return the value in its plain form; raise ValueError if it is of another kind."""
        if not isinstance(value, str):
            raise ValueError(value)
        return value

    def parsed(self, text: str) -> Any:
        """Return the value of a text; raise ValueError if it has none."""
        return text

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the numbers of a checked value that must lie within the limits."""
        return ()


class Integer(Kind):
    """A whole number; a float is refused even where it is whole."""

    python, metavar = "int", "N"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return f"an integer{limits}"

    def checked(self, value: Any) -> Any:
        """Return it as Python's int."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError(value)
        return int(value)

    def parsed(self, text: str) -> Any:
        """Read an int."""
        return int(text)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the number itself."""
        return (value,)


class Number(Kind):
    """A finite number."""

    python, metavar = "float", "X"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return f"a number{limits}"

    def checked(self, value: Any) -> Any:
        """Return it as Python's int or float."""
        if isinstance(value, bool) or not isinstance(value, int | float | Real):
            raise ValueError(value)
        if not math.isfinite(value):
            raise ValueError(value)
        return value if isinstance(value, int | float) else float(value)

    def parsed(self, text: str) -> Any:
        """Read a float."""
        return float(text)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return the number itself."""
        return (value,)


class Flag(Kind):
    """Yes or no."""

    python, metavar = "bool", "true|false"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return "true or false"

    def checked(self, value: Any) -> Any:
        """Return it as Python's bool."""
        if value not in (True, False) or isinstance(value, str):
            raise ValueError(value)
        return bool(value)

    def parsed(self, text: str) -> Any:
        """Read true or false."""
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(text)
        return text.lower() in _TRUE


class Sizes(Integer):
    """Sizes of layers: any number of integers."""

    python, metavar, example = "tuple of int", "N,…", "192,64"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return f"integers{limits}"

    def checked(self, value: Any) -> Any:
        """Return them as a tuple."""
        if not isinstance(value, tuple | list):
            raise ValueError(value)
        return tuple(super(Sizes, self).checked(v) for v in value)

    def parsed(self, text: str) -> Any:
        """Read integers with commas in between."""
        return [int(part) for part in text.split(",")]

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return all of them."""
        return tuple(value)


class OneOrSeveral(Sizes):
    """An integer, or several."""

    python = "int or tuple of int"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return f"an integer{limits}, or several"

    def checked(self, value: Any) -> Any:
        """Return an int or a tuple."""
        return super().checked(value) if _many(value) else Integer.checked(self, value)

    def numbers(self, value: Any) -> tuple[Any, ...]:
        """Return all of them."""
        return value if _many(value) else (value,)


class SizePerType(Integer):
    """An integer, or one per node type."""

    python, metavar, example = "int, or mapping of node type to int", "N", "user=32,movie=64"

    def wanted(self, limits: str) -> str:
        """Return what a value must be."""
        return f"an integer{limits}, or one per node type"

    def checked(self, value: Any) -> Any:
        """Return an int or a dict."""
        if not isinstance(value, Mapping):
            return super().checked(value)
        if not value:
            raise ValueError(value)
        return {str(t): super(SizePerType, self).checked(v) for t, v in value.items()}

    def parsed(self, text: str) -> Any:
        """Read an integer, or ``user=32,movie=64``.

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
        """Return all of them."""
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
    """Return the kind that an annotation means, and whether None is allowed.

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
