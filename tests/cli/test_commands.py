"""The command line as a whole: help, mistakes, warnings, pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dhne import HyperNetwork, __version__
from dhne.cli.registry import COMMANDS
from tests.cli.runs import CommandLine

MISTAKES = [
    (["info", "wordnet-sampel"], "did you mean 'wordnet-sample'"),
    (["info", "nowhere.csv"], "nowhere.csv: there is no such file"),
    (["info", "/"], "this is a directory"),
    (["convert", "wordnet-sample", "x.docx"], "unknown format"),
    (["convert", "wordnet-sample", "nowhere/x.csv"], "there is no directory 'nowhere'"),
    (["info", "wordnet-sample", "--weight", "n"], "does not take --weight"),
    (["info", "a.csv", "--columns", "user="], "cannot parse 'user='"),
    (["info", "a.csv", "--columns", "a=b,c=d", "--columns", "x,y"], "given 2 times for 1 file"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_one_line_and_status_1(
    cli: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = cli(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("dhne: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [["inf"], ["info"], ["info", "x.csv", "--colums", "a"], ["convert", "wordnet-sample"]],
)
def test_wrong_usage_is_status_2(cli: CommandLine, arguments: list[str]) -> None:
    status, _, err = cli(*arguments)
    assert status == 2
    assert "dhne" in err or "Usage" in err


def test_warnings_are_one_line(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"incidences": [{"edge": 1, "node": 1}]}')
    status, out, err = cli("info", path, "--json", "-")
    assert status == 0
    assert json.loads(out)["nodes"] == 1
    assert err.startswith("dhne: warning: ")
    assert err.count("\n") == 1


def test_names_from_data_are_not_markup(cli: CommandLine, tmp_path: Path) -> None:
    from dhne import write

    write(HyperNetwork.from_tuples([("[red]x", "[/b]")], ("[bold]a", "b")), tmp_path / "x.npz")
    status, out, _ = cli("info", tmp_path / "x.npz")
    assert status == 0
    assert "[bold]a" in out
    assert "[red]x" in out


def test_help_and_version(cli: CommandLine) -> None:
    assert cli("--version")[:2] == (0, f"dhne {__version__}\n")
    for arguments in ([], ["--help"]):
        status, out, _ = cli(*arguments)
        assert status == 0
        assert "convert" in out
    for command in ("info", "convert", "datasets"):
        status, out, _ = cli(command, "--help")
        assert status == 0
        assert "Usage" in out


def test_every_command_of_the_list_has_a_summary() -> None:
    assert all(summary.endswith(".") for _, summary in COMMANDS)


def test_info_and_help_load_no_torch() -> None:
    code = (
        "import sys; from dhne.cli import main; main({!r}); "
        "sys.exit(any(m in sys.modules for m in ('torch', 'numba', 'sklearn')))"
    )
    for arguments in (["--help"], ["info", "wordnet-sample"]):
        done = subprocess.run(
            [sys.executable, "-c", code.format(arguments)], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_no_colour_in_pipes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dhne", "info", "wordnet-sample"], capture_output=True, check=True
    )
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("command", ["train", "embed", "score", "rank", "similar", "demo"])
def test_help_has_examples(cli: CommandLine, command: str) -> None:
    status, out, _ = cli(command, "--help")
    assert status == 0
    assert f"dhne {command}" in out
    assert "Example" in out
