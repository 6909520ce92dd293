"""What reaches the terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dhne.cli.output import Verbosity, add_row, complain, console, make_table, note, set_verbosity
from tests.cli.runs import CommandLine

EVIL = "Heat\x1b[2J\x07\u202eevil\x9b31m"


def is_harmless(text: str) -> bool:
    return not any(c in text for c in "\x1b\x07\u202e\x9b")


def test_names_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table(EVIL, [EVIL], left=[EVIL])
    add_row(table, EVIL)
    console().print(table)
    complain("error", f"unknown {EVIL}")
    note(f"{EVIL}\nsecond line")
    out, err = capsys.readouterr()
    assert is_harmless(out)
    assert is_harmless(err)
    assert "\\x1b[2J" in out
    assert "\\x1b[2J" in err
    assert "\nsecond line" in err


def test_names_of_a_file_cannot_either(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"user,movie\nann,{EVIL}\n")
    status, out, err = cli("info", tmp_path / "x.csv")
    assert status == 0
    assert is_harmless(out + err)


def test_long_messages_are_shortened_and_keep_their_advice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = "unknown name " + "x" * 5000 + "; choose another one"
    complain("error", message)
    err = capsys.readouterr().err
    assert len(err) < 700
    assert "choose another one" in err
    set_verbosity(Verbosity.VERBOSE)
    complain("error", message)
    set_verbosity(Verbosity.NORMAL)
    assert len(capsys.readouterr().err) > 5000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["datasets"], ["info", "wordnet-sample", "--json", "-"]])
def test_a_full_device_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dhne", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
