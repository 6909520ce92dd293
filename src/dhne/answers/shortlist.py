"""A short list that contains the best candidates, without scoring each of them.

The value of every candidate is bounded by a few numbers per candidate and per question:

    value(i, q) ≤ features[i] · factors[q] + margins[i]

The candidates with the largest bounds form the short list, and only they are scored exactly. If
enough of them exceed the last bound on the list, no other candidate can be better and the answer is
certain; otherwise the caller scores all candidates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dhne.network.edges import NodeArray

Floats = npt.NDArray[np.float32]

RANK = 16
_SIZE = 256
_LANDMARKS = 4 * RANK
SAMPLE = 64  # questions to learn the landmarks from, and as many to measure their errors
_TOGETHER = 8


class Sketch:
    """Bounds on the values of all candidates.

    Parameters
    ----------
    features : float32[n, r]
    margins : float32[n]

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features = rng.normal(size=(1000, 2)).astype(np.float32)
    >>> sketch = Sketch(features, np.zeros(1000, np.float32))
    >>> ids, bounds = sketch.shortlist(np.eye(2, dtype=np.float32), 3)
    >>> bool(set(ids[0]) == set(np.argsort(-features[:, 0])[:3]))
    True
    >>> bool(bounds[0] == np.sort(features[:, 0])[-3])
    True
    """

    def __init__(self, features: Floats, margins: Floats) -> None:
        self._features = np.ascontiguousarray(features.T, dtype=np.float32)
        self._margins = np.ascontiguousarray(margins, dtype=np.float32)

    def shortlist(self, factors: Floats, size: int) -> tuple[NodeArray, Floats]:
        """Return ``int64[m, size]``, the candidates of each question, and a bound on all others.

        There must be at least `size` candidates.
        """
        from dhne.kernels.compiled.ranking import largest_sums

        ids = np.empty((len(factors), size), dtype=np.int64)
        bounds: Floats = largest_sums(self._features, self._margins, factors, ids)
        return ids, bounds


def size_for(k: int, candidates: int) -> int:
    """Return the length of the list for `k` answers; 0 if scoring all candidates is as fast."""
    size = _SIZE + 2 * k
    return size if 8 * size <= candidates else 0


class Landmarks:
    """A sketch of the values of candidates, learned from a sample of questions.

    If the matrix of values, candidates by questions, has low rank, the values of a few candidates,
    the landmarks, determine all others. The features are the leading directions of a sample of
    questions; the margins are twice the largest error on another sample. So the bounds are
    measured, not proven. An answer is wrong only if a bound fails for one of the best candidates,
    by more than its lead; and questions whose landmarks fit worse than any in the sample are
    reported.

    Parameters
    ----------
    values : function of (questions, candidates or None) to float32[m, n]
        The values of given candidates, or of all, for `m` questions.
    seen, unseen : float32[SAMPLE, h]
        The questions for learning the features, and those for measuring the errors.
    rng : numpy Generator
    """

    def __init__(
        self,
        values: Callable[[Floats, NodeArray | None], Floats],
        seen: Floats,
        unseen: Floats,
        rng: np.random.Generator,
    ) -> None:
        self._values = values
        matrix = self._all(seen)
        n = matrix.shape[1]
        squares, directions = np.linalg.eigh((matrix @ matrix.T).astype(np.float64))
        leading = slice(None, -RANK - 1, -1)
        scale = np.sqrt(np.maximum(squares[leading], squares[-1] * 1e-12) / n)
        features = matrix.T @ (directions[:, leading] / scale).astype(np.float32)
        self._at = np.sort(rng.choice(n, _LANDMARKS, replace=False))
        self._solve = np.linalg.pinv(features[self._at].astype(np.float64)).T
        self._landmarks = features[self._at].T
        factors, misfit = self._fit(unseen)
        self._largest_misfit = misfit.max()
        error = np.abs(factors @ features.T - self._all(unseen)).max(axis=0)
        self.sketch = Sketch(features, 2 * error + np.float32(1e-6))

    def factors(self, questions: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return (``float32[m, r]``, whether the question resembles those of the sample)."""
        factors, misfit = self._fit(questions)
        return factors, misfit <= self._largest_misfit

    def _fit(self, questions: Floats) -> tuple[Floats, Floats]:
        """Return the factors fitted to the landmarks' values, and the error of the fit."""
        values = self._values(questions, self._at)
        factors: Floats = (values @ self._solve).astype(np.float32)
        misfit: Floats = np.abs(factors @ self._landmarks - values).max(axis=1)
        return factors, misfit

    def _all(self, questions: Floats) -> Floats:
        parts = range(0, len(questions), _TOGETHER)
        return np.concatenate([self._values(questions[p : p + _TOGETHER], None) for p in parts])
