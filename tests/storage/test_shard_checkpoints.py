"""Checkpoints of several workers: there once committed, complete or not used."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dhne.storage import DamagedCheckpointWarning, ShardCheckpoints

NAMES = ["shard-00", "shard-01", "dense"]


def save(store: ShardCheckpoints, step: int) -> None:
    store.begin(step)
    tensors = {name: {"w": torch.full((3,), float(step))} for name in NAMES}
    digests = {name: store.write(step, name, tensors[name]) for name in NAMES}
    store.commit(step, digests, {"step": step})


@pytest.fixture
def store(tmp_path: Path) -> ShardCheckpoints:
    store = ShardCheckpoints(tmp_path / "checkpoints")
    for step in (2, 10, 30):
        save(store, step)
    return store


def test_the_newest_are_kept_and_come_back(store: ShardCheckpoints) -> None:
    assert store.steps() == [30, 10]
    assert len(list(store.directory.iterdir())) == 4
    found = store.read(30, ["shard-01"])
    assert found is not None
    tensors, meta = found
    assert (list(tensors), tensors["shard-01"]["w"].tolist()) == (["shard-01"], [30.0] * 3)
    assert meta == {"step": 30}


def test_what_was_begun_and_not_committed_does_not_count(store: ShardCheckpoints) -> None:
    store.begin(40)
    store.write(40, "shard-00", {"w": torch.ones(1)})
    assert store.steps() == [30, 10]
    store.begin(50)
    assert sorted(p.name for p in store.directory.glob("step-*/")) == [
        f"step-{step:09d}" for step in (10, 30, 50)
    ]


def test_beginning_a_step_again_takes_its_checkpoint_back(store: ShardCheckpoints) -> None:
    store.begin(30)
    assert store.steps() == [10]


def test_damage_is_noticed_in_the_files_that_are_read(store: ShardCheckpoints) -> None:
    file = store.directory / "step-000000030" / "shard-01.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert store.read(30, ["shard-00", "dense"]) is not None
    with pytest.warns(DamagedCheckpointWarning, match="resuming from an earlier one"):
        assert store.read(30, NAMES) is None
    with pytest.warns(DamagedCheckpointWarning):
        assert store.read(10, ["shard-77"]) is None
    (store.directory / "step-000000010.json").write_text("{}")
    with pytest.warns(DamagedCheckpointWarning):
        assert store.read(10, NAMES) is None


def test_clearing_leaves_an_empty_directory(store: ShardCheckpoints) -> None:
    store.begin(40)
    store.clear()
    assert list(store.directory.iterdir()) == []
