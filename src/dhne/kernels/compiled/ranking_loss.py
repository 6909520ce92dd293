"""The loss of completion queries and its gradient, one query after the other."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

from numba import prange

from dhne.kernels.compiling import njit

from .maths import THREADS, exp


@njit(**THREADS)
def softmax_loss(logits, log_chance, begins, columns, values, is_certain, weights, losses):
    """Set `losses` to the weighted loss of each query, and `logits` to its gradient.

    `log_chance` is empty if every node is a candidate; see :mod:`dhne.model.ranking_loss`.
    """
    zero = logits.dtype.type(0)
    for i in prange(len(logits)):
        line, hit = logits[i], zero
        for a in range(begins[i], begins[i + 1]):
            hit += values[a] * line[columns[a]]
        if len(log_chance):
            for a in range(begins[i], begins[i + 1]):
                if is_certain[a]:
                    line[columns[a]] += log_chance[columns[a]]
            for c in range(len(line)):
                line[c] -= log_chance[c]
        most = line[0]
        for c in range(len(line)):
            most = max(most, line[c])
        total = zero
        for c in range(len(line)):
            line[c] = exp(line[c] - most)
            total += line[c]
        losses[i] = weights[i] * (logits.dtype.type(math.log(total)) + most - hit)
        scale = weights[i] / total
        for c in range(len(line)):
            line[c] *= scale
        for a in range(begins[i], begins[i + 1]):
            line[columns[a]] -= weights[i] * values[a]
