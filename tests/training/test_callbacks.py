"""Callbacks: when they are called, and what the ones that come along do."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from dhne import DHNE
from dhne.datasets import planted_clusters
from dhne.storage import Checkpoints
from dhne.training.callbacks import Callback, JsonLines, Progress, ProgressBar, TensorBoard

NETWORK = planted_clusters(types=2, clusters=2, nodes_per_cluster=5)


def fit(callbacks: list[Callback], epochs: int = 3, **params: object) -> DHNE:
    model = DHNE(dim=2, epochs=epochs, batch_size=20, kernels="reference", **params)
    return model.fit(NETWORK, callbacks=callbacks)


class Diary(Callback):
    def __init__(self, name: str, lines: list[str], *, batches: bool = True) -> None:
        self.name, self.lines, self.wants_batches = name, lines, batches

    def on_train_begin(self, progress: Progress) -> None:
        self.lines.append(f"{self.name} begin {progress.epochs}x{progress.num_batches}")

    def on_batch_end(self, progress: Progress) -> None:
        assert progress.first_order > 0
        self.lines.append(f"{self.name} batch {progress.epoch}.{progress.batch}")

    def on_epoch_end(self, progress: Progress) -> None:
        assert progress.history[-1]["epoch"] == progress.epoch
        self.lines.append(f"{self.name} epoch {progress.epoch}")

    def on_train_end(self, progress: Progress) -> None:
        self.lines.append(f"{self.name} end")


def test_callbacks_are_called_in_order() -> None:
    lines: list[str] = []
    fit([Diary("a", lines), Diary("b", lines, batches=False)], epochs=2)
    assert lines == [
        "a begin 2x3", "b begin 2x3",
        "a batch 0.1", "a batch 0.2", "a batch 0.3", "a epoch 1", "b epoch 1",
        "a batch 1.1", "a batch 1.2", "a batch 1.3", "a epoch 2", "b epoch 2",
        "a end", "b end",
    ]  # fmt: skip


def test_a_callback_can_stop_the_training_and_all_hear_of_the_epoch() -> None:
    lines: list[str] = []

    class Stop(Callback):
        def on_epoch_end(self, progress: Progress) -> bool:
            return progress.epoch == 2

    model = fit([Stop(), Diary("a", lines, batches=False)], epochs=9)
    assert lines == ["a begin 9x3", "a epoch 1", "a epoch 2", "a end"]
    assert len(model.history_) == 2


def test_the_end_comes_also_when_something_breaks() -> None:
    lines: list[str] = []

    class Break(Callback):
        def on_epoch_end(self, progress: Progress) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit([Diary("a", lines, batches=False), Break()])
    assert lines[-1] == "a end"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_says_what_matters_on_a_terminal() -> None:
    screen = Terminal()
    fit([ProgressBar(screen)], validation=0.3)
    drawn = screen.getvalue()
    for text in ("epoch", "3/3", "L1", "αL2", "AUC", "edges/s"):
        assert text in drawn


def test_the_bar_is_quiet_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    page = io.StringIO()
    fit([ProgressBar(page)])
    fit([], verbose=True)
    captured = capsys.readouterr()
    assert page.getvalue() == captured.out == captured.err == ""


def test_json_lines_are_the_history(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    model = fit([JsonLines(path)])
    assert [json.loads(line) for line in path.read_text().splitlines()] == model.history_


def test_json_lines_of_a_resumed_training_are_whole(tmp_path: Path) -> None:
    path, checkpoints = tmp_path / "log.jsonl", Checkpoints(tmp_path / "checkpoints")

    class Interrupt(Callback):
        def on_train_begin(self, progress: Progress) -> None:
            self.wants = progress.epoch == 0

        def on_epoch_end(self, progress: Progress) -> None:
            if self.wants and progress.epoch == 2:
                raise KeyboardInterrupt

    def go() -> DHNE:
        model = DHNE(dim=2, epochs=4, kernels="reference")
        callbacks = [JsonLines(path), Interrupt()]
        return model.fit(
            NETWORK, callbacks=callbacks, checkpoints=checkpoints, checkpoint_seconds=0
        )

    with pytest.raises(KeyboardInterrupt):
        go()
    assert len(path.read_text().splitlines()) == 2
    history = go().history_
    assert [json.loads(line) for line in path.read_text().splitlines()] == history
    assert [r["epoch"] for r in history] == [1, 2, 3, 4]


def test_tensorboard_gets_every_number(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="the package tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    model = fit([TensorBoard(tmp_path)])
    events = EventAccumulator(str(tmp_path)).Reload()
    losses = [e.value for e in events.Scalars("loss")]
    assert losses == pytest.approx([r["loss"] for r in model.history_], rel=1e-6)
