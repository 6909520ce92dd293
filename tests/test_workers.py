"""Groups of workers: of one it does nothing; what torchrun says is read, and mistakes are told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed

from dhne import DHNE, workers
from dhne.errors import NotFittedError, ParameterError, RunError
from dhne.storage import Checkpoints
from dhne.training.callbacks import Callback, Progress
from dhne.workers import Group
from tests.training.divided_work import TRIPLES, start


@pytest.fixture
def torchrun(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in {"RANK": "2", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost"}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_a_group_of_one_does_nothing() -> None:
    alone, tensor = Group(), torch.arange(3)
    assert alone.sum_(tensor) is tensor
    assert alone.total(2.5) == alone.of_first(2.5) == 2.5
    assert alone.text_of_first("größe") == "größe"
    assert alone.to_first(tensor, [(3,)]) == [tensor]
    assert alone.summed_bytes == 0
    with pytest.raises(KeyError), alone.together():
        raise KeyError


def test_without_torchrun_there_is_no_group() -> None:
    assert workers.join("cpu") is None
    assert workers.rank() == 0
    assert not workers.was_restarted()


def test_what_torchrun_says(torchrun: pytest.MonkeyPatch) -> None:
    assert workers.rank() == 2
    torchrun.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert workers.was_restarted()
    torchrun.setenv("LOCAL_RANK", "5")
    assert workers.local_device(4) == 1, "workers may share a GPU"
    torchrun.setenv("RANK", "two")
    with pytest.raises(ParameterError, match=r"RANK must be an integer, got 'two'; .* torchrun"):
        workers.rank()


def test_workers_of_a_restart_do_not_meet_those_that_are_gone() -> None:
    """A store outlives the attempts; the one before left its names, also of a worker that died."""
    store = torch.distributed.HashStore()
    for key, value in {"name/0": "gone", "name/1": "gone too", "names": "gone,gone too"}.items():
        store.set(key, value)
    with ThreadPoolExecutor(2) as pool:
        met = list(pool.map(lambda rank: workers.meet(store, rank, 2), range(2)))
    assert met[0] == met[1]
    with ThreadPoolExecutor(2) as pool:
        again = list(pool.map(lambda rank: workers.meet(store, rank, 2), range(2)))
    assert again[0] == again[1] != met[0]


def test_workers_that_never_arrive_are_not_awaited_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workers.TIMEOUT, "0.1")
    store = torch.distributed.HashStore()
    store.set("name/1", "gone")
    with pytest.raises(RuntimeError, match="not all workers arrived"):
        workers.meet(store, 0, 2)


def test_a_wrong_timeout_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(workers.TIMEOUT, "soon")
    with pytest.raises(ParameterError, match="DHNE_WORKER_TIMEOUT must be a positive number"):
        workers.timeout()


def test_the_other_workers_have_no_model(torchrun: pytest.MonkeyPatch) -> None:
    model = DHNE()
    model._is_elsewhere = True
    model.save("nowhere")
    with pytest.raises(
        NotFittedError, match=r"the first worker has the trained model, .* worker 3"
    ):
        model.score(("a", "b", "c"))


def test_a_model_is_updated_by_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model = DHNE(dim=2, epochs=1, kernels="reference").fit(TRIPLES)
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost"}.items():
        monkeypatch.setenv(name, value)
    names = [TRIPLES.names(t)[0].as_py() for t in TRIPLES.node_types]
    with pytest.raises(ParameterError, match="updated by one process; start it without torchrun"):
        model.partial_fit([tuple(names)])


def test_what_one_process_began_is_not_begun_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fit() -> DHNE:
        model = DHNE(dim=2, epochs=1, kernels="reference")
        return model.fit(TRIPLES, checkpoints=Checkpoints(tmp_path), checkpoint_seconds=0)

    fit()
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RunError, match="started by one process; resume it without"):
        fit()


def test_what_workers_began_one_process_finishes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fit(**options: Any) -> DHNE:
        return DHNE(dim=2, epochs=3, kernels="reference").fit(TRIPLES, **options)

    class StopAfterFirst(Callback):
        def on_epoch_end(self, progress: Progress) -> bool:
            return True

    store = {"checkpoints": Checkpoints(tmp_path), "checkpoint_seconds": 0}
    with monkeypatch.context() as within:
        for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost"}.items():
            within.setenv(name, value)
        expected = fit()
        fit(callbacks=[StopAfterFirst()], **store)
    found = fit(**store)
    assert len(found.history_) == 3
    for t, x in expected.embeddings_.items():
        np.testing.assert_array_equal(found.embeddings_[t], x)


TALK = """
from dhne.workers import FailedElsewhereError, join
import torch
group = join("cpu")
assert group.sum_(torch.full((3,), group.rank + 1)).tolist() == [3, 3, 3]
assert group.of_first(group.rank + 7.0) == 7
assert group.text_of_first("first ü" if group.is_first else "second") == "first ü"
found = group.to_first(torch.full((group.rank + 1,), group.rank), [(1,), (2,)])
assert [x.tolist() for x in found] == ([[0], [1, 1]] if group.is_first else [])
with group.together():
    pass
try:
    with group.together():
        assert group.is_first, "this is the second"
except AssertionError as error:
    assert not group.is_first and str(error) == "this is the second"
except FailedElsewhereError as error:
    assert group.is_first and str(error) == "worker 2 of 2 failed"
else:
    raise SystemExit(3)
"""


def test_two_workers_talk() -> None:
    processes = start(2, "-c", TALK)
    said = [p.communicate(timeout=120)[1] for p in processes]
    assert [p.returncode for p in processes] == [0, 0], said
