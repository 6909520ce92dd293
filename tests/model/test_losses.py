"""Losses: each negative counts for its own hyperedge, and one of your own takes one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import dhne
from dhne.datasets import planted_clusters
from dhne.model.losses import CrossEntropy, Loss, TupleLogits, register_loss


class Margin(Loss):
    """Σ max(0, 1 − s⁺ + s⁻): a hyperedge is to lead each of its own negatives by 1."""

    def __call__(self, logits: TupleLogits) -> Tensor:
        lead = logits.edges[:, None] - logits.negatives
        return (torch.relu(1 - lead) * logits.found).sum()


register_loss("own-margin", Margin)


def test_it_trains_is_saved_loaded_and_ranks(tmp_path: Path) -> None:
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=5)
    model = dhne.DHNE(loss="own-margin", dim=6, epochs=30, kernels="reference").fit(network)
    assert model.history_[-1]["first_order"] < model.history_[0]["first_order"]
    model.save(tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    assert again.settings_.loss == "own-margin"
    tuples = network.edges()[:20]
    np.testing.assert_allclose(again.score(tuples), model.score(tuples), rtol=1e-6)
    asked = np.array([*tuples[0][:2], -1])
    assert again.rank(asked, k=3).names == model.rank(asked, k=3).names


def test_each_negative_belongs_to_its_hyperedge() -> None:
    logits = TupleLogits(torch.arange(6.0), torch.tensor([True, True, False, True]), 2)
    assert logits.edges.tolist() == [0, 1]
    assert logits.negatives.tolist() == [[2, 3], [4, 5]]
    assert logits.found.tolist() == [[True, True], [False, True]]
    # hyperedge 0 against 2 and 3, hyperedge 1 against 5 alone
    assert float(Margin()(logits)) == (1 + 2) + (1 + 3) + (1 + 4)


def test_negatives_that_were_not_found_do_not_count() -> None:
    flat = torch.tensor([0.3, -0.2, 1.0, 2.0])
    found = CrossEntropy()(TupleLogits(flat, torch.tensor([True, False]), 2))
    scores = torch.sigmoid(flat)
    expected = -torch.log(scores[:2]).sum() - torch.log(1 - scores[2])
    torch.testing.assert_close(found, expected)
