"""The mean of the weights over the last epochs, which generalises better than the last weights.

The loss pulls the weights around their optimum from batch to batch, the more so the larger the
learning rate; with w_e the weights after epoch e, the model keeps

    w̄ = (1 / |S|) Σ_{e ∈ S} w_e,     S = the last share of the epochs.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn


class WeightMean:
    """The running mean of a model's weights over the last `share` of `epochs`.

    Examples
    --------
    >>> model = nn.Linear(1, 1, bias=False)
    >>> mean = WeightMean(model, epochs=4, share=0.5)
    >>> for epoch, w in enumerate((9.0, 9.0, 1.0, 2.0), start=1):
    ...     _ = model.weight.data.fill_(w)
    ...     mean.add(epoch)
    >>> mean.finish()
    >>> model.weight.item()
    1.5
    """

    def __init__(self, model: nn.Module, epochs: int, share: float) -> None:
        self._model = model
        self._skipped = epochs - round(epochs * share)
        self.weights: dict[str, Tensor] = {}

    def add(self, epoch: int) -> None:
        """Include the weights after an epoch, counted from 1."""
        count = epoch - self._skipped
        if count < 1:
            return
        for name, w in self._model.state_dict().items():
            if count == 1:
                self.weights[name] = w.detach().clone()
            else:
                self.weights[name] += (w - self.weights[name]) / count

    def resume(self, weights: Mapping[str, Tensor]) -> None:
        """Continue from the `weights` of an interrupted training."""
        if weights:  # a worker's tables without columns were not saved
            self.weights = {**self._model.state_dict(), **weights}
            self.weights = {k: w.detach().clone() for k, w in self.weights.items()}

    def finish(self) -> None:
        """Give the model the mean, if there is one."""
        with torch.no_grad():
            for name, w in self._model.state_dict().items():
                if name in self.weights:
                    w.copy_(self.weights[name])
