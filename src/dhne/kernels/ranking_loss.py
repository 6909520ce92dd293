"""The loss of completion queries: cross-entropy of the known answers against all candidates.

With l the logits of the candidates, t the targets of the known answers (they sum to 1) and π_c the
probability that a candidate was drawn,

    loss = log Σ_c e^{l_c − log π_c} − Σ_a t_a l_a,

so that a sample estimates the sum over all candidates without bias. Answers that were made
candidates on purpose have π = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Targets:
    """The known answers of m queries among their candidates.

    Attributes
    ----------
    begins : int64[m + 1]
        Where the answers of each query begin.
    columns : int64[answers]
        The column of each answer among the candidates.
    values : float[answers]
        t.
    is_certain : bool[answers]
        Whether the answer was made a candidate of its query on purpose.
    """

    begins: Tensor
    columns: Tensor
    values: Tensor
    is_certain: Tensor


def ranking_loss(
    logits: Tensor, targets: Targets, weights: Tensor, log_chance: Tensor | None
) -> Tensor:
    """Return Σ_q weights_q loss_q.

    Parameters
    ----------
    logits : float[m, candidates]
    targets : Targets
    weights : float[m]
    log_chance : float[candidates], optional
        log π; None if every node is a candidate.
    """
    rows = torch.arange(len(logits), device=logits.device)
    rows = rows.repeat_interleave(targets.begins.diff(), output_size=len(targets.columns))
    hits = targets.values * logits[rows, targets.columns]
    hit = torch.zeros_like(weights).index_add(0, rows, hits)
    if log_chance is not None:
        correction = -log_chance.repeat(len(logits), 1)
        certain = targets.is_certain
        correction[rows[certain], targets.columns[certain]] = 0
        logits = logits + correction
    return (weights * (torch.logsumexp(logits, 1) - hit)).sum()
