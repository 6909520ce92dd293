"""A small run, and the command line as a function, for tests of commands that use runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne.cli import main

TAGS = """userId,movieId,tag,when
ann,Heat,heist,1
bob,Heat,noir,2
bob,Alien,space,3
cy,Alien,space,4
ann,Alien,horror,5
cy,Heat,heist,6
dee,12 Monkeys,time travel,7
dee,Heat,noir,8
"""
COLUMNS = "user=userId,movie=movieId,tag"
FAST = ("--kernels", "reference", "--device", "cpu", "--dim", "4", "--batch-size", "4")


class CommandLine:
    """Runs commands and gives (status, output, complaints)."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self.capsys.readouterr()
        status = main([str(a) for a in arguments])
        captured = self.capsys.readouterr()
        return status, captured.out, captured.err


def make_run(folder: Path, *options: str) -> Path:
    """Write the table, train on it and return the run."""
    table, run = folder / "tags.csv", folder / "run"
    table.write_text(TAGS)
    arguments = ["train", str(table), "--columns", COLUMNS, "--out", str(run), "--epochs", "6"]
    assert main([*arguments, *FAST, *options]) == 0
    return run
