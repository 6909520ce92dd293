"""Several workers train what one trains: the same losses, tables and dense weights."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dhne.kernels import get_kernels
from dhne.storage import DamagedCheckpointWarning, ShardCheckpoints
from dhne.training.assembly import prepare_training
from dhne.training.step_inputs import Positives
from dhne.training.visiting_order import VisitingOrder
from dhne.workers import Group
from tests.training.divided_work import (
    CASES,
    CPU,
    ROOT,
    Interrupted,
    blueprint,
    dense_digest,
    interrupt,
    part,
    start,
)

SIZES = (4, 2, 1)  # in this order: what 4 have begun, 2 go on with, and 1 finishes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What groups of 1, 2 and 4 workers have left."""
    folder = tmp_path_factory.mktemp("workers")
    for size in SIZES:
        workers = start(size, "-m", "tests.training.divided_work", str(folder))
        said = [w.communicate(timeout=300)[1] for w in workers]
        assert not any(w.returncode for w in workers), said
    return folder


def close(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1))


def visited_as_by_workers(edges: Positives, rng: np.random.Generator) -> Positives:
    return edges.take(torch.from_numpy(VisitingOrder(len(edges), rng)[:]))


@pytest.mark.parametrize("name", CASES)
def test_workers_follow_the_training_of_one_process(name: str, folder: Path) -> None:
    """From the same weights, the ordinary trainer goes the same way."""
    case, plan = CASES[name], blueprint(CASES[name])
    drawn = part(name, Group()).whole_weights()
    trainer = prepare_training(plan, get_kernels(case["kernels"], CPU), CPU, seed=3)
    trainer.model.load_state_dict(drawn)
    trainer.maker._shuffle = visited_as_by_workers  # type: ignore[method-assign]
    losses = [r["loss"] for r in trainer.run()]
    expected = {k: v.numpy() for k, v in trainer.model.state_dict().items()}
    limit = 1e-12 if plan.dtype == torch.float64 else 1e-6
    for size in SIZES:
        found = dict(np.load(folder / f"{name}-{size}.npz"))
        assert close(found.pop("losses"), np.array(losses)) <= limit
        assert found.keys() == expected.keys()
        for key, weights in expected.items():
            assert close(found[key], weights) <= limit, (size, key)
            if "table" in key and name != "step":
                assert close(weights, drawn[key].numpy()) > 0.01, "it has learned"


@pytest.mark.parametrize("size", [2, 4])
def test_dense_weights_have_the_same_bits_everywhere(size: int, folder: Path) -> None:
    first, *others = found_by(size, folder)
    for name, expected in first.items():
        assert all(other[name]["dense"] == expected["dense"] for other in others)


def test_batches_and_negatives_do_not_depend_on_the_workers(folder: Path) -> None:
    (expected,) = found_by(1, folder)
    for size in (2, 4):
        for found in found_by(size, folder):
            for name in CASES:
                assert found[name]["batches"] == expected[name]["batches"], (name, size)


def test_what_a_worker_holds_falls_with_their_number(folder: Path) -> None:
    (alone,) = found_by(1, folder)
    for size in (2, 4):
        workers = found_by(size, folder)
        for name, expected in ((n, found["held"]) for n, found in alone.items()):
            held = [worker[name]["held"] for worker in workers]
            for what in ("hyperedges", "keys"):  # every one of them is one worker's
                assert sum(h[what] for h in held) == expected[what], (name, size, what)
            if name not in ("mixed", "dense"):  # in which too little is to be divided
                for what, total in expected.items():
                    most = max(h[what] for h in held)
                    assert most < 1.35 * total / size, (name, size, what)


def found_by(size: int, folder: Path) -> list[dict[str, Any]]:
    """What each worker of a group has left."""
    files = [folder / f"found-{size}-{rank}.json" for rank in range(size)]
    return [json.loads(f.read_text()) for f in files]


def test_what_four_began_two_and_one_finish(folder: Path) -> None:
    found, expected = np.load(folder / "interrupted.npz"), np.load(folder / "default-1.npz")
    for key in expected:
        assert close(found[key], expected[key]) <= 1e-12


# -- interruptions ---------------------------------------------------------------------------------


def test_a_checkpoint_within_an_epoch_is_gone_on_from(tmp_path: Path) -> None:
    shards = ShardCheckpoints(tmp_path)
    undisturbed, trainer = part("plus", Group()), part("plus", Group(), **saved(shards))
    interrupt(trainer, 20)
    with pytest.raises(Interrupted):
        trainer.run()
    assert shards.steps() == [16]
    resumed = part("plus", Group(), shards=shards)
    resumed.run()
    undisturbed.run()
    assert same_bits(resumed, undisturbed)


def saved(shards: ShardCheckpoints) -> dict[str, object]:
    return {"shards": shards, "checkpoint_seconds": 0}


def same_bits(one: object, other: object) -> bool:
    mine, theirs = one.whole_weights(), other.whole_weights()  # type: ignore[attr-defined]
    equal = all(torch.equal(mine[k], theirs[k]) for k in theirs)
    return equal and dense_digest(one) == dense_digest(other)  # type: ignore[arg-type]


KILL = """
import os, signal, sys
from dhne.storage import ShardCheckpoints
from tests.training.divided_work import Group, part

class Killed(ShardCheckpoints):
    def commit(self, step, digests, meta):
        if step == 32:
            os.kill(os.getpid(), signal.SIGKILL)
        super().commit(step, digests, meta)

part("default", Group(), shards=Killed(sys.argv[1]), checkpoint_seconds=0).run()
"""


def test_killed_between_shards_and_their_note_the_older_checkpoint_is_used(tmp_path: Path) -> None:
    child = subprocess.run([sys.executable, "-c", KILL, str(tmp_path)], cwd=ROOT, check=False)
    assert child.returncode == -signal.SIGKILL
    shards = ShardCheckpoints(tmp_path)
    assert len(list((tmp_path / "step-000000032").iterdir())) == 65, "all files but the note"
    assert shards.steps() == [16]
    resumed, undisturbed = part("default", Group(), **saved(shards)), part("default", Group())
    resumed.run()
    undisturbed.run()
    assert same_bits(resumed, undisturbed)
    assert len(list(tmp_path.glob("step-*/"))) == 2, "what was left half done is gone"


def test_a_damaged_shard_means_the_older_checkpoint(tmp_path: Path) -> None:
    shards = ShardCheckpoints(tmp_path)
    trainer = part("default", Group(), **saved(shards))
    interrupt(trainer, 34)
    with pytest.raises(Interrupted):
        trainer.run()
    assert shards.steps() == [32, 16]
    file = tmp_path / "step-000000032" / "shard-07.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    resumed = part("default", Group(), shards=shards)
    with pytest.warns(DamagedCheckpointWarning, match=r"shard-07.* is damaged"):
        resumed._resume()
    assert resumed.optimizer.steps == 16


def test_a_worker_that_is_killed_ends_the_others_with_one_line(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from tests.training.divided_work import interrupt, join, part, Interrupted\n"
        "group = join('cpu')\n"
        "trainer = part('default', group)\n"
        "if group.rank == 1:\n"
        "    interrupt(trainer, 5)\n"
        "try:\n"
        "    trainer.run()\n"
        "except Interrupted:\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    workers = start(2, "-c", code)
    said = [w.communicate(timeout=120)[1] for w in workers]
    assert workers[1].returncode == -signal.SIGKILL
    assert workers[0].returncode == 1
    last = said[0].strip().splitlines()[-1]
    assert "WorkerError: worker 1 of 2: another worker exited or did not respond" in last
    assert os.linesep not in last
