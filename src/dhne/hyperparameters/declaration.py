"""Declarations of parameters, stored as metadata of the dataclass fields that hold them.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Example:
...     rate: float = parameter(0.1, above=0, high=1, help="Learning rate.")
>>> rate = declared(Example)["rate"]
>>> rate.check(0.5), rate.parse("0.25"), rate.wanted
(0.5, 0.25, 'a number above 0 and at most 1')
>>> rate.check(2)
Traceback (most recent call last):
...
dhne.errors.ParameterError: rate must be a number above 0 and at most 1, got 2
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, get_type_hints

from dhne.errors import ParameterError, UnknownNameError

from .kinds import Kind, kind_of

_KEY = "dhne.parameter"
_LONGEST_CHARACTERS = 60  # of a value quoted in an error message


@dataclass(frozen=True)
class Limits:
    """The allowed range of a number; `low` and `high` are inclusive."""

    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None

    def contains(self, number: Any) -> bool:
        """Return whether a number is within the limits."""
        return (
            (self.low is None or number >= self.low)
            and (self.above is None or number > self.above)
            and (self.high is None or number <= self.high)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"between {self.low} and {self.high}"
        ends = (
            ("at least", self.low),
            ("above", self.above),
            ("at most", self.high),
            ("below", self.below),
        )
        return " and ".join(f"{word} {end}" for word, end in ends if end is not None)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A declared parameter: the arguments of `parameter`, and what its field adds.

    Attributes
    ----------
    name : str
    kind : Kind
        From the field's annotation.
    optional : bool
        Whether None is allowed.
    default : object
    """

    help: str
    limits: Limits = Limits()
    choices: Collection[str] | None = None
    rule: str = ""
    tune: str = ""
    tune_with: str | None = None
    group: str = "training"
    flags: tuple[str, ...] = ()
    name: str = ""
    kind: Kind = field(default_factory=Kind)
    optional: bool = False
    default: Any = None

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        limits = str(self.limits)
        if limits.startswith("at "):
            limits = f"of {limits}"
        return self.kind.wanted(f" {limits}" if limits else "")

    @property
    def option(self) -> str:
        """The name of the command-line option."""
        return "--" + self.name.replace("_", "-")

    def check(self, value: Any, name: str = "") -> Any:
        """Return the value in its plain form; raise if the parameter does not accept it.

        Parameters
        ----------
        value : object
        name : str
            The parameter's name in error messages, if different.
        """
        if value is None and self.optional:
            return None
        try:
            checked = self.kind.checked(value)
        except ValueError:
            raise self._error(value, name) from None
        if self.choices is not None and checked not in self.choices:
            raise UnknownNameError(name or self.name, value, self.choices)
        if not all(self.limits.contains(number) for number in self.kind.numbers(checked)):
            raise self._error(value, name)
        return checked

    def parse(self, text: str, name: str = "") -> Any:
        """Parse a text and return the checked value.

        Lists stay lists, as in config files and JSON.
        """
        try:
            value = self.kind.parsed(text.strip())
            self.check(value, name)
        except ValueError:  # a ParameterError is one
            raise self._error(text, name) from None
        return value

    def _error(self, value: Any, name: str) -> ParameterError:
        typed = self.kind.example and isinstance(value, str)
        example = f" (such as {self.kind.example})" if typed else ""
        shown = repr(value)
        if len(shown) > _LONGEST_CHARACTERS:
            shown = shown[: _LONGEST_CHARACTERS - 1] + "…"
        return ParameterError(f"{name or self.name} must be {self.wanted}{example}, got {shown}")


def parameter(
    default: Any,
    *,
    help: str,  # noqa: A002 - the usual term on command lines
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    choices: Collection[str] | None = None,
    rule: str = "",
    tune: str = "",
    tune_with: str | None = None,
    group: str = "training",
    flags: tuple[str, ...] = (),
) -> Any:
    """Return the dataclass field of a parameter; its annotation is the parameter's kind.

    Parameters
    ----------
    default : object
        The value for runs saved before the parameter existed. If the preset "default" should use
        another value, set that in `PRESETS`.
    help : str
        One or two sentences, for the command line and the documentation.
    low, above, high, below : number, optional
        Limits; `low` and `high` themselves are allowed.
    choices : collection of str, optional
        The allowed names. Not copied, so that a registry can grow.
    rule : str
        If the default is None: how the value is determined.
    tune : str
        Default search range, in the notation of ``dhne tune --search``.
    tune_with : str, optional
        Search over it only with this preset.
    group : {"model", "training", "machine"}
    flags : tuple of str
        Additional names of the command-line option.
    """
    declaration = Parameter(
        help=help,
        limits=Limits(low, above, high, below),
        choices=choices,
        rule=rule,
        tune=tune,
        tune_with=tune_with,
        group=group,
        flags=flags,
        default=default,
    )
    return field(default=default, metadata={_KEY: declaration})


def declared(cls: type[Any]) -> dict[str, Parameter]:
    """Return the declared parameters of a dataclass by name, in order."""
    key: Any = cls
    return _declared(key)


@cache
def _declared(cls: Any) -> dict[str, Parameter]:
    hints, found = get_type_hints(cls), {}
    for f in fields(cls):
        if _KEY in f.metadata:
            kind, optional = kind_of(hints[f.name])
            found[f.name] = replace(f.metadata[_KEY], name=f.name, kind=kind, optional=optional)
    return found
