"""What the commands have in common when they speak: tables, JSON, and one-line complaints."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dhne.workers import rank

_LONGEST_MESSAGE = 600
# C0 and C1 control characters, and those that change the direction of the text around them
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Verbosity(IntEnum):
    """How much is printed besides the answer."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_verbosity = Verbosity.NORMAL


def set_verbosity(level: Verbosity) -> None:
    """Say more or less from now on."""
    global _verbosity  # noqa: PLW0603  one command line, one voice
    _verbosity = level


def is_quiet() -> bool:
    """Whether only answers and errors are wanted."""
    return _verbosity == Verbosity.QUIET


def is_verbose() -> bool:
    """Whether everything is wanted."""
    return _verbosity == Verbosity.VERBOSE


def console() -> Console:
    """Return the console for results; colours only on a terminal, and not with ``NO_COLOR``."""
    return Console(highlight=False)


def visible(text: str) -> str:
    r"""Return `text` with control characters escaped: data must not control a terminal.

    Examples
    --------
    >>> visible("Heat\x1b[2J") == "Heat" + chr(92) + "x1b[2J"
    True
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def complain(kind: str, message: object) -> None:
    """Report an error in one line on standard error."""
    stream: IO[str] = sys.stderr
    text = visible(" ".join(str(message).split()))
    if not is_verbose():
        text = _shortened(text)
    colour = {"error": "bold red", "warning": "yellow"}.get(kind, "")
    line = Text.assemble(("dhne: ", ""), (f"{kind}: ", colour), text)
    Console(file=stream, stderr=True, highlight=False, soft_wrap=True).print(line)


def _shortened(text: str) -> str:
    """Return a long message without its middle; the advice is at its end."""
    if len(text) <= _LONGEST_MESSAGE:
        return text
    return text[: _LONGEST_MESSAGE - 201] + " … " + text[-198:]


def note(message: str) -> None:
    """Say on standard error what has been done; standard output stays for results."""
    if is_quiet() or rank():
        return
    lines = "\n".join(visible(line) for line in message.split("\n"))
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(lines))


def this_command() -> str:
    """Return what to type to run this command line again from the same directory."""
    program = sys.argv[0]
    if Path(program).stem != "dhne":  # python -m dhne
        return f"{shlex.quote(sys.executable)} -m dhne"
    found = shutil.which("dhne")
    if found is not None and Path(found).resolve() == Path(program).resolve():
        return "dhne"
    return shlex.quote(program)


def write_json(data: Any, target: str) -> None:
    """Write `data` as JSON to the file `target`, or to standard output if it is ``-``."""
    from dhne.files import plain_json

    data = plain_json.plain(data, finite=True, other=str)  # dates of a table, say
    if target == "-":
        sys.stdout.write(plain_json.as_json(data, indent=2, ascii_only=False) + "\n")
    else:
        plain_json.write_json(target, data)


def make_table(title: str, columns: Sequence[str], *, left: Sequence[str] = ()) -> Table:
    """Return a table: columns `left` to the left and wrapped where the terminal is narrow.

    The other columns hold numbers, which are right-aligned and never truncated.
    """
    table = Table(
        title=Text(visible(title)),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    for name in columns:
        heading = Text(visible(name))
        if name in left:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    return table


def shorten(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters, with an ellipsis if something is left out."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def add_row(table: Table, *cells: object) -> None:
    """Add a row; names from data are never taken for markup, numbers get thousands separators."""
    table.add_row(*(Text(visible(_show(c))) for c in cells))


def _show(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        whole = abs(value) >= 1000 or (abs(value) >= 1 and value == round(value))
        return f"{value:,.0f}" if whole and abs(value) < 1e15 else f"{value:.3g}"
    return str(value)
