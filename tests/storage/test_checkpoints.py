from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from dhne.errors import ParameterError
from dhne.storage import Checkpoints, DamagedCheckpointWarning


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    store = Checkpoints(tmp_path / "checkpoints")
    for epoch in (1, 2, 3):
        store.save(epoch, {"w": torch.full((4,), float(epoch))}, {"epoch": epoch})
    return store


def test_the_newest_comes_back_exactly(tmp_path: Path) -> None:
    store = Checkpoints(tmp_path)
    generator = torch.Generator().manual_seed(3)
    tensors = {
        "float": torch.randn(5, generator=generator),
        "double": torch.randn(5, generator=generator, dtype=torch.float64),
        "steps": torch.tensor(7),
        "generator": generator.get_state(),
    }
    meta = {"state": 2**127 + 1, "best": -math.inf, "loss": 0.1 + 0.2, "name": "größe"}
    store.save(12, tensors, meta)
    found = store.latest()
    assert found is not None
    assert found[1] == meta
    assert found[0].keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[0][name].dtype == tensor.dtype
        assert torch.equal(found[0][name], tensor)


def test_only_the_newest_are_kept(checkpoints: Checkpoints) -> None:
    assert checkpoints.epochs() == [3, 2]
    assert len(list(checkpoints.directory.iterdir())) == 4


def test_there_is_none_before_the_first(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "nothing").latest() is None


@pytest.mark.parametrize("ending", ["safetensors", "json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "remove"])
def test_an_older_one_serves_if_the_newest_is_damaged(
    checkpoints: Checkpoints, ending: str, damage: str
) -> None:
    file = checkpoints.directory / f"epoch-000003.{ending}"
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[data.rindex(b"3" if ending == "json" else b"\x40")] ^= 1
    elif damage == "truncate":
        data = data[: len(data) // 2]
    elif damage == "empty":
        data = bytearray()
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(data)
    if (ending, damage) == ("json", "remove"):  # then it was never there
        found = checkpoints.latest()
    else:
        with pytest.warns(DamagedCheckpointWarning, match=rf"epoch-000003\.{ending}"):
            found = checkpoints.latest()
    assert found is not None
    assert found[1] == {"epoch": 2}
    assert found[0]["w"].tolist() == [2.0] * 4


def test_without_an_undamaged_one_there_is_none(checkpoints: Checkpoints) -> None:
    for file in checkpoints.directory.glob("*.safetensors"):
        file.write_bytes(b"no tensors")
    with pytest.warns(DamagedCheckpointWarning):
        assert checkpoints.latest() is None


def test_what_an_interrupted_save_left_is_swept_away(checkpoints: Checkpoints) -> None:
    left = checkpoints.directory / ".epoch-000004.safetensors.0123456789ab.tmp"
    left.write_bytes(b"half")
    orphan = checkpoints.directory / "epoch-000004.safetensors"
    orphan.write_bytes(b"its note was never written")
    found = checkpoints.latest()
    assert found is not None
    assert found[1] == {"epoch": 3}
    checkpoints.save(4, {"w": torch.zeros(1)}, {"epoch": 4})
    assert not left.exists()
    assert checkpoints.epochs() == [4, 3]


def test_clearing_leaves_an_empty_directory(checkpoints: Checkpoints) -> None:
    checkpoints.clear()
    assert checkpoints.latest() is None
    assert list(checkpoints.directory.iterdir()) == []


def test_at_least_one_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        Checkpoints(tmp_path, keep=0)
