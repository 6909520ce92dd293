"""The code blocks of a page, and how to run them.

Three kinds of blocks run, in one directory and one Python namespace per page:

``python``
    runs as it is
``console``
    each line that starts with ``$ dhne`` is a command, followed by its output
``bash``
    each line that starts with ``dhne`` is a command; others (make, pip) are only shown

A ``text`` block right below a ``python`` block is its output.

A comment before a block tells the test what to do differently, separated by semicolons; readers of
the page do not see it:

``<!-- test: with --epochs 1 -->``  adds options to the block's first command, to make it short
``<!-- test: instead dhne … -->``   runs a shorter command that leaves the same files
``<!-- test: table -->``            creates a small ``tags.csv`` first
``<!-- test: needs data -->``       skipped if the paper's datasets are not available
``<!-- test: needs gpu -->``        skipped if there is no CUDA device
``<!-- test: fails -->``            must exit with status 1 and a one-line error
``<!-- test: output -->``           its output must match the page
``<!-- test: shown only -->``       not run: a sketch, or takes hours
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/home/me"  # the working directory, as pages show it
ROOT = Path(__file__).resolve().parents[2]
_GENERATED = ("results-full.md", "benchmarks.md", "measurements.md")  # their commands take hours
_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>python|console|bash|text)\s*$")
_NOTE = re.compile(r"^<!-- test: (?P<notes>.+?) -->$")


@dataclass
class Command:
    """One command line of a block, and the output that the page shows for it."""

    words: list[str]
    shown: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A code block: its kind, its lines, and where they are in the page."""

    page: Path
    line: int  # of the fence, counting from 1
    kind: str
    lines: list[str]
    notes: list[str] = field(default_factory=list)
    output: Block | None = None  # what a python block prints, if the page shows it

    @property
    def code(self) -> str:
        """The lines as text, after enough empty ones to make line numbers match the page."""
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
        for note in self.notes:
            kind, _, words = note.partition(" ")
            if kind == "instead":
                return [Command(shlex.split(words)[1:])]
            if kind == "with":
                found[0].words += shlex.split(words)
        return found


def _joined(lines: list[str]) -> Iterator[str]:
    """Join lines that end in a backslash with the next one."""
    waiting = ""
    for line in lines:
        if line.endswith("\\"):
            waiting += line[:-1]
        else:
            yield waiting + line
            waiting = ""


def blocks_of(page: Path) -> list[Block]:
    """Return the runnable blocks of a page, in order."""
    found: list[Block] = []
    block: Block | None = None
    notes: list[str] = []
    before = None  # the python block that only blank lines separate from here
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if block is not None:
            if line.strip() == "```":
                if block.kind != "text":
                    found.append(block)
                elif before is not None:
                    before.output = block
                before = block if block.kind == "python" else None
                block, notes = None, []
            else:
                block.lines.append(line)
        elif match := _FENCE.match(line):
            block = Block(page, number, match["kind"], [], notes)
        elif match := _NOTE.match(line):
            notes, before = match["notes"].split("; "), None
        elif line.strip():
            notes, before = [], None
    return found


def pages() -> list[Path]:
    """Return the README and all pages with blocks to run, except generated ones."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    written = [p for p in candidates if "_build" not in p.parts and p.name not in _GENERATED]
    return [p for p in written if p.is_file() and blocks_of(p)]


def write_table(path: Path) -> None:
    """Write a small table like the tutorial's: 20 people, 30 films, six tags."""
    tags = ("heist", "noir", "duel", "aliens", "wedding", "zombies")
    pairs = [(i * 7 % 20, i * 11 % 30) for i in range(400)]
    rows = [f"user{u},Silent River {1980 + m},{tags[(u + m) % 6]},0" for u, m in pairs]
    path.write_text("\n".join(["userId,title,tag,timestamp", *rows]) + "\n")
