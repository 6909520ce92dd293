"""Options of commands for the declared parameters of `DHNE`: one each, made from its declaration.

A value is text until its declaration reads and checks it, whether it was typed or is in a config
file, so that mistakes get the same answer as in Python.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.hyperparameters import PARAMETERS, Parameter
from dhne.hyperparameters.describe import default_text
from dhne.hyperparameters.kinds import Flag

PANELS = {
    "model": "What the model is",
    "training": "How it is trained",
    "machine": "What it runs on",
}
# The seed has an option of its own, `--seed`; `--verbose` is common to all commands.
_ELSEWHERE = ("random_state", "verbose")


def declared_option(declaration: Parameter, *names: str, panel: str = "") -> Any:
    """Return the option of a parameter, with names and a panel in place of its own."""
    names = names or (declaration.option, *declaration.flags)
    example = f" Example: {declaration.kind.example}." if declaration.kind.example else ""
    shown = f"{declaration.help}{example} \\[default: {default_text(declaration)}]"
    panel = panel or PANELS[declaration.group]
    if isinstance(declaration.kind, Flag):
        both = f"{names[0]}/--no-{names[0].removeprefix('--')}"
        return typer.Option(both, help=shown, rich_help_panel=panel)
    choices = declaration.choices
    return typer.Option(
        *names,
        help=shown,
        metavar=declaration.kind.metavar if choices is None else "|".join(choices),
        callback=_reader(declaration, names[0]),
        autocompletion=_completer(choices or ()),
        rich_help_panel=panel,
        show_default=False,
    )


def _reader(declaration: Parameter, option: str) -> Callable[..., Any]:
    """Return what makes a value of the text given to an option."""

    def read(context: typer.Context, value: Any) -> Any:
        if value is None or not isinstance(value, str) or context.resilient_parsing:
            return value
        try:
            return declaration.parse(value, option)
        except (ParameterError, UnknownNameError) as error:
            source = context.get_parameter_source(option.removeprefix("--").replace("-", "_"))
            if source is not None and source.name == "DEFAULT_MAP":
                raise InputError(str(error), file=context.params.get("config")) from None
            raise

    return read


def _completer(choices: Iterable[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [c for c in choices if c.startswith(incomplete)]

    return complete


SeedOption = Annotated[str, declared_option(PARAMETERS["random_state"], "--seed", panel="The run")]


def with_parameters(*, without: Iterable[str] = ()) -> Callable[..., Callable[..., Any]]:
    """Return a decorator that gives a command one option for each declared parameter.

    The command gets them as its argument `parameters`: values by name, None where nothing was
    given and the preset decides.

    Parameters
    ----------
    without : names of parameters that the command does not take or declares itself
    """
    left_out = {*_ELSEWHERE, *without}
    options = {name: p for name, p in PARAMETERS.items() if name not in left_out}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function, eval_str=True)

        @functools.wraps(function)
        def command(**values: Any) -> Any:
            parameters = {name: values.pop(name) for name in options}
            return function(**values, parameters=parameters)

        own = [p for p in signature.parameters.values() if p.name != "parameters"]
        added = [_option(declaration) for declaration in options.values()]
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *added]
        )
        command.__annotations__ = {p.name: p.annotation for p in (*own, *added)}
        return command

    return decorate


def _option(declaration: Parameter) -> inspect.Parameter:
    kind = bool if isinstance(declaration.kind, Flag) else str
    return inspect.Parameter(
        declaration.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=_unset(declaration),
        annotation=Annotated[kind | None, declared_option(declaration)],
    )


def given_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters that were given."""
    return {n: value for n, value in parameters.items() if value != _unset(PARAMETERS[n])}


def _unset(declaration: Parameter) -> Any:
    """Return the value of an option that was not given; presets know nothing of the machine."""
    return declaration.default if declaration.group == "machine" else None
