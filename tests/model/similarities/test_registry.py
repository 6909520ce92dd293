"""A similarity of one's own: one class and one call, then it trains and answers like ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dhne import HyperNetwork
from dhne.answers.completion import Completer, Question
from dhne.answers.scorer import TupleScorer
from dhne.errors import ParameterError, UnknownNameError
from dhne.kernels import Kernels
from dhne.model.joint import Architecture, DHNEModel
from dhne.model.similarities import (
    HiddenSimilarity,
    Similarity,
    SimilarityShape,
    make_similarity,
    register_similarity,
    similarity_names,
)
from dhne.network.edges import EdgeType, NodeArray
from tests.kernels.backends import kernels_of


class Products(Similarity):
    """Σ_k Π_p (Q_p x_p)_k, in a few lines."""

    def __init__(self, shape: SimilarityShape) -> None:
        super().__init__(shape)
        sizes = [shape.sizes[t] for t in shape.edge_type.slot_types]
        self.factors = nn.ParameterList(nn.Parameter(torch.empty(n, 4)) for n in sizes)

    @property
    def width(self) -> int:
        return 4

    def reset(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for q in self.factors:
                q.normal_(generator=generator)

    def project(self, x: Tensor, slot: int) -> Tensor:
        factor: Tensor = self.factors[slot]
        return x @ factor

    def fixed(self, parts: Sequence[Tensor], index: Tensor) -> Tensor:
        product = parts[0][index[:, 0]]
        for p in range(1, len(parts)):
            product = product * parts[p][index[:, p]]
        return product

    def combine(
        self, kernels: Kernels, parts: Sequence[Tensor], index: Tensor, evidence: Tensor | None
    ) -> Tensor:
        return self.fixed(parts, index).sum(1)

    def open_logits(self, fixed: Tensor, candidates: Tensor, evidence: Tensor | None) -> Tensor:
        return fixed @ candidates.T


register_similarity("test-products", Products)


class Method:
    """What ranking asks of a method."""

    def __init__(self, network: HyperNetwork, scorer: TupleScorer) -> None:
        self.network_, self.scorer = network, scorer

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> np.ndarray:
        return self.scorer.score(nodes, edge_type)

    def score_candidates(self, nodes: NodeArray, edge_type: EdgeType, position: int) -> np.ndarray:
        return self.scorer.candidates(nodes, edge_type, position)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("name", ["test-products", "hidden"])
def test_an_open_position_has_the_scores_of_whole_tuples(name: str, ordered: bool) -> None:
    types, sizes = EdgeType.of(("a", "a", "b"), ordered=ordered), {"a": 7, "b": 5}
    network = HyperNetwork.from_arrays({types: [[0, 1, 2], [3, 4, 0]]}, sizes, ordered=ordered)
    shape = Architecture({"a": (3,), "b": (2,)}, similarity=name)
    model = DHNEModel({"a": 12, "b": 7}, network.edge_sets, shape).double()
    source = torch.Generator().manual_seed(0)
    model.reset(source)
    x = {
        "a": torch.randn(7, 3, generator=source).double(),
        "b": torch.randn(5, 2, generator=source).double(),
    }
    method = Method(network, TupleScorer(model, x, None))
    for position, t in enumerate(types):
        tuples = np.array([[2, 5, 1], [6, 0, 4]])
        found = method.score_candidates(tuples, types, position)
        for row, line in zip(tuples, found, strict=True):
            whole = np.repeat(row[None], sizes[t], axis=0)
            whole[:, position] = np.arange(sizes[t])
            np.testing.assert_allclose(line, method.score_ids(whole, types), rtol=1e-12)
        nodes = tuple(-1 if p == position else v for p, v in enumerate(tuples[0].tolist()))
        best = Completer(method).answer([Question(types, nodes, k=2)])[0]
        np.testing.assert_allclose(best.scores, method.score_ids(best.tuples, types), rtol=1e-12)


def test_it_is_trained_like_any_other() -> None:
    types = EdgeType(("a", "b"))
    module = make_similarity("test-products", SimilarityShape(types, {"a": 3, "b": 2})).double()
    module.reset(torch.Generator().manual_seed(0))
    x = [torch.randn(4, 3).double(), torch.randn(4, 2).double()]
    index = torch.tensor([[0, 1], [2, 3], [1, 1]])
    logits = module.logits(kernels_of("reference"), x, index, types)
    logits.sum().backward()
    assert all(q.grad is not None and q.grad.abs().sum() > 0 for q in module.parameters())


def test_a_name_means_one_similarity() -> None:
    assert {"hidden", "test-products"} <= set(similarity_names())
    with pytest.raises(ParameterError, match="already a similarity called 'hidden'"):
        register_similarity("hidden", Products)
    register_similarity("hidden", HiddenSimilarity)  # the same again
    with pytest.raises(UnknownNameError, match="hiden"):
        make_similarity("hiden", SimilarityShape(EdgeType(("a", "b")), {"a": 1, "b": 1}))
