"""Metrics: AUC, average precision, ROC curves, F1.

For positives P and negatives Q with scores s,

- AUC = Pr(s_p > s_q) + Pr(s_p = s_q) / 2 over pairs (p, q) of P × Q;
- average precision = Σ_k (R_k − R_{k−1}) · precision_k over the thresholds from high to low;
- micro F1 = 2 Σ tp / (2 Σ tp + Σ fp + Σ fn), summed over the classes; macro F1 = the mean over the
  classes of 2 tp / (2 tp + fp + fn), over those that occur among the true or the predicted labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from dhne.errors import ParameterError

Scores = npt.NDArray[Any]


@dataclass(frozen=True)
class RocCurve:
    """A ROC curve as points ``fpr: float[k]`` (ascending) and ``tpr: float[k]``."""

    fpr: npt.NDArray[np.float64]
    tpr: npt.NDArray[np.float64]


def auc(positive: Scores, negative: Scores) -> float:
    """Return the area under the ROC curve.

    Examples
    --------
    >>> auc(np.array([0.9, 0.4]), np.array([0.1, 0.5]))
    0.75
    """
    return float(roc_auc_score(*_joined(positive, negative)))


def average_precision(positive: Scores, negative: Scores) -> float:
    """Return the average precision, the area under the precision-recall curve.

    Examples
    --------
    >>> round(average_precision(np.array([0.9, 0.4]), np.array([0.1, 0.5])), 4)
    0.8333
    """
    return float(average_precision_score(*_joined(positive, negative)))


def roc(positive: Scores, negative: Scores, *, points: int = 200) -> RocCurve:
    """Return the ROC curve, thinned to at most about `points` points.

    Thinning keeps the ends and points evenly spaced along the curve, so that a plot looks the same.

    Examples
    --------
    >>> roc(np.array([0.9, 0.4]), np.array([0.1, 0.5])).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    fpr, tpr, _ = roc_curve(*_joined(positive, negative))
    if len(fpr) > points:
        along = fpr + tpr  # increases strictly along the curve, from 0 to 2
        keep = np.unique(
            np.searchsorted(along, np.linspace(0.0, 2.0, points)).clip(0, len(fpr) - 1)
        )
        fpr, tpr = fpr[keep], tpr[keep]
    return RocCurve(fpr, tpr)


def _joined(positive: Scores, negative: Scores) -> tuple[npt.NDArray[np.bool_], Scores]:
    if len(positive) == 0 or len(negative) == 0:
        raise ParameterError(
            f"AUC needs hyperedges and negatives, got {len(positive)} and {len(negative)}; "
            "is the network too small to hold out some of its edges?"
        )
    scores = np.concatenate([positive, negative])
    if not np.isfinite(scores).all():
        raise ParameterError(
            f"{int((~np.isfinite(scores)).sum())} of {len(scores)} scores are not finite numbers; "
            "the method did not converge (try a smaller learning rate)"
        )
    truth = np.zeros(len(scores), dtype=bool)
    truth[: len(positive)] = True
    return truth, scores


def f1_scores(
    truth: npt.NDArray[np.bool_], predicted: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return (micro F1, macro F1) of label matrices ``bool[nodes, classes]``.

    Examples
    --------
    >>> truth = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    >>> f1_scores(truth, truth)
    (1.0, 1.0)
    """
    hit = (truth & predicted).sum(axis=0)
    occurs = truth.sum(axis=0) + predicted.sum(axis=0)  # 2 tp + fp + fn
    if not occurs.any():
        raise ParameterError("F1 needs at least one true or predicted label")
    micro = 2 * hit.sum() / occurs.sum()
    macro = (2 * hit[occurs > 0] / occurs[occurs > 0]).mean()
    return float(micro), float(macro)
