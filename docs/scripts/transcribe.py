"""Run pages and insert what their commands and programs print.

``python docs/scripts/transcribe.py docs/tutorials/own-table.md`` runs every block of the page in an
empty directory, in order. The output below each command of a ``console`` block, and the ``text``
block below a ``python`` block, are replaced by the actual output. The name of that directory is
shown as ``/home/me``.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from blocks import HOME, Block, blocks_of, write_table

_ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "88",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def transcribe(page: Path) -> None:
    """Replace the outputs of a page."""
    replaced: list[tuple[Block, list[str]]] = []
    namespace: dict[str, Any] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks_of(page):
            if any(note == "shown only" or note.startswith("needs") for note in block.notes):
                continue
            if "table" in block.notes:
                write_table(Path("tags.csv"))
            if block.kind == "python":
                printed = _run_python(block, namespace)
                if block.output is not None:
                    replaced.append((block.output, printed))
            elif block.kind == "console":
                replaced.append((block, _run_console(block)))
            else:
                for line in block.lines:
                    if line.startswith("dhne"):
                        _run_command(line)
    text = page.read_text(encoding="utf-8").splitlines()
    for block, new in reversed(replaced):
        new = [line.replace(os.path.realpath(folder), HOME) for line in new]
        text[block.line : block.line + len(block.lines)] = new
    page.write_text("\n".join(text) + "\n", encoding="utf-8")


def _run_python(block: Block, namespace: dict[str, Any]) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = compile(block.code, block.page.name, "exec", dont_inherit=True)
        exec(code, namespace)  # noqa: S102 - our own pages
    return _trimmed(printed.getvalue().splitlines())


def _run_console(block: Block) -> list[str]:
    lines: list[str] = []
    for command in _commands(block.lines):
        text = "\n".join(command).removeprefix("$ ")
        lines += [*command, *_trimmed(_run_command(text)), ""]
    return _trimmed(lines)


def _commands(lines: list[str]) -> list[list[str]]:
    """Return the commands of a transcript, each with its continuation lines."""
    found: list[list[str]] = []
    goes_on = False
    for line in lines:
        if goes_on:
            found[-1].append(line)
        elif line.startswith("$ "):
            found.append([line])
        else:
            continue
        goes_on = line.endswith("\\")
    return found


def _run_command(text: str) -> list[str]:
    """Run a command; stop the explorer once it has printed its address."""
    serves = text.startswith("dhne explore")
    with subprocess.Popen(
        f"exec {text} --no-browser" if serves else text,
        shell=True,
        env=_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line.rstrip())
            if serves and "http://127.0.0.1" in line:
                process.terminate()
                break
    if not serves and process.returncode not in (0, 1):
        raise SystemExit("\n".join([text, *printed]))
    return printed


def _trimmed(lines: list[str]) -> list[str]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return [line.rstrip() for line in lines[filled[0] : filled[-1] + 1]] if filled else []


if __name__ == "__main__":
    for name in sys.argv[1:]:
        transcribe(Path(name).resolve())
