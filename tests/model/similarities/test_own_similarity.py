"""A similarity of one's own: one file, no change to the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import dhne
from dhne.datasets import planted_clusters
from dhne.kernels import Kernels
from dhne.model.similarities import Similarity, SimilarityShape, register_similarity


class Distances(Similarity):
    """logit = c − Σ_k w_k (Σ_p U_p x_p)_k²: tuples whose projections cancel out are likely."""

    def __init__(self, shape: SimilarityShape) -> None:
        super().__init__(shape)
        self.projections = nn.ParameterList(
            nn.Parameter(torch.empty(shape.sizes[t], 8)) for t in shape.edge_type.slot_types
        )
        self.weights = nn.Parameter(torch.ones(8))
        self.constant = nn.Parameter(torch.zeros(1))

    @property
    def width(self) -> int:
        return 8

    def reset(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for u in self.projections:
                u.normal_(0, 0.3, generator=generator)
            self.weights.fill_(1)
            self.constant.zero_()

    def project(self, x: Tensor, slot: int) -> Tensor:
        return x @ self.projections[slot]

    def combine(
        self, kernels: Kernels, parts: Sequence[Tensor], index: Tensor, evidence: Tensor | None
    ) -> Tensor:
        return self._finish(kernels.gather_sum(parts, index))

    def fixed(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        return sum((part[index[:, p]] for p, part in enumerate(parts)), torch.zeros(()))

    def open_logits(self, fixed: Tensor, candidates: Tensor, evidence: Tensor | None) -> Tensor:
        return self._finish(fixed[:, None] + candidates)

    def _finish(self, total: Tensor) -> Tensor:
        return self.constant - total.square() @ self.weights


register_similarity("own-distances", Distances)


def test_it_trains_is_saved_loaded_and_ranks(tmp_path: Path) -> None:
    network = planted_clusters(types=3, clusters=2, nodes_per_cluster=5)
    model = dhne.DHNE(similarity="own-distances", dim=6, epochs=30, kernels="reference").fit(
        network
    )
    assert isinstance(model.model_.similarity(network.edge_types[0]), Distances)
    assert model.history_[-1]["first_order"] < model.history_[0]["first_order"]
    model.save(tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    tuples = network.edges()[:20]
    np.testing.assert_allclose(again.score(tuples), model.score(tuples), rtol=1e-6)
    asked = np.array([*tuples[0][:2], -1])
    found = again.rank(asked, k=10)
    whole = np.repeat(tuples[:1], 10, axis=0)
    whole[:, 2] = network.ids(network.node_types[2], found.names)
    np.testing.assert_allclose(found.scores, again.score(whole), rtol=1e-5)
