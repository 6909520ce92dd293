"""What all commands share: --verbose, --quiet, NO_COLOR, completion, suggestions for options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dhne.cli.registry import COMMANDS, make_app
from tests.cli.runs import TAGS, CommandLine


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    Path("tags.csv").write_text(TAGS)
    return CommandLine(capsys)


def run_in(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dhne", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("name", [name for name, _ in COMMANDS])
def test_every_command_can_say_more_or_less(name: str) -> None:
    command = make_app([name]).commands[name]
    inner = getattr(command, "commands", {"": command}).values()
    for each in inner:
        options = {o for p in each.params for o in p.opts}
        assert {"--verbose", "-v", "--quiet", "-q"} <= options


def test_quiet_keeps_answers_and_errors_only(cli: CommandLine) -> None:
    status, out, err = cli("convert", "tags.csv", "--columns", "user=userId,tag", "x.npz")
    assert (status, "x.npz" in err) == (0, True)
    status, out, err = cli("convert", "tags.csv", "--columns", "user=userId,tag", "x.npz", "-q")
    assert (status, out, err) == (0, "", "")
    assert cli("info", "x.npz", "-q")[1]
    assert cli("info", "y.npz", "-q")[2].startswith("dhne: error: ")


def test_verbose_says_where_an_error_came_from_and_how_long_it_took(cli: CommandLine) -> None:
    status, _, err = cli("info", "nowhere.csv", "--verbose")
    assert status == 1
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("dhne: error: ")
    assert cli("info", "wordnet-sample", "-v")[2].endswith(" s\n")
    assert "Traceback" not in cli("info", "nowhere.csv")[2]  # it does not last


def test_more_and_less_at_once_is_wrong_usage(cli: CommandLine) -> None:
    status, _, err = cli("info", "wordnet-sample", "-v", "-q")
    assert status == 2
    assert "choose one" in err


def test_colour_is_for_terminals_and_not_with_no_color() -> None:
    coloured = run_in({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, "info", "wordnet-sample")
    assert "\x1b[" in coloured.stdout
    plain = run_in(
        {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}, "info", "wordnet-sample"
    )
    assert "\x1b[3" not in plain.stdout  # bold may stay: NO_COLOR is about colour
    assert "\x1b[" not in run_in({}, "info", "wordnet-sample").stdout


def completions(line: str) -> list[str]:
    words = line.split(" ")
    done = run_in(
        {"_DHNE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    )
    return done.stdout.split()


def test_the_shell_completes_commands_and_their_options() -> None:
    assert completions("dhne tr") == ["train"]
    assert "--learning-rate" in completions("dhne train --le")
    assert completions("dhne tune --tri") == ["--trials"]
    assert completions("dhne info wordnet-") == ["wordnet-sample"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_can_be_had(shell: str) -> None:
    done = run_in({"_DHNE_COMPLETE": f"source_{shell}"})
    assert done.returncode == 0
    assert "_DHNE_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (("train", "x", "--outt", "y"), "--out"),
        (("tune", "x", "--trails", "3"), "--trials"),
        (("evaluate", "x", "y", "--methd", "dhne"), "--method"),
        (("info", "x", "--colums", "a"), "--columns"),
        (("trian",), "train"),
    ],
)
def test_mistyped_options_and_commands_get_a_suggestion(
    cli: CommandLine, arguments: tuple[str, ...], suggestion: str
) -> None:
    status, _, err = cli(*arguments)
    assert status == 2
    assert suggestion in err
