"""Either the old run or the new one is there, never a mixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne.errors import RunError
from dhne.storage import begin_run, load_run, save_run
from dhne.storage.replacing import finish_commit
from tests.storage.small_run import FILES, contents_as_bytes, make_contents


def test_a_second_save_replaces_the_first(run: Path) -> None:
    smaller = make_contents(2.0)
    smaller.network = smaller.network.subset(edge_types=[("user", "user")], drop_nodes=True)
    smaller.embeddings = {"user": smaller.embeddings["user"]}
    save_run(run, smaller)
    assert load_run(run).tensors["w"][0, 0] == 2
    assert [p.name for p in (run / "nodes").iterdir()] == ["user.parquet"]


def test_a_directory_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("mine")
    with pytest.raises(RunError, match="not empty"):
        save_run(tmp_path, make_contents())
    with pytest.raises(RunError, match="not empty"):
        begin_run(tmp_path, {}, overwrite=True)
    assert (tmp_path / "config.json").read_text() == "mine"


def test_an_empty_directory_may_become_a_run(tmp_path: Path) -> None:
    save_run(tmp_path, make_contents())
    assert load_run(tmp_path).network.num_edges() == 4


@pytest.mark.parametrize("moved", range(len(FILES) + 2))
def test_an_interrupted_replacement_is_finished_by_the_next_who_looks(
    run: Path, tmp_path: Path, moved: int
) -> None:
    save_run(tmp_path / "other", make_contents(2.0))
    expected = contents_as_bytes(tmp_path / "other")
    (tmp_path / "other").rename(run / ".commit")
    for name in [*FILES, "manifest.json"][:moved]:
        (run / ".commit" / name).replace(run / name)
    assert load_run(run).tensors["w"][0, 0] == 2
    assert contents_as_bytes(run) == expected


def test_a_save_interrupted_before_that_leaves_the_old_run(run: Path) -> None:
    before = contents_as_bytes(run)
    (run / ".new.0123.tmp").mkdir()
    (run / ".new.0123.tmp" / "config.json").write_text("half")
    assert load_run(run).tensors["w"][0, 0] == 1
    save_run(run, make_contents())
    assert contents_as_bytes(run) == before


def test_finishing_nothing_changes_nothing(run: Path) -> None:
    before = contents_as_bytes(run)
    finish_commit(run)
    assert contents_as_bytes(run) == before
