"""From similarities to probabilities.

S is trained against a chosen number of negatives per hyperedge, so its value is not a probability.
Platt's method fits two numbers on hyperedges that training has not seen and on their negatives,

    P(hyperedge | tuple) = sigmoid(a · logit + b),

with n₀ negatives per hyperedge. Among n negatives per hyperedge the odds of a tuple are
n₀ / n times as high, so

    P_n = sigmoid(a · logit + b + log(n₀ / n)).

Without held-out hyperedges, a = 1, b = 0 and n₀ the number of training's negatives: what the
cross-entropy aims at, unverified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isfinite, log
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError

Floats = npt.NDArray[np.float64]
BINS = 10
_ROUNDS = 50
_LEAST = 1e-9  # smaller steps end the fit
_STEEPEST = 1e-3  # the smallest a: higher logits must not become less probable


@dataclass(frozen=True)
class Reliability:
    """How often tuples of similar probability were hyperedges, one entry per bin with tuples.

    Attributes
    ----------
    predicted, observed : tuple of float
        The mean probability of a bin, and the share of its tuples that are hyperedges.
    counts : tuple of int
        How many tuples a bin has.
    """

    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, hyperedges: Floats, negatives: Floats, *, bins: int = BINS) -> Reliability:
        """Sort the probabilities of hyperedges and negatives into bins of equal width."""
        p = np.concatenate([hyperedges, negatives])
        truth = np.repeat([1.0, 0.0], [len(hyperedges), len(negatives)])
        number = np.minimum((p * bins).astype(np.int64), bins - 1)
        counts = np.bincount(number, minlength=bins)
        used = counts > 0
        predicted, observed = (
            (np.bincount(number, v, bins)[used] / counts[used]).tolist() for v in (p, truth)
        )
        return cls(tuple(predicted), tuple(observed), tuple(counts[used].tolist()))

    @property
    def error(self) -> float:
        """The expected calibration error: Σ_b ``|predicted − observed|`` · share of b.

        Examples
        --------
        >>> Reliability.of(np.array([0.75, 0.75]), np.array([0.75, 0.75])).error
        0.25
        """
        gaps = np.abs(np.subtract(self.predicted, self.observed))
        return float(gaps @ np.array(self.counts) / max(sum(self.counts), 1))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Reliability:
        """Return the curve of a record; raises if the record is malformed."""
        try:
            predicted, observed = (tuple(map(float, record[k])) for k in ("predicted", "observed"))
            counts = tuple(map(int, record["counts"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ParameterError("the reliability needs lists of numbers") from None
        shares = all(0 <= p <= 1 for p in predicted + observed) and min(counts, default=1) > 0
        if not (shares and len(predicted) == len(observed) == len(counts) <= BINS):
            raise ParameterError("the reliability needs shares and counts of the same bins")
        return cls(predicted, observed, counts)


@dataclass(frozen=True)
class Calibration:
    """A map from logits to probabilities.

    Attributes
    ----------
    scale, offset : float
        a and b.
    negatives : float
        n₀, negatives per hyperedge.
    held_out : int
        The number of hyperedges it was fitted to; 0 if none.
    reliability : Reliability or None
        How well the probabilities agree with those hyperedges and their negatives.
    """

    scale: float = 1.0
    offset: float = 0.0
    negatives: float = 1.0
    held_out: int = 0
    reliability: Reliability | None = None

    @classmethod
    def fit(cls, hyperedges: Floats, negatives: Floats) -> Calibration:
        """Fit a and b to logits of held-out hyperedges and of negatives.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> found = Calibration.fit(rng.normal(1, 1, 4000), rng.normal(-1, 1, 4000))
        >>> bool(abs(found.scale - 2) < 0.1), bool(abs(found.offset) < 0.1)
        (True, True)
        """
        m, n = len(hyperedges), len(negatives)
        if not m or not n:
            raise ParameterError(
                f"calibration needs held-out hyperedges and negatives, got {m} and {n}"
            )
        x = np.concatenate([hyperedges, negatives])
        # Platt's targets: a little less sure than 1 and 0, so that few examples do not overfit.
        target = np.repeat([(m + 1) / (m + 2), 1 / (n + 2)], [m, n])
        a = np.array([0.0, log((m + 1) / (n + 1))])
        if not np.isfinite(x).all():
            raise ParameterError("the logits cannot be calibrated: they are not finite numbers")
        inputs = np.stack([x, np.ones_like(x)])
        for _ in range(_ROUNDS):  # Newton's method on the cross-entropy, which is convex
            p = _sigmoid(a @ inputs)
            hessian = (inputs * (p * (1 - p))) @ inputs.T + 1e-9 * np.eye(2)
            step = np.linalg.solve(hessian, inputs @ (p - target))
            while np.abs(step).max() > _LEAST and _loss((a - step) @ inputs, target) > _loss(
                a @ inputs, target
            ):
                step /= 2
            a = a - step
            if np.abs(step).max() <= _LEAST:
                break
        scale, offset = a
        fitted = cls(max(float(scale), _STEEPEST), float(offset), n / m, m)
        both = (fitted.probability(z) for z in (hyperedges, negatives))
        return replace(fitted, reliability=Reliability.of(*both))

    def probability(self, logits: Floats, negatives: float | None = None) -> Floats:
        """Return P of each logit, given the number of negatives per hyperedge.

        None means as many as in the calibration.

        Examples
        --------
        >>> Calibration(negatives=1).probability(np.zeros(1), negatives=9)
        array([0.1])
        """
        shift = 0.0
        if negatives is not None:
            if not (isfinite(negatives) and negatives > 0):
                raise ParameterError(f"negatives must be a positive number, got {negatives}")
            shift = log(self.negatives / negatives)
        return _sigmoid(self.scale * logits + self.offset + shift)

    def of_scores(self, scores: npt.ArrayLike, negatives: float | None = None) -> Floats:
        """Return the same for scores S = sigmoid(logit)."""
        s = np.asarray(scores, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return self.probability(np.log(s) - np.log1p(-s), negatives)

    def to_record(self) -> dict[str, Any]:
        """Return the calibration as plain data."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Calibration:
        """Return the calibration of a record; raises if the record is malformed."""
        try:
            scale, offset, negatives = (float(record[k]) for k in ("scale", "offset", "negatives"))
            held_out = int(record["held_out"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ParameterError("the calibration needs four numbers") from None
        positive = scale > 0 and negatives > 0
        if not (positive and isfinite(scale + offset + negatives)):
            raise ParameterError("the calibration's scale and negatives must be positive numbers")
        curve = record.get("reliability")
        reliability = None if curve is None else Reliability.from_record(curve)
        return cls(scale, offset, negatives, held_out, reliability)


def _loss(z: Floats, target: Floats) -> float:
    """Return the cross-entropy of sigmoid(z)."""
    return float((np.logaddexp(0, z) - target * z).sum())


def _sigmoid(x: Floats) -> Floats:
    found: Floats = np.exp(-np.logaddexp(0, -x))
    return found
