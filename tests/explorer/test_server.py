"""``dhne explore``: on this machine only, at the port that was asked for, until it is stopped."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from importlib import util
from pathlib import Path

import httpx
import pytest

from dhne import DHNE
from dhne.cli import main
from dhne.errors import MissingExtraError, ParameterError
from dhne.explorer import make_app
from dhne.explorer.server import listen


def test_the_command_serves_a_run_until_it_is_interrupted(model: DHNE, tmp_path: Path) -> None:
    model.save(tmp_path / "run")
    command = [sys.executable, "-m", "dhne", "explore", str(tmp_path / "run"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.split(" is at ")[1].split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(f"{address}api/run").json()["name"] == "run"
        assert "dhne explorer" in httpx.get(address).text
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_a_port_that_is_taken_is_said_to_be(
    model: DHNE, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.save(tmp_path / "run")
    with listen(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=f"port {port} cannot be used"):
            listen(port)
        assert main(["explore", str(tmp_path / "run"), "--port", str(port)]) == 1
    assert "choose another" in capsys.readouterr().err


def test_it_listens_on_this_machine_only() -> None:
    with listen(None) as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
        with listen(None) as other:  # another explorer gets another port
            assert other.getsockname()[1] != sock.getsockname()[1]
        assert sock.family == socket.AF_INET


def test_what_is_no_run_is_said_to_be_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", str(tmp_path / "nothing"), "--no-browser"]) == 1
    assert "is not a run" in capsys.readouterr().err


def test_without_its_packages_it_says_how_to_get_them(
    model: DHNE, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = util.find_spec
    monkeypatch.setattr(
        "dhne.explorer.find_spec", lambda name: None if name == "fastapi" else found(name)
    )
    with pytest.raises(MissingExtraError, match=r"dhne\[explorer\]"):
        make_app(model, name="run", port=1)
