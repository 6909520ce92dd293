"""Files that are whole or not there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dhne.errors import InputError
from dhne.files.writing import replace_bytes, replace_directory, replacing, sweep, writing


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    target.write_text("old")

    def fail() -> None:
        with writing(target) as (temporary,):
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_renamed_unless_all_files_are_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a", tmp_path / "b") as (_, second):
        second.write_text("only the second")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"no directory .*missing.* to write to"),
        writing(tmp_path / "missing" / "x.txt"),
    ):
        pass


@pytest.mark.parametrize("durable", [False, True])
def test_new_files_follow_the_umask(tmp_path: Path, durable: bool) -> None:
    before = os.umask(0o027)
    try:
        replace_bytes(tmp_path / "x", b"data", durable=durable)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_directory_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.mkdir()
    (target / "old").write_text("old")
    replace_directory(target, lambda directory: (directory / "new").write_text("new") and None)
    assert [p.name for p in target.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_that_cannot_be_filled_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.mkdir()
    (target / "old").write_text("old")

    def fail(directory: Path) -> None:
        (directory / "half").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        replace_directory(target, fail)
    assert [p.name for p in target.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [target]


def test_sweep_removes_what_interrupted_writes_left(tmp_path: Path) -> None:
    (tmp_path / ".x.0123.tmp").write_text("half")
    (tmp_path / ".d.0123.tmp").mkdir()
    (tmp_path / "kept").write_text("whole")
    sweep(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]
