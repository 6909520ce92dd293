"""Skip-gram over random walks (gensim), and the base of the two methods that use it.

Walks are drawn round by round while gensim reads them and are never all in memory; a round is one
walk from every node. The walks of a round depend only on the seed and the round's number, so every
pass reads the same corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError, require

from .clique import clique_expansion
from .pairwise import PairwiseEmbedder
from .progress import track
from .walks import Walker

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork


class WalkCorpus:
    """The walks of several rounds as an iterable of lists of words that can be read repeatedly.

    Parameters
    ----------
    walker : Walker
    starts : int64[n]
        The start nodes of each round.
    rounds : int
    """

    def __init__(self, walker: Walker, starts: npt.NDArray[np.int64], rounds: int) -> None:
        self.walker, self.starts, self.rounds = walker, starts, rounds
        self.verbose = False
        # gensim reads an integer as a word's rank, not as the word: nodes must be strings
        self.words = np.arange(len(walker.indptr) - 1).astype(str).astype(object)

    def __len__(self) -> int:
        return self.rounds * len(self.starts)

    def _round(self, number: int) -> npt.NDArray[np.int32]:
        # a new order each round: skip-gram should not see one type after the other
        order = np.random.default_rng([self.walker.seed, number]).permutation(len(self.starts))
        return self.walker.walk(self.starts[order], number)

    def __iter__(self) -> Iterator[list[str]]:
        for number in track(range(self.rounds), "skip-gram", verbose=self.verbose):
            for walk in self._round(number):
                yield self.words[walk].tolist()

    def frequencies(self) -> npt.NDArray[np.int64]:
        """Return how often each node is in the walks."""
        counts = np.zeros(len(self.words), dtype=np.int64)
        for number in range(self.rounds):
            counts += np.bincount(self._round(number).ravel(), minlength=len(counts))
        return counts


@dataclass(kw_only=True, eq=False, repr=False)
class SkipGramEmbedder(PairwiseEmbedder):
    """Base of DeepWalk and node2vec, which differ in walks and softmax only."""

    window: int = 10
    walk_length: int = 40
    num_walks: int = 10
    epochs: int = 1
    learning_rate: float = 0.025
    workers: int = 1
    verbose: bool = False

    def _walker_parameters(self) -> tuple[float, float]:
        """Return p and q."""
        return 1.0, 1.0

    def _softmax(self) -> dict[str, int]:
        """Return gensim's arguments for the hierarchical softmax or for negatives."""
        raise NotImplementedError

    def _fit(self, network: HyperNetwork) -> None:
        p, q = self._walker_parameters()
        if p <= 0 or q <= 0:
            raise ParameterError(f"p and q must be positive, got p={p} and q={q}")
        graph = clique_expansion(network)
        starts = np.flatnonzero(np.diff(graph.matrix.indptr))
        walker = Walker(graph.matrix, p=p, q=q, length=self.walk_length, seed=self.random_state)
        corpus = WalkCorpus(walker, starts, self.num_walks)
        self.embeddings_ = graph.split(self._train(corpus))

    def _train(self, corpus: WalkCorpus) -> npt.NDArray[np.float32]:
        """Return one vector per node; nodes without neighbours get zeros."""
        word2vec = require("gensim.models.word2vec", extra="baselines")
        counts = corpus.frequencies()
        seen = np.flatnonzero(counts)
        model = word2vec.Word2Vec(
            vector_size=self.dim,
            window=self.window,
            alpha=self.learning_rate,
            min_count=1,
            sample=0,
            sg=1,
            workers=self.workers,
            seed=self.random_state,
            **self._softmax(),
        )
        model.build_vocab_from_freq(
            dict(zip(corpus.words[seen], counts[seen].tolist(), strict=True)),
            corpus_count=len(corpus),
        )
        corpus.verbose = self.verbose
        model.train(
            corpus, total_examples=len(corpus), total_words=int(counts.sum()), epochs=self.epochs
        )
        vectors = np.zeros((len(counts), self.dim), dtype=np.float32)
        vectors[np.array(model.wv.index_to_key).astype(np.int64)] = model.wv.vectors
        return vectors
