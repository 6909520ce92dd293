from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.errors import RunError
from dhne.storage import (
    RunContents,
    abandon_run,
    begin_run,
    is_run,
    load_run,
    read_config,
    run_status,
    save_run,
    unfinished_run,
)
from dhne.storage.manifest import write_manifest
from tests.storage.small_run import FILES, contents_as_bytes, files_of, make_contents


class TestRoundTrip:
    def test_everything_comes_back(self, run: Path) -> None:
        before, after = make_contents(), load_run(run)
        assert after.config == before.config
        assert after.network == before.network
        assert after.network.node_types == before.network.node_types
        for e, f in zip(after.network.edge_sets, before.network.edge_sets, strict=True):
            assert e.types == f.types
            np.testing.assert_array_equal(e.nodes, f.nodes)
        for t in before.network.node_types:
            assert after.network.names(t).equals(before.network.names(t))
            np.testing.assert_array_equal(after.embeddings[t], before.embeddings[t])
            assert after.embeddings[t].dtype == np.float32
        assert after.network.labels("movie").to_pylist() == [["crime", "drama"], []]
        assert after.network.labels("tag") is None
        assert after.history == [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": None}]
        assert after.tensors.keys() == before.tensors.keys()
        for name, tensor in before.tensors.items():
            assert after.tensors[name].dtype == tensor.dtype
            assert torch.equal(after.tensors[name], tensor)

    def test_the_layout_is_the_documented_one(self, run: Path) -> None:
        assert files_of(run) == sorted([*FILES, "manifest.json"])
        assert (run / "checkpoints").is_dir()
        table = pq.read_table(run / "nodes/movie.parquet")
        assert table.column_names == ["name", "labels", "degree", "vector"]
        assert table["degree"].to_pylist() == [1, 1]
        manifest = json.loads((run / "manifest.json").read_text())
        assert manifest["format"] == 1
        assert manifest["status"] == "complete"
        assert sorted(manifest["files"]) == FILES

    def test_the_same_contents_give_the_same_bytes(self, run: Path, tmp_path: Path) -> None:
        save_run(tmp_path / "again", make_contents())
        assert contents_as_bytes(tmp_path / "again") == contents_as_bytes(run)

    def test_tensors_that_share_memory_and_views_are_saved(self, tmp_path: Path) -> None:
        contents = make_contents()
        base = torch.arange(6.0).reshape(2, 3)
        contents.tensors = {"a": base, "b": base, "t": base.T}
        save_run(tmp_path / "run", contents)
        found = load_run(tmp_path / "run").tensors
        assert torch.equal(found["b"], base)
        assert torch.equal(found["t"], base.T)

    @given(
        st.lists(
            st.one_of(
                st.text(max_size=5),
                st.sampled_from(
                    ["..", ".", "", "a/b", "A", "a", "nul", "é" * 300, "x\0y", "~", "manifest"]
                ),
            ),
            min_size=2,
            max_size=6,
            unique=True,
        )
    )
    @settings(max_examples=40)
    def test_node_types_may_be_called_anything(
        self, tmp_path_factory: pytest.TempPathFactory, types: list[str]
    ) -> None:
        run = tmp_path_factory.mktemp("types") / "run"
        network = HyperNetwork.from_arrays({tuple(types): np.zeros((1, len(types)), np.int64)})
        embeddings = {t: np.full((1, 2), i, np.float32) for i, t in enumerate(types)}
        save_run(run, RunContents({}, {}, network, embeddings))
        found = load_run(run)
        assert found.network.node_types == tuple(types)
        assert {t: v[0, 0] for t, v in found.embeddings.items()} == dict(
            zip(types, range(len(types)), strict=True)
        )
        names = [p.name for p in (run / "nodes").iterdir()]
        assert len({n.casefold() for n in names}) == len(types)
        assert all(len(n.encode()) < 200 for n in names)
        assert {p.name for p in run.parent.iterdir()} == {"run"}


class TestDamage:
    @pytest.mark.parametrize("name", [*FILES, "manifest.json"])
    def test_a_flipped_bit_anywhere_is_noticed(self, run: Path, name: str) -> None:
        data = (run / name).read_bytes()
        rng = np.random.default_rng(0)
        for bit in rng.choice(len(data) * 8, size=min(60, len(data) * 8), replace=False).tolist():
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            (run / name).write_bytes(flipped)
            with pytest.raises(RunError) as caught:
                load_run(run)
            assert name in str(caught.value) or name == "manifest.json"

    @pytest.mark.parametrize("name", [*FILES, "manifest.json"])
    @pytest.mark.parametrize("size", [0, 0.5, -1])
    def test_a_truncated_file_is_named(self, run: Path, name: str, size: float) -> None:
        data = (run / name).read_bytes()
        (run / name).write_bytes(data[: int(size * len(data)) if size >= 0 else int(size)])
        with pytest.raises(RunError, match=name.replace(".", r"\.")):
            load_run(run)

    @pytest.mark.parametrize("name", [*FILES, "manifest.json"])
    def test_a_missing_file_is_named(self, run: Path, name: str) -> None:
        (run / name).unlink()
        with pytest.raises(RunError, match=name.replace(".", r"\.")):
            load_run(run)

    @pytest.mark.parametrize("name", FILES)
    def test_without_verification_damage_is_still_a_clear_error(self, run: Path, name: str) -> None:
        (run / name).write_bytes(b"\x00\x01" * 40)
        with pytest.raises(RunError, match=name.replace(".", r"\.")):
            load_run(run, verify=False)

    def test_a_newer_format_is_refused(self, run: Path) -> None:
        manifest = json.loads((run / "manifest.json").read_text())
        (run / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
        with pytest.raises(RunError, match="update dhne"):
            load_run(run)

    @pytest.mark.parametrize(
        "name",
        ["../outside.parquet", "/etc/hostname", "nodes/../../x.parquet", "nodes/..", "nodes\\x"],
    )
    def test_a_manifest_cannot_lead_out_of_the_run(self, run: Path, name: str) -> None:
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["files"][name] = manifest["files"]["nodes/user.parquet"]
        manifest["network"]["nodes"][0]["file"] = name
        write_manifest(run, manifest)
        with pytest.raises(RunError, match="which no run contains"):
            load_run(run)

    def test_nothing_can_be_smuggled_in_as_a_program(self, run: Path) -> None:
        import pickle

        class Bomb:
            def __reduce__(self) -> object:
                return (pytest.fail, ("a pickle was opened",))

        for name in ("model.safetensors", "nodes/user.parquet", "config.json", "history.jsonl"):
            kept = (run / name).read_bytes()
            (run / name).write_bytes(pickle.dumps(Bomb()))
            with pytest.raises(RunError):
                load_run(run, verify=False)
            (run / name).write_bytes(kept)

    def test_what_is_no_run_is_said_to_be_none(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        for path in (tmp_path, tmp_path / "file", tmp_path / "nothing"):
            assert not is_run(path)
            assert run_status(path) is None
            with pytest.raises(RunError, match="not a run"):
                load_run(path)


FULL_DISK = """
import resource, sys
from tests.storage.small_run import make_contents
import torch
from dhne.errors import RunError
from dhne.storage import save_run, Checkpoints
contents = make_contents()
contents.tensors = {"w": torch.ones(5000)}
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    if sys.argv[2] == "run":
        save_run(sys.argv[1], contents)
    else:
        Checkpoints(sys.argv[1] + "/checkpoints").save(9, contents.tensors, {})
except RunError as error:
    print(error)
"""


def save_on_a_full_disk(run: Path, what: str) -> str:
    """Save with a limit on file sizes, as a full disk would; return what was said."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(run), what],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no file size limits")
class TestFullDisk:
    def test_the_old_run_stays(self, run: Path) -> None:
        before = contents_as_bytes(run)
        said = save_on_a_full_disk(run, "run")
        assert "cannot be saved" in said
        assert "free some space" in said
        assert contents_as_bytes(run) == before

    def test_nothing_is_there_that_was_not(self, tmp_path: Path) -> None:
        assert "cannot be saved" in save_on_a_full_disk(tmp_path / "run", "run")
        assert list(tmp_path.iterdir()) == []

    def test_the_old_checkpoint_stays(self, tmp_path: Path) -> None:
        checkpoints = begin_run(tmp_path / "run", {})
        checkpoints.save(3, {"w": torch.ones(2)}, {"epoch": 3})
        assert "cannot be saved" in save_on_a_full_disk(tmp_path / "run", "checkpoint")
        found = checkpoints.latest()
        assert found is not None
        assert found[1] == {"epoch": 3}
        assert checkpoints.epochs() == [3]


class TestBeginning:
    def test_a_begun_run_is_no_finished_one(self, tmp_path: Path) -> None:
        run = tmp_path / "deep" / "run"
        begin_run(run, {"dim": 8})
        assert run_status(run) == "training"
        assert read_config(run) == {"dim": 8}
        with pytest.raises(RunError, match="--resume"):
            load_run(run)
        save_run(run, make_contents())
        assert run_status(run) == "complete"

    def test_resuming_needs_the_same_settings(self, tmp_path: Path) -> None:
        config = {"params": {"dim": 8, "sizes": (1, 2)}}
        begin_run(tmp_path / "run", config).save(1, {}, {"epoch": 1})
        again = begin_run(tmp_path / "run", config, resume=True)
        assert again.latest() == ({}, {"epoch": 1})
        with pytest.raises(RunError, match=r"params\.dim was 8, is 9"):
            begin_run(tmp_path / "run", {"params": {"dim": 9, "sizes": (1, 2)}}, resume=True)

    def test_resuming_nothing_begins(self, tmp_path: Path) -> None:
        assert begin_run(tmp_path / "run", {}, resume=True).latest() is None
        assert run_status(tmp_path / "run") == "training"

    def test_no_run_is_lost_without_asking(self, run: Path, tmp_path: Path) -> None:
        for resume in (False, True):
            with pytest.raises(RunError, match="--overwrite"):
                begin_run(run, {}, resume=resume)
        begin_run(tmp_path / "begun", {})
        with pytest.raises(RunError, match="--resume"):
            begin_run(tmp_path / "begun", {})

    def test_overwriting_leaves_the_finished_run_until_the_new_one_is_saved(
        self, run: Path
    ) -> None:
        before, contents = files_of(run), make_contents()
        checkpoints = begin_run(run, {"new": 1}, overwrite=True)
        checkpoints.save(1, {}, {"x": 1})
        assert run_status(run) == "complete"
        assert [f for f in files_of(run) if not f.startswith(".next/")] == before
        assert load_run(run).network == contents.network
        waiting = unfinished_run(run)
        assert waiting is not None
        assert read_config(waiting) == {"new": 1}
        assert begin_run(run, {"new": 1}, resume=True).latest() == ({}, {"x": 1})
        assert begin_run(run, {}, overwrite=True).latest() is None
        save_run(run, contents)
        assert unfinished_run(run) is None
        assert files_of(run) == before

    def test_overwriting_an_unfinished_run_removes_its_checkpoints(self, tmp_path: Path) -> None:
        checkpoints = begin_run(tmp_path / "run", {})
        checkpoints.save(1, {}, {})
        assert begin_run(tmp_path / "run", {}, overwrite=True).latest() is None

    def test_a_run_without_a_checkpoint_can_be_abandoned(self, run: Path, tmp_path: Path) -> None:
        begin_run(tmp_path / "new", {})
        abandon_run(tmp_path / "new")
        assert not (tmp_path / "new").exists()
        before = files_of(run)
        begin_run(run, {}, overwrite=True)
        abandon_run(run)
        assert files_of(run) == before
        begin_run(tmp_path / "new", {}).save(1, {}, {})
        abandon_run(tmp_path / "new")
        assert run_status(tmp_path / "new") == "training"

    def test_every_file_follows_the_umask(self, tmp_path: Path) -> None:
        before, contents = os.umask(0o022), make_contents()
        try:
            save_run(tmp_path / "shared", contents)
            begin_run(tmp_path / "begun", {}).save(1, contents.tensors, {})
        finally:
            os.umask(before)
        files = [p for d in ("shared", "begun") for p in (tmp_path / d).rglob("*") if p.is_file()]
        assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o644}

    def test_a_damaged_run_can_be_overwritten(self, run: Path) -> None:
        (run / "manifest.json").write_text("{")
        begin_run(run, {}, overwrite=True)
        assert run_status(run) == "training"
