"""The mean of the weights over the last epochs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from dhne import DHNE
from dhne.datasets import power_law
from dhne.storage import Checkpoints
from dhne.training.callbacks import Callback, Progress

NETWORK = power_law(120, nodes=(40, 30, 20), clusters=4, seed=0)
SETTINGS = {"dim": 4, "epochs": 5, "batch_size": 24, "kernels": "reference", "device": "cpu"}


class StopAfter(Callback):
    """Stops a training after an epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_epoch_end(self, progress: Progress) -> bool:
        return progress.epoch == self.epoch


def weights(model: DHNE) -> dict[str, torch.Tensor]:
    return model.model_.state_dict()


def after(epoch: int, **changes: object) -> dict[str, torch.Tensor]:
    model = DHNE(**{**SETTINGS, **changes})
    return weights(model.fit(NETWORK, callbacks=[StopAfter(epoch)]))


def test_the_model_has_the_mean_over_the_last_epochs() -> None:
    found = weights(DHNE(**SETTINGS, averaging=0.6).fit(NETWORK))
    last = [after(epoch) for epoch in (3, 4, 5)]
    for name, w in found.items():
        expected = torch.stack([w[name] for w in last]).mean(0)
        torch.testing.assert_close(w, expected, rtol=1e-5, atol=1e-6)


def test_stopped_early_it_has_the_mean_so_far() -> None:
    for name, w in after(2, averaging=0.6).items():
        assert torch.equal(w, after(2)[name]), "the mean begins after the third epoch"
    first, second = after(3), after(4)
    for name, w in after(4, averaging=0.6).items():
        torch.testing.assert_close(w, (first[name] + second[name]) / 2, rtol=1e-5, atol=1e-6)


def test_with_validation_the_best_epoch_is_kept() -> None:
    mean = DHNE(**SETTINGS, validation=0.2, averaging=1.0).fit(NETWORK)
    best = DHNE(**SETTINGS, validation=0.2).fit(NETWORK)
    for name, w in weights(mean).items():
        assert torch.equal(w, weights(best)[name])


def test_a_training_that_is_resumed_has_the_same_mean(tmp_path: Path) -> None:
    whole = DHNE(**SETTINGS, averaging=0.8).fit(NETWORK)
    model = DHNE(**SETTINGS, averaging=0.8)
    for epoch in (1, 3, 4, 5):
        model.fit(
            NETWORK,
            callbacks=[StopAfter(epoch)],
            checkpoints=Checkpoints(tmp_path),
            checkpoint_seconds=0,
        )
    for name, w in weights(model).items():
        assert torch.equal(w, weights(whole)[name])
    for t, x in model.embeddings_.items():
        np.testing.assert_array_equal(x, whole.embeddings_[t])
