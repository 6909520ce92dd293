"""Second-order random walks (node2vec), computed on the fly in memory linear in the edges.

A walk that came from t to v continues to a neighbour x of v with probability proportional to
w(v, x) · a(t, x), where

    a(t, x) = 1/p if x = t,   1 if x is a neighbour of t,   1/q otherwise.

Tables of these probabilities would need Σ_(t,v) degree(v) numbers. Instead x is drawn in proportion
to w(v, x) and accepted with probability a(t, x) / max(1/p, 1, 1/q): the same distribution, from the
graph alone. p = q = 1 is the first-order walk, which needs no test.

Each walk has its own random stream, derived from the seed, the round and its number in the round,
so walks run in parallel and do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

WalkArray = npt.NDArray[np.int32]


class Walker:
    """Draws random walks on a weighted graph.

    Parameters
    ----------
    graph : symmetric scipy.sparse.csr_array ``[n, n]`` with positive weights
    p, q : float
        The return and in-out parameters.
    length : int
        Nodes per walk, including the start.
    seed : int

    Examples
    --------
    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=float))
    >>> Walker(path, length=2, seed=0).walk(np.array([0, 2]))
    array([[0, 1],
           [2, 1]], dtype=int32)
    """

    def __init__(
        self,
        graph: sparse.csr_array,
        *,
        p: float = 1.0,
        q: float = 1.0,
        length: int = 40,
        seed: int = 0,
    ) -> None:
        graph = sparse.csr_array(graph)
        graph.sort_indices()
        self.indptr = graph.indptr.astype(np.int64)
        self.indices = graph.indices.astype(np.int32)
        # running sums over all rows: those of row v are at indptr[v] … indptr[v + 1]
        self.running = np.concatenate([[0.0], np.cumsum(graph.data, dtype=np.float64)])
        self.p, self.q, self.length, self.seed = p, q, length, seed

    def walk(self, starts: npt.NDArray[Any], number: int = 0) -> WalkArray:
        """Return one walk per start, ``int32[m, length]``; `number` is the round.

        A walk stays where it is if its node has no neighbours.
        """
        from .compiled import walk_all

        walks = np.empty((len(starts), self.length), dtype=np.int32)
        walk_all(
            self.indptr,
            self.indices,
            self.running,
            starts.astype(np.int32),
            self._streams(starts, number),
            1.0 / self.p,
            1.0 / self.q,
            walks,
        )
        return walks

    def _streams(self, starts: npt.NDArray[Any], number: int) -> npt.NDArray[np.uint64]:
        """Return one random 64-bit state per walk."""
        root = np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0]
        rng = np.random.default_rng(root)
        # one state per entry of `starts`, so that a node may start several walks
        return rng.integers(np.iinfo(np.uint64).max, size=len(starts), dtype=np.uint64)
