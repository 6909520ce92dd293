"""Descriptions of parameters for docstrings and the command line."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .declaration import Parameter
from .presets import PRESETS

_PLACE = "<parameters>"
_WIDTH = 92
Class = TypeVar("Class", bound=type[Any])


def default_text(parameter: Parameter) -> str:
    """Return the default value as readable text.

    Examples
    --------
    >>> from .arguments import PARAMETERS
    >>> default_text(PARAMETERS["dim"]), default_text(PARAMETERS["epochs"])
    ('64', 'from the number of hyperedges')
    """
    return value_text(parameter, getattr(PRESETS["default"], parameter.name, parameter.default))


def value_text(parameter: Parameter, value: Any) -> str:
    """Return a value as readable text; for None, the parameter's rule."""
    if value is None:
        return parameter.rule
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def preset_texts(parameter: Parameter) -> dict[str, str]:
    """Return the presets that override the default, with their values."""
    if not hasattr(PRESETS["default"], parameter.name):
        return {}
    texts = {n: value_text(parameter, getattr(s, parameter.name)) for n, s in PRESETS.items()}
    usual = texts.pop("default")
    return {name: text for name, text in texts.items() if text != usual}


def docstring_section(parameters: Iterable[Parameter]) -> str:
    """Return the parameters as a section of a NumPy-style docstring."""
    lines = []
    for p in parameters:
        kind = p.kind.python
        if p.choices is not None:
            kind = "{" + ", ".join(f'"{c}"' for c in p.choices) + "}"
        lines.append(f"{p.name} : {kind}, default {default_text(p)}")
        about = p.help
        if str(p.limits):
            about += f" {str(p.limits).capitalize()}."
        if presets := preset_texts(p):
            about += " Presets: " + "; ".join(f"{n} {text}" for n, text in presets.items()) + "."
        lines += textwrap.wrap(about, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def documented(parameters: Iterable[Parameter]) -> Callable[[Class], Class]:
    """Return a class decorator that replaces <parameters> in the docstring."""

    def fill(cls: Class) -> Class:
        if cls.__doc__ is not None:  # python -OO strips docstrings
            section = textwrap.indent(docstring_section(parameters), "    ").strip()
            cls.__doc__ = cls.__doc__.replace(_PLACE, section)
        return cls

    return fill
