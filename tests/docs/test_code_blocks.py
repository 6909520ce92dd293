"""Every code block of the README and of the documentation runs; see docs/scripts/blocks.py."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dhne.cli import main
from dhne.methods.registry import METHODS, unregister
from docs.scripts.blocks import HOME, ROOT, Block, Command, blocks_of, pages, write_table

WIDTH = "88"  # of the transcripts
TIMES = re.compile(r"\b\d+(\.\d+)? s\b|\b\d+ MiB\b")


@pytest.fixture(autouse=True)
def methods_are_forgotten() -> Iterator[None]:
    """Forget the methods that a page registers."""
    before = set(METHODS)
    yield
    for name in set(METHODS) - before:
        unregister(name)


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setenv("NO_COLOR", "1")
    missing: list[str] = []
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(page):
        if reason := cannot_run(block, monkeypatch):
            missing.append(f"{page.name}:{block.line}: {reason}")
        elif block.kind == "python":
            run_python(block, namespace)
        else:
            for command in block.commands():
                run_command(command, block)
    if missing:  # all other blocks of the page have run
        pytest.skip("; ".join(missing))


def cannot_run(block: Block, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return why a block cannot run here; make ready what it needs."""
    if "table" in block.notes:
        write_table(Path("tags.csv"))
    if "needs data" in block.notes:
        path = Path(os.environ.get("DHNE_DATA") or ROOT.parent / "shared" / "data").resolve()
        if not path.is_dir():
            return "the paper's datasets are not here; set DHNE_DATA to their directory"
        monkeypatch.setenv("DHNE_DATA", str(path))
    if "needs gpu" in block.notes:
        import torch

        if not torch.cuda.is_available():
            return "there is no CUDA device"
    return ""


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    if "shown only" in block.notes:
        compile(block.code, str(block.page), "exec")
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = compile(block.code, str(block.page), "exec", dont_inherit=True)
        exec(code, namespace)  # noqa: S102 - our own pages
    if "output" in block.notes:
        assert block.output is not None
        assert lines_of(printed.getvalue()) == lines_of("\n".join(block.output.lines))


def run_command(command: Command, block: Block) -> None:
    where = f"{block.page.name}:{block.line}: dhne {' '.join(command.words)}"
    if "shown only" in block.notes:
        return
    if command.words[0] == "explore":
        assert page_is_served(command.words), where
        return
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(command.words)
    expected = 1 if "fails" in block.notes else 0
    assert status == expected, f"{where}\n{out.getvalue()}{errors.getvalue()}"
    if "fails" in block.notes:
        assert errors.getvalue().startswith("dhne: error:"), where
    if "output" in block.notes:
        printed = lines_of(out.getvalue() + errors.getvalue())
        assert printed == lines_of("\n".join(command.shown)), where


def page_is_served(words: list[str]) -> bool:
    """Serve a run as the command says, look at its page, and stop."""
    command = [sys.executable, "-m", "dhne", *words]
    if "--no-browser" not in words:
        command.append("--no-browser")
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if address := re.search(r"http://127\.0\.0\.1:\d+/", line):
                    with urllib.request.urlopen(address[0]) as page:
                        return b"<!doctype html>" in page.read().lower()
        finally:
            process.terminate()
    return False


def lines_of(text: str) -> list[str]:
    """Return the lines that say something, without what differs from machine to machine."""
    text = TIMES.sub("…", text).replace(os.path.realpath("."), HOME)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_a_page_tells_its_blocks_apart(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- test: output -->\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nThen\n\n"
        "<!-- test: with -k 2 -->\n```console\n$ dhne rank run \\\n    a=?\nanswer\n$ ls\n```\n"
        "```text\nnot an output\n```\n"
    )
    python, console = blocks_of(page)
    assert python.notes == ["output"]
    assert python.output is not None
    assert python.output.lines == ["1"]
    assert console.commands() == [Command(["rank", "run", "a=?", "-k", "2"], ["answer", "$ ls"])]
