"""LINE (Tang et al., 2015) on the clique expansion: first- and second-order proximity.

For a pair (i, j) drawn in proportion to its weight, with noise nodes n drawn in proportion to
degree^{3/4}, stochastic gradients descend

    first order:    −log σ(u_jᵀ u_i) − Σ_n log σ(−u_nᵀ u_i)
    second order:   −log σ(c_jᵀ u_i) − Σ_n log σ(−c_nᵀ u_i)

where u are vectors and c the contexts of the second order. Each order is trained on its own with
half of the dimensions, so that the total size equals that of other methods; the two vectors of a
node are concatenated. The similarity of a pair is the inner product, averaged over both orders.
Norms reflect how well connected a node is: on validation sets of the paper's four datasets cosines
were worse on all; sigmoids of the inner products were better on MovieLens and wordnet, worse on GPS
and drug.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dhne.errors import ParameterError

from .alias import AliasTable
from .clique import clique_expansion
from .pairwise import PairwiseEmbedder
from .progress import track

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork

_SAMPLES_AT_ONCE = 1 << 17
_LOWEST_RATE = 1e-4  # of the first learning rate


@dataclass(kw_only=True, eq=False, repr=False)
class LINE(PairwiseEmbedder):
    """First- and second-order proximity of the clique expansion.

    Parameters
    ----------
    dim : int
        Total size; each order has half of it.
    negatives : int
        Noise nodes per pair.
    epochs : int
        Samples per order, in multiples of the number of pairs in both directions.
    learning_rate : float
        Initial value; it falls linearly.
    order : {"both", "first", "second"}
        One order alone has all of the dimensions.
    aggregate : {"mean", "min"}
        How a tuple's score is computed from the similarities of its pairs.
    similarity : {"cosine", "dot", "sigmoid"}, optional
        None for the inner product; evaluation then chooses between it and the cosine.
        The inner product is the mean over both orders, the cosine that of the whole vectors.
    random_state : int
    verbose : bool
        Whether to show progress on standard error.

    Examples
    --------
    >>> from dhne import HyperNetwork
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 0], [2, 1], [3, 1]]})
    >>> model = LINE(dim=8, epochs=1000).fit(net)
    >>> scores = model.score(np.array([[0, 0], [0, 1]]))
    >>> bool(scores[0] > scores[1])
    True
    """

    negatives: int = 5
    epochs: int = 50
    learning_rate: float = 0.025
    order: str = "both"
    verbose: bool = False

    def _fit(self, network: HyperNetwork) -> None:
        graph = clique_expansion(network)
        parts = []
        for order, dim in self._dims().items():
            rng = np.random.default_rng([self.random_state, order == "second"])
            parts.append(self._train(graph.matrix, dim, rng, first=order == "first"))
        self.embeddings_ = graph.split(np.concatenate(parts, axis=1))

    def _parts(self) -> list[slice]:
        if self._similarity() == "cosine" or self.order != "both":
            return [slice(None)]
        first = self._dims()["first"]
        return [slice(first), slice(first, None)]

    def _dims(self) -> dict[str, int]:
        if self.order in ("first", "second"):
            return {self.order: self.dim}
        if self.order != "both":
            raise ParameterError(f"order must be 'both', 'first' or 'second', got {self.order!r}")
        if self.dim < 2:
            raise ParameterError(f"both orders need at least 2 dimensions, got dim={self.dim}")
        return {"first": self.dim - self.dim // 2, "second": self.dim // 2}

    def _train(
        self, graph: sparse.csr_array, dim: int, rng: np.random.Generator, *, first: bool
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of one order."""
        from .compiled import line_steps

        n = graph.shape[0]
        heads = np.repeat(np.arange(n), np.diff(graph.indptr))
        pairs = AliasTable(graph.data)
        noise = AliasTable(graph.sum(axis=1) ** 0.75)
        vectors = ((rng.random((n, dim)) - 0.5) / dim).astype(np.float32)
        contexts = vectors if first else np.zeros((n, dim), dtype=np.float32)
        total = self.epochs * graph.nnz
        what = "LINE, first order" if first else "LINE, second order"
        for start in track(range(0, total, _SAMPLES_AT_ONCE), what, verbose=self.verbose):
            size = min(_SAMPLES_AT_ONCE, total - start)
            pair = pairs.draw(size, rng)
            targets = np.empty((size, 1 + self.negatives), dtype=np.int64)
            targets[:, 0] = graph.indices[pair]
            targets[:, 1:] = noise.draw((size, self.negatives), rng)
            left = 1 - np.arange(start, start + size) / total
            rates = self.learning_rate * np.maximum(left, _LOWEST_RATE)
            line_steps(vectors, contexts, heads[pair], targets, rates)
        return vectors
