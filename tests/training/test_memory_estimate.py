"""The estimate of a training's memory."""

from __future__ import annotations

import numpy as np

from dhne.adjacency import adjacency
from dhne.datasets.generators import unordered_sets
from dhne.hyperparameters.presets import PRESETS
from dhne.model.row_encoding import RowEncoding
from dhne.training.memory_estimate import training_bytes


def test_long_sets_take_memory_in_proportion_to_their_members() -> None:
    """Apart from the rows, whose entries are pairs of nodes that met."""
    settings = PRESETS["plus"].for_network(10, 400)
    found = []
    for size in (100, 200, 400):
        network = unordered_sets(nodes=400, edges=10, communities=1, sizes=(size,))
        rows = {t: RowEncoding(a, "digits") for t, a in adjacency(network).items()}
        entries = 58 * sum(r.adjacency.matrix.nnz for r in rows.values())
        found.append(training_bytes(network, rows, settings, weights=0) - entries)
    assert np.allclose(np.array(found) / found[0], [1, 2, 4], rtol=0.05)
