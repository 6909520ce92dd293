"""The memory of a training: what workers divide, what each needs, and how many would suffice."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dhne.adjacency import adjacency
from dhne.datasets.generators import unordered_sets
from dhne.errors import MemoryLimitError
from dhne.hyperparameters.presets import PRESETS
from dhne.model.row_encoding import RowEncoding
from dhne.training.divided import DividedBlueprint
from dhne.training.memory_estimate import (
    TrainingBytes,
    _free,
    check_fits,
    count_weights,
    training_bytes,
)
from dhne.workers import Group
from tests.training.divided_work import CASES, blueprint


def test_how_many_workers_would_do() -> None:
    assert TrainingBytes(divided=100, own=10).workers(1, free=60) == 2
    assert TrainingBytes(divided=100, own=10).workers(1, free=20) == 10
    assert TrainingBytes(divided=25, own=10).workers(4, free=20) == 10, "as seen by one of four"
    assert TrainingBytes(divided=100, own=10).workers(1, free=11) is None, "more than 64"
    assert TrainingBytes(divided=100, own=10).workers(1, free=10) is None


@pytest.mark.parametrize("name", ["default", "plus"])
def test_tables_rows_and_hyperedges_are_divided(name: str) -> None:
    """A worker of four needs about a quarter of what is divided, and as much for itself."""

    class Second(Group):
        def total(self, number: float) -> float:
            return 4 * number

    def needed(group: Group) -> TrainingBytes:
        plan = DividedBlueprint.divide(blueprint(CASES[name]), group)
        weights = count_weights(plan.build)
        return training_bytes(plan.train, plan.rows, plan.settings, weights, 8, group.size)

    alone, one_of_four = needed(Group()), needed(Second(1, 4))
    assert alone.divided / 5 < one_of_four.divided < alone.divided / 2
    assert one_of_four.own == pytest.approx(alone.own, rel=0.2)


def test_the_error_says_how_many_workers_would_do() -> None:
    cpu = torch.device("cpu")
    free = _free(cpu)
    if free is None:
        pytest.skip("this system does not say how much memory is free")
    with pytest.raises(
        MemoryLimitError, match=r"; 4 workers with this much memory each would suffice"
    ):
        check_fits(TrainingBytes(3.5 * free, 0), cpu)
    with pytest.raises(MemoryLimitError, match=r"more workers would not help, as each needs 4096"):
        check_fits(TrainingBytes(0, 2**42), cpu)


def test_long_sets_take_memory_in_proportion_to_their_members() -> None:
    """Apart from the rows, whose entries are pairs of nodes that met."""
    settings = PRESETS["plus"].for_network(10, 400)
    found = []
    for size in (100, 200, 400):
        network = unordered_sets(nodes=400, edges=10, communities=1, sizes=(size,))
        rows = {t: RowEncoding(a, "digits") for t, a in adjacency(network).items()}
        entries = 58 * sum(r.adjacency.matrix.nnz for r in rows.values())
        found.append(sum(training_bytes(network, rows, settings, weights=0)) - entries)
    assert np.allclose(np.array(found) / found[0], [1, 2, 4], rtol=0.05)
