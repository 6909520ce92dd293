"""Errors say what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dhne.errors import MissingExtraError, UnknownNameError, require


def test_a_missing_library_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"package no_such; .*'dhne\[plots\]'"):
        require("no_such.part", extra="plots")
    with pytest.raises(MissingExtraError, match="package no-such;"):
        require("no_such", extra="plots", package="no-such")


def test_a_library_that_misses_another_one_keeps_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "broken_library.py").write_text("import no_such_thing")
    with pytest.raises(ModuleNotFoundError, match="no_such_thing") as caught:
        require("broken_library", extra="plots")
    assert not isinstance(caught.value, MissingExtraError)


def test_choices_are_listed_where_none_is_near() -> None:
    assert str(UnknownNameError("colour", "zzz", ["red", "blue"])).endswith(
        "choose from: red, blue"
    )
