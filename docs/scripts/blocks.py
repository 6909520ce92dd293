"""The code blocks of a page, and how to run them.

Three kinds of blocks run, page by page, in one directory and one Python namespace a page:

``python``
    as it stands
``console``
    each line that begins with ``$ dhne`` is a command, what follows it its output
``bash``
    each line that begins with ``dhne`` is a command; others (make, pip) are only shown

A ``text`` block right below a ``python`` block is what that one prints.

A comment before a block says what a test does differently; the page's own reader sees none of it:

``<!-- test: with --epochs 1 -->``  adds options to the block's first command, to make it short
``<!-- test: instead dhne … -->``   runs another, short command that leaves the same files
``<!-- test: table -->``            a small ``tags.csv`` is there before
``<!-- test: needs data -->``       skips it where the paper's datasets are not at hand
``<!-- test: needs gpu -->``        skips it where there is no CUDA device
``<!-- test: fails -->``            the command must end with exit status 1
``<!-- test: output -->``           what it prints must be what stands on the page
``<!-- test: shown only -->``       is not run: it is a sketch, or takes the whole day
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/home/me"  # what pages call the directory that they are run in
ROOT = Path(__file__).resolve().parents[2]
_GENERATED = ("results.md", "performance.md")  # records: their commands ran for hours
_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>python|console|bash|text)\s*$")
_NOTE = re.compile(r"^<!-- test: (?P<note>.+?) -->$")


@dataclass
class Command:
    """One command line of a block, and the output that the page shows for it."""

    words: list[str]
    shown: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A code block: its kind, its lines, and where they stand in the page."""

    page: Path
    line: int  # of the fence, counted from 1
    kind: str
    lines: list[str]
    note: str = ""
    output: Block | None = None  # what a python block prints, if the page shows it

    @property
    def code(self) -> str:
        """The lines as text, preceded by as many empty ones as make line numbers right."""
        return "\n" * self.line + "\n".join(self.lines) + "\n"

    def commands(self) -> list[Command]:
        """The commands of a console or bash block."""
        found: list[Command] = []
        prompt = "$ " if self.kind == "console" else ""
        for line in _joined(self.lines):
            if line.startswith(f"{prompt}dhne"):
                found.append(Command(shlex.split(line.removeprefix(prompt))[1:]))
            elif found and self.kind == "console":
                found[-1].shown.append(line)
        if self.note.startswith("instead "):
            return [Command(shlex.split(self.note.removeprefix("instead "))[1:])]
        if self.note.startswith("with ") and found:
            found[0].words += shlex.split(self.note.removeprefix("with "))
        return found


def _joined(lines: list[str]) -> Iterator[str]:
    """Join lines that end in a backslash with the next."""
    waiting = ""
    for line in lines:
        if line.endswith("\\"):
            waiting += line[:-1]
        else:
            yield waiting + line
            waiting = ""


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that can be run, in their order."""
    found: list[Block] = []
    block: Block | None = None
    note, before = "", None  # the python block that nothing but blank lines separates from here
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if block is not None:
            if line.strip() == "```":
                if block.kind != "text":
                    found.append(block)
                elif before is not None:
                    before.output = block
                before = block if block.kind == "python" else None
                block, note = None, ""
            else:
                block.lines.append(line)
        elif match := _FENCE.match(line):
            block = Block(page, number, match["kind"], [], note)
        elif match := _NOTE.match(line):
            note, before = match["note"], None
        elif line.strip():
            note, before = "", None
    return found


def pages() -> list[Path]:
    """Return the README and every page that has blocks to run, generated ones left out."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    written = [p for p in candidates if "_build" not in p.parts and p.name not in _GENERATED]
    return [p for p in written if p.is_file() and blocks_of(p)]
