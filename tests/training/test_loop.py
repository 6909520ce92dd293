"""Training: the same seed gives the same bits, also when it is killed and goes on."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.datasets import planted_clusters, power_law
from dhne.errors import ParameterError, RunError
from dhne.storage import Checkpoints
from dhne.training.callbacks import Callback, Progress
from dhne.training.loop import DivergedError

ROOT = Path(__file__).resolve().parents[2]
NETWORK = power_law(240, nodes=(40, 30, 20), clusters=4, seed=0)
EPOCHS, BATCHES = 5, 8  # of 24 hyperedges, a fifth of them held out


class Killer(Callback):
    """Ends the process as kill -9 does, after so many batches of a whole training."""

    wants_batches = True

    def __init__(self, after: int) -> None:
        self.after = after

    def on_batch_end(self, progress: Progress) -> None:
        if progress.epoch * progress.num_batches + progress.batch == self.after:
            os.kill(os.getpid(), signal.SIGKILL)


def train(directory: str | Path | None = None, kill_after: int | None = None) -> DHNE:
    model = DHNE(
        dim=8,
        epochs=EPOCHS,
        batch_size=24,
        validation=0.2,
        patience=2,
        preset="plus",
        device="cpu",
        kernels="cpu",
    )
    return model.fit(
        NETWORK,
        callbacks=[Killer(kill_after)] if kill_after is not None else None,
        checkpoints=Checkpoints(directory) if directory is not None else None,
        checkpoint_seconds=0,
    )


def digest(model: DHNE) -> str:
    """Of every weight, and of every embedding that follows from them."""
    found = hashlib.sha256()
    for name, tensor in sorted(model.model_.state_dict().items()):
        found.update(name.encode() + tensor.numpy().tobytes())
    for t, x in sorted(model.embeddings_.items()):
        found.update(t.encode() + x.tobytes())
    return found.hexdigest()


def in_child(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"from tests.training.test_loop import *\n{code}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def undisturbed() -> DHNE:
    return train()


def without_times(history: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{k: v for k, v in r.items() if "second" not in k or "order" in k} for r in history]


def test_the_same_seed_gives_the_same_bits(undisturbed: DHNE) -> None:
    again = train()
    assert digest(again) == digest(undisturbed)
    assert without_times(again.history_) == without_times(undisturbed.history_)


def test_the_same_seed_gives_the_same_bits_in_another_process(undisturbed: DHNE) -> None:
    child = in_child("print(digest(train()))")
    assert child.stdout.strip() == digest(undisturbed), child.stderr


def test_another_seed_gives_other_bits() -> None:
    fit = lambda seed: DHNE(dim=4, epochs=1, random_state=seed).fit(NETWORK)  # noqa: E731
    assert digest(fit(0)) != digest(fit(1))


def test_killed_again_and_again_it_ends_as_if_nothing_had_been(
    tmp_path: Path, undisturbed: DHNE
) -> None:
    """Before the first checkpoint, within an epoch, at its very end."""
    rng = np.random.default_rng(20)
    total = len(undisturbed.history_) * BATCHES
    moments = [
        int(rng.integers(1, BATCHES)),  # no checkpoint yet
        2 * BATCHES,  # after the last batch of the second epoch, before its checkpoint
        int(rng.integers(2 * BATCHES + 1, total)),
    ]
    for moment in moments:
        child = in_child(f"train({str(tmp_path)!r}, kill_after={moment})")
        assert child.returncode == -signal.SIGKILL, child.stderr
        done = (moment - 1) // BATCHES
        assert Checkpoints(tmp_path).epochs()[:1] == ([done] if done else [])
    resumed = train(tmp_path)
    assert digest(resumed) == digest(undisturbed)
    assert without_times(resumed.history_) == without_times(undisturbed.history_)


def test_resuming_what_is_finished_changes_nothing(tmp_path: Path, undisturbed: DHNE) -> None:
    assert digest(train(tmp_path)) == digest(undisturbed)
    assert digest(train(tmp_path)) == digest(undisturbed)


def test_resuming_with_other_data_or_settings_is_refused(tmp_path: Path) -> None:
    def fit(network: HyperNetwork = NETWORK, **params: object) -> DHNE:
        model = DHNE(dim=4, epochs=2, kernels="reference").set_params(**params)
        return model.fit(network, checkpoints=Checkpoints(tmp_path), checkpoint_seconds=0)

    fit()
    other = NETWORK.subset(np.arange(239))
    for change in ({"alpha": 0.5}, {"random_state": 3}, {"dtype": "float64"}, {"network": other}):
        with pytest.raises(RunError, match="other data or settings; resume with the same"):
            fit(**change)


# -- what a training leaves ------------------------------------------------------------------------


def test_history_has_a_record_an_epoch(undisturbed: DHNE) -> None:
    for number, record in enumerate(undisturbed.history_, start=1):
        assert record["epoch"] == number
        assert record["loss"] == pytest.approx(record["first_order"] + record["second_order"])
        assert 0 <= record["validation_auc"] <= 1
        assert record["edges_per_second"] > 0
    rates = [r["learning_rate"] for r in undisturbed.history_]
    assert rates == sorted(rates, reverse=True)


def test_training_lowers_the_loss() -> None:
    history = DHNE(dim=8, epochs=10, kernels="reference").fit(NETWORK).history_
    assert history[-1]["first_order"] < history[0]["first_order"] < math.log(2) + 0.05
    assert history[-1]["second_order"] < history[0]["second_order"]


def test_early_stopping_brings_the_best_weights_back() -> None:
    """Trained to the best epoch only, with the same schedule, the weights are the same."""
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=5, edges=120)
    params = {
        "dim": 4, "validation": 0.3, "patience": 3, "epochs": 40, "learning_rate": 0.3,
        "kernels": "reference", "device": "cpu",
    }  # fmt: skip
    model = DHNE(**params).fit(network)
    aucs = [r["validation_auc"] for r in model.history_]
    best = int(np.argmax(aucs))
    assert len(aucs) == best + 1 + 3 < 40, "stops when patience is at its end"

    class StopAtBest(Callback):
        def on_epoch_end(self, progress: Progress) -> bool:
            return progress.epoch == best + 1

    shorter = DHNE(**params).fit(network, callbacks=[StopAtBest()])
    assert digest(shorter) == digest(model)
    longer = DHNE(**{**params, "patience": 1000}).fit(network, callbacks=[_StopAfter(best + 3)])
    assert max(r["validation_auc"] for r in longer.history_) == max(aucs)
    assert digest(longer) == digest(model)


class _StopAfter(Callback):
    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def on_epoch_end(self, progress: Progress) -> bool:
        return progress.epoch >= self.epochs


def test_too_few_hyperedges_to_hold_out_means_no_early_stopping() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [2, 2]]})
    model = DHNE(dim=2, epochs=8, validation=0.01, patience=1, kernels="reference").fit(network)
    assert len(model.history_) == 8
    assert "validation_auc" not in model.history_[0]


def test_holding_everything_out_is_refused() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [2, 2]]})
    with pytest.raises(ParameterError, match="leaves no hyperedge of 3 to train on"):
        DHNE(dim=2, validation=0.9).fit(network)


def test_a_learning_rate_out_of_this_world_diverges_plainly() -> None:
    with pytest.raises(DivergedError, match=r"loss became .* in epoch \d+; try a learning rate"):
        DHNE(dim=4, optimizer="sgd", learning_rate=1e38, epochs=3, kernels="reference").fit(NETWORK)
