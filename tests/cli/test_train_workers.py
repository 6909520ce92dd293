"""``torchrun -m dhne train``: several workers make an ordinary run, also when one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dhne
from dhne.datasets import load_dataset
from dhne.evaluation import evaluate, held_out_data
from tests.training.divided_work import free_port

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("--seed", "0", "--epochs", "1", "--dim", "8", "--batch-size", "128")
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def torchrun(*arguments: object, size: int = 2) -> subprocess.CompletedProcess[str]:
    command = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
    return subprocess.run(
        [sys.executable, *command, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by two workers."""
    run = tmp_path_factory.mktemp("runs") / "two"
    done = torchrun("-m", "dhne", "train", "wordnet-sample", "--out", run, *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("hyperedges, 1 epochs") == 1, "only the first speaks"
    assert not done.stdout
    return run


def test_a_run_of_two_workers_is_an_ordinary_run(run: Path) -> None:
    model = dhne.load(run)
    assert set(model.embeddings_) == set(model.network_.node_types)
    names = [model.network_.names(t)[0].as_py() for t in model.network_.edge_types[0]]
    assert 0 <= model.score(tuple(names)) <= 1
    assert not list((run / "checkpoints").iterdir())


def test_a_killed_worker_changes_no_bit(run: Path, tmp_path: Path) -> None:
    """torchrun starts all workers again, and they go on from the last checkpoint."""
    out = tmp_path / "killed"
    given = ("train", "wordnet-sample", "--out", out, *OPTIONS, "--checkpoint-every", 0)
    done = torchrun("--max-restarts=3", "-m", "tests.cli.killed_worker", *given)
    assert done.returncode == 0, done.stderr
    assert "another worker exited" in done.stderr, "one was killed, and the other said so"
    for name in ("model.safetensors", "nodes", "edges"):
        assert _bytes(out / name) == _bytes(run / name)


SCRIPT = """
import sys
import dhne
from dhne.datasets import load_dataset

network = load_dataset("wordnet-sample", "all")
model = dhne.DHNE(epochs=1, dim=8, batch_size=128, random_state=0).fit(network)
model.save(sys.argv[1])
"""


def test_two_machines_and_python_give_the_same_model(run: Path, tmp_path: Path) -> None:
    """Two torchruns meet at one address, each with one worker of a script."""
    script, out = tmp_path / "script.py", tmp_path / "run"
    script.write_text(SCRIPT)
    options = ["--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d"]
    address = f"--rdzv-endpoint=127.0.0.1:{free_port()}"
    command = ["-m", "torch.distributed.run", *options, address, script, out]
    machines = [
        subprocess.Popen(
            [sys.executable, *map(str, command)],
            cwd=ROOT,
            env=os.environ | ENVIRONMENT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [m.communicate(timeout=300)[1] for m in machines]
    assert not any(m.returncode for m in machines), said
    assert _bytes(out / "model.safetensors") == _bytes(run / "model.safetensors")


def _bytes(path: Path) -> list[bytes]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [f.read_bytes() for f in files]


def test_workers_learn_movielens_as_well_as_one_process(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other initial values, and rows that are not sampled: the same AUC within noise."""
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    out, options = tmp_path / "run", ("--split", "train", "--epochs", 4, "--dim", 32)
    done = torchrun("-m", "dhne", "train", "movielens", "--out", out, *options)
    assert done.returncode == 0, done.stderr
    two, train = dhne.load(out), load_dataset("movielens", "train")
    one = dhne.DHNE(epochs=4, dim=32).fit(train)
    test = load_dataset("movielens", "test")
    auc = [
        evaluate("link-prediction", held_out_data(m, test)[0], m).mean["auc"] for m in (one, two)
    ]
    assert min(auc) > 0.85
    assert abs(auc[0] - auc[1]) < 0.01


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("none.csv",), "none.csv"),
        (("wordnet-sample", "--optimizer", "sgd", "--learning-rate", "1e38"), "loss became"),
    ],
)
def test_a_mistake_is_told_once(given: tuple[str, ...], told: str, tmp_path: Path) -> None:
    """Before training, and in the midst of it, where all workers see it alike."""
    done = torchrun("-m", "dhne", "train", *given, "--out", tmp_path / "run", *OPTIONS)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("dhne: error:")]
    assert len(said) == 1
    assert told in said[0]
    assert not (tmp_path / "run").exists()
