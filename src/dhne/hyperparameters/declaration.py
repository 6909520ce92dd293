"""Declarations: all that is known of a parameter, as metadata of the dataclass field that holds it.

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
_LONGEST = 60  # characters of a value that an error message repeats


@dataclass(frozen=True)
class Limits:
    """The interval in which a number must lie; `low` and `high` belong to it."""

    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None

    def contains(self, number: Any) -> bool:
        """Return whether a number lies within."""
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
    """A declared parameter; the attributes beside those of `parameter` come from its field.

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
        """Return a value in its plain form; raise if it is not what the parameter takes.

        Parameters
        ----------
        value : object
        name : str
            What the message calls the parameter, if not by its name.
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
        """Return the value of a text, checked.

        Lists stay lists, as a config file gives them and as JSON keeps them.
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
        if len(shown) > _LONGEST:
            shown = shown[: _LONGEST - 1] + "…"
        return ParameterError(f"{name or self.name} must be {self.wanted}{example}, got {shown}")


def parameter(
    default: Any,
    *,
    help: str,  # noqa: A002 - the word that command lines use
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
        What runs saved before the parameter existed were trained with. If the preset "default"
        should use another value, set that in `PRESETS`.
    help : str
        One or two sentences, for the command line and the documentation.
    low, above, high, below : number, optional
        Limits; `low` and `high` themselves are allowed.
    choices : collection of str, optional
        The names that are allowed. It is kept, not copied: a registry may grow.
    rule : str
        Where None is the default: what the value then follows from.
    tune : str
        What a search tries by default, in the notation of ``dhne tune --search``.
    tune_with : str, optional
        The only preset with which a search tries it.
    group : {"model", "training", "machine"}
    flags : tuple of str
        Further names of the command-line option.
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
