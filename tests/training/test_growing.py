"""`partial_fit` as people call it: what it adds, what it records, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.errors import ParameterError
from dhne.training.callbacks import Callback, Progress
from tests.training.tastes import TYPES, fitted, triples


def test_known_nodes_keep_their_ids_and_new_ones_are_added() -> None:
    model = fitted()
    before = {t: model.network_.names(t).to_pylist() for t in TYPES}
    model.partial_fit(triples(40, 1, users=30), epochs=3)
    for t in TYPES:
        assert model.network_.names(t).to_pylist()[: len(before[t])] == before[t]
        assert len(model.embeddings_[t]) == model.network_.num_nodes(t)
    assert model.network_.num_nodes("user") > len(before["user"])
    assert model.network_.num_edges() == 160
    assert [r["epoch"] for r in model.history_] == list(range(1, 14))


def test_an_update_without_new_rows_changes_no_bit() -> None:
    model = fitted()
    before, vectors = model.history_, {t: v.copy() for t, v in model.vectors_.items()}
    model.partial_fit(HyperNetwork.from_tuples([], TYPES))
    assert model.history_ == before
    for t in TYPES:
        np.testing.assert_array_equal(model.vectors_[t], vectors[t])


def test_wrong_arguments_change_nothing() -> None:
    model = fitted()
    network = model.network_
    with pytest.raises(ParameterError, match="epochs"):
        model.partial_fit(triples(3, 1), epochs=0)
    assert model.network_ is network
    assert model.fit(network).updates_ == []


def test_replay_is_checked_and_kept_in_the_record() -> None:
    model = fitted()
    with pytest.raises(ParameterError, match="replay"):
        model.partial_fit(triples(3, 1), replay=-1)
    for replay in (0.0, 0.5, 1000.0):
        model.partial_fit(triples(6, 1), epochs=1, replay=replay)
        assert model.updates_[-1]["replay"] == replay
    assert [u["number"] for u in model.updates_] == [1, 2, 3]


def test_a_failed_update_changes_nothing() -> None:
    class Stop(Callback):
        def on_epoch_end(self, progress: Progress) -> None:
            raise KeyboardInterrupt

    model = fitted()
    before = dict(model.__dict__)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(triples(9, 1), callbacks=[Stop()])
    assert model.__dict__ == before
