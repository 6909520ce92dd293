"""``--config FILE.toml``: options from a file, flags on top.

A key is an option's name without its dashes, ``learning-rate`` or ``learning_rate``, or that of an
argument (``sources``). Keys at the top are for every command that reads the file; those in a table
of a command's name are for that command and override them::

    sources = "tags.csv"
    columns = { user = "userId", movie = "movieId", tag = "tag" }

    [train]
    dim = 64
    hidden = [192, 64]

    [tune]
    trials = 50
    search = { alpha = "0.01:10:log" }

What is typed goes before what is in the file.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dhne.errors import InputError, suggest
from dhne.files.reading import one_line

# Options whose tables are one text per key; any other table is one text, user=userId,movie=movieId.
_ONE_EACH = ("setting", "search")


def _load(context: typer.Context, value: Path | None) -> Path | None:
    """Make the file's values the defaults of this command."""
    if value is None or context.resilient_parsing:
        return value
    known = {p.name: p for p in context.command.params if p.name not in ("config", "help")}
    context.default_map = read_config_file(value, str(context.info_name), known)
    return value


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        is_eager=True,
        callback=_load,
        help="Take options from a TOML file; command-line options override it.",
    ),
]


def read_config_file(path: Path, command: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file for a command, by parameter.

    Parameters
    ----------
    path : path
    command : str
    known : mapping of name to parameter
        The command's parameters, as Typer keeps them.
    """
    from .registry import COMMANDS

    data = _parse(path)
    commands = [name for name, _ in COMMANDS]
    own = data.get(command, {})
    if not isinstance(own, dict):
        raise InputError(f"[{command}] must be a table of options", file=path)
    top = {k: v for k, v in data.items() if k not in commands}
    given = _named(top, known, path, where="", tables=commands)
    given |= _named(own, known, path, where=f"[{command}] ", tables=())
    return {name: _value(name, value, known[name], path) for name, value in given.items()}


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", file=path) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {one_line(error)}", file=path) from None
    except RecursionError:
        raise InputError("nested too deeply", file=path) from None
    except ValueError:
        raise InputError("contains a number with thousands of digits", file=path) from None


def _named(
    given: Mapping[str, Any], known: Mapping[str, Any], path: Path, *, where: str, tables: Any
) -> dict[str, Any]:
    """Return values by parameter; an unknown key raises, with near ones suggested."""
    names: dict[str, str] = {}
    for name, parameter in known.items():
        spelled = [o.lstrip("-") for o in parameter.opts if o.startswith("--")]
        names |= {s.replace("-", "_"): name for s in [name, *spelled]}
    found = {}
    for key, value in given.items():
        spelled_alike = key.replace("-", "_")
        if spelled_alike not in names:
            near = suggest(spelled_alike, [*names, *tables])
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            kind = "table" if isinstance(value, dict) and not hint else "option"
            raise InputError(f"{where}unknown {kind} {key!r}{hint}", file=path)
        found[names[spelled_alike]] = value
    return found


def _value(name: str, value: Any, parameter: Any, path: Path) -> Any:
    """Return a value as it would be typed: lists and tables become texts with commas."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if isinstance(value, dict):
        pairs = [f"{k}={_text(v)}" for k, v in value.items()]
        value = pairs if name in _ONE_EACH else ",".join(pairs)
    if isinstance(value, list):
        value = [_text(v) for v in value] if several else ",".join(map(_text, value))
    if isinstance(value, bool) != bool(getattr(parameter, "is_flag", False)):
        wanted = "true or false" if getattr(parameter, "is_flag", False) else "a value"
        raise InputError(f"the option {name!r} takes {wanted}, not {_text(value)}", file=path)
    return [value] if several and not isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{k}={_text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, default=str)
