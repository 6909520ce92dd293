"""The command-line reference, generated from the commands whenever the pages are built.

``dhne COMMAND --help`` uses the same objects, so the two cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from dhne.cli.registry import COMMANDS, make_app

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_MARKUP = re.compile(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red)\]")
_DEFAULT = re.compile(r"\\?\[default: (.*?)\]")
_GENERAL = "Options"
_VALUES = {int: "N", float: "X", Path: "PATH"}


def write_reference(app: Sphinx) -> None:
    """Write the reference to the file that ``docs/command-line.md`` includes."""
    folder = Path(app.srcdir) / "_build"
    folder.mkdir(exist_ok=True)
    text = "\n".join(line for name, _ in COMMANDS for line in _command(name))
    (folder / "command-line.md").write_text(text, encoding="utf-8")


def _command(name: str) -> Iterator[str]:
    command = make_app([name]).commands[name]
    yield from _section(command, f"dhne {name}", level=2)
    for inner, sub in getattr(command, "commands", {}).items():
        yield from _section(sub, f"dhne {name} {inner}", level=3)


def _section(command: Any, title: str, level: int) -> Iterator[str]:
    """One command: description, usage, options and examples."""
    about, examples = _split_help(command.help or "")
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    yield f"\n{'#' * level} {title}\n"
    yield about + "\n"
    usage = " ".join([title, "[OPTIONS]", *(_metavar(a) for a in arguments)])
    yield f"```text\n{usage}\n```\n"
    if arguments:
        yield from _table("argument", [(f"`{_metavar(a)}`", _meaning(a)) for a in arguments])
    panels: dict[str, list[Any]] = {}
    for option in options:
        panels.setdefault(getattr(option, "rich_help_panel", None) or _GENERAL, []).append(option)
    for panel in sorted(panels, key=lambda p: p == _GENERAL):  # general options come last
        rows = [(_flags(option), _meaning(option)) for option in panels[panel]]
        yield from _table(panel.lower() if panel == _GENERAL else panel, rows)
    if examples:
        yield "Examples:\n\n```bash\n" + "\n".join(examples) + "\n```\n"


def _split_help(text: str) -> tuple[str, list[str]]:
    """Return the description and the example lines."""
    paragraphs = [" ".join(_MARKUP.sub("", p).split()) for p in text.split("\n\n")]
    paragraphs = [p for p in paragraphs if p]
    begin = next((i for i, p in enumerate(paragraphs) if p.startswith("Example")), len(paragraphs))
    examples = [p for p in paragraphs[begin:] if p.startswith("dhne")]
    return "\n\n".join(_escaped(p) for p in paragraphs[:begin]), examples


def _table(title: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"| {title} | |\n| --- | --- |"
    yield from (f"| {left} | {right} |" for left, right in rows)
    yield ""


def _flags(option: Any) -> str:
    names = sorted([*option.opts, *option.secondary_opts], key=len, reverse=True)
    names = [*(n for n in names if n in option.opts), *(n for n in names if n not in option.opts)]
    value = "" if option.is_flag else f" {_metavar(option)}"
    return ", ".join(f"`{name}`" for name in names) + (f" `{value.strip()}`" if value else "")


def _metavar(parameter: Any) -> str:
    """Return the name of the value in the usage line."""
    if parameter.metavar:
        return str(parameter.metavar).strip("{}").replace("|", "\\|")
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    kinds = _kinds(parameter.type_descriptor.annotation)
    members = [m.value for kind in kinds for m in getattr(kind, "__members__", {}).values()]
    if choices := [*members, *(kind for kind in kinds if isinstance(kind, str))]:
        return "\\|".join(choices)
    return next((_VALUES[kind] for kind in kinds if kind in _VALUES), "TEXT")


def _kinds(annotation: Any) -> list[Any]:
    """Return the types of an annotation such as ``int | None``."""
    inner = get_args(annotation)
    return [kind for part in inner for kind in _kinds(part)] if inner else [annotation]


def _meaning(parameter: Any) -> str:
    text = " ".join(_MARKUP.sub("", parameter.help or "").split())
    text = _escaped(_DEFAULT.sub(r"Default: \1.", text))
    if parameter.required and parameter.param_type_name == "option":
        return f"{text} *Required.*"
    shown = parameter.show_default
    default = shown if isinstance(shown, str) else parameter.default
    plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    if plain and shown and str(default):
        return f"{text} Default: {_escaped(str(default))}."
    return text


def _escaped(text: str) -> str:
    """Return the text with Markdown characters escaped."""
    return re.sub(r"([\\|*_<>\[\]])", r"\\\1", text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the reference before any page is read."""
    app.connect("builder-inited", write_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
