"""Runs whose checksums are right and whose contents are not: damage that only sense can find."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file

import dhne
from dhne.errors import RunError
from dhne.storage.manifest import make_manifest, write_manifest


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [("ann", "Heat"), ("bob", "Alien"), ("ann", "Alien")]
    network = dhne.HyperNetwork.from_tuples(rows, ("user", "movie"))
    run = tmp_path_factory.mktemp("good") / "run"
    dhne.DHNE(dim=2, epochs=1, kernels="reference", device="cpu").fit(network).save(run)
    return run


def change_json(file: str, change: Callable[[dict], object]) -> Callable[[Path], None]:  # type: ignore[type-arg]
    def damage(run: Path) -> None:
        found = json.loads((run / file).read_text())
        change(found)
        (run / file).write_text(json.dumps(found))

    return damage


def change_table(file: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    return lambda run: pq.write_table(change(pq.read_table(run / file)), run / file)


def change_tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        tensors = load_file(run / "model.safetensors")
        change(tensors)
        save_file(tensors, run / "model.safetensors")

    return damage


def far_ids(table: pa.Table) -> pa.Table:
    return table.set_column(0, "position_0", pa.array([99] * table.num_rows))


USER, EDGES = "nodes/user.parquet", "edges/0.parquet"
DAMAGE: dict[str, Callable[[Path], None]] = {
    "no parameters": change_json("config.json", lambda c: c.pop("params")),
    "parameters of another kind": change_json("config.json", lambda c: c.update(params=[1])),
    "a dimension that is text": change_json("config.json", lambda c: c["settings"].update(dim="x")),
    "another dimension": change_json("config.json", lambda c: c["settings"].update(dim=5)),
    "an unknown dtype": change_json("config.json", lambda c: c["params"].update(dtype="int8")),
    "a configuration that is a list": lambda run: (run / "config.json").write_text("[]") and None,  # type: ignore[func-returns-value]
    "a history of numbers": lambda run: (run / "history.jsonl").write_text("1\n2\n") and None,  # type: ignore[func-returns-value]
    "no names": change_table(USER, lambda t: t.drop_columns(["name"])),
    "no vectors": change_table(USER, lambda t: t.drop_columns(["vector"])),
    "half of the nodes": change_table(USER, lambda t: t.slice(0, 1)),
    "nodes twice": change_table(USER, lambda t: pa.concat_tables([t, t])),
    "ids that are not there": change_table(EDGES, far_ids),
    "no weights": change_table(EDGES, lambda t: t.drop_columns(["weight"])),
    "a tensor too few": change_tensors(lambda t: t.pop(next(iter(t)))),
    "tensors of another shape": change_tensors(lambda t: t.update({k: torch.ones(1) for k in t})),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_run_that_makes_no_sense_is_one_clear_error(
    good: Path, tmp_path: Path, what: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(good, run)
    DAMAGE[what](run)
    manifest = json.loads((run / "manifest.json").read_text())
    files = list(manifest["files"])
    write_manifest(run, make_manifest(run, files, status="complete", network=manifest["network"]))
    with pytest.raises(RunError) as caught:
        dhne.load(run)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
