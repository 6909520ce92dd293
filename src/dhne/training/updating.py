"""Going on with a trained model after its network has grown.

Known nodes keep their ids, so each row of the tables W, V and c, which belongs to a neighbour, is
copied to its new place; rows of new neighbours are drawn from (seed, number of the update). W is
multiplied by the old scale of the rows over the new one, so that an embedding begins where it was.
All other weights are copied, those of new node and edge types drawn. Training then goes on over the
earlier and the new hyperedges together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from dhne.errors import ParameterError
from dhne.hyperparameters import Settings
from dhne.model.joint import DHNEModel, NodeAutoencoder
from dhne.model.row_encoding import RowEncoding

from .assembly import Blueprint

_SHARE = 5  # an update takes a fifth of the epochs of a fit, unless told otherwise
_TABLES = ("encoder_table", "decoder_table", "decoder_bias")


@dataclass(frozen=True, eq=False)
class Update:
    """What an update begins with.

    Attributes
    ----------
    model, rows : the trained model, and the rows it was trained on
    settings : Settings
        Of the training, filled in.
    history : list of records
    number : int
        1 for the first update of a model.
    epochs : int, optional
    """

    model: DHNEModel
    rows: Mapping[str, RowEncoding]
    settings: Settings
    history: list[dict[str, Any]]
    number: int
    epochs: int | None = None

    def __post_init__(self) -> None:
        if self.epochs is not None and self.epochs < 1:
            raise ParameterError(f"epochs must be a whole number from 1 on, got {self.epochs!r}")

    def shortened(self, blueprint: Blueprint) -> Blueprint:
        """Return the blueprint with the epochs of the update."""
        epochs = self.epochs or math.ceil((blueprint.settings.epochs or 1) / _SHARE)
        return replace(blueprint, settings=replace(blueprint.settings, epochs=epochs))

    def seed(self, seed: int) -> int:
        """Return the seed of this update's draws."""
        return int(np.random.SeedSequence([seed, self.number]).generate_state(1)[0])

    def continued(self, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the whole history; epochs are numbered on."""
        done = self.history[-1]["epoch"] if self.history else 0
        new = [{**r, "epoch": done + r["epoch"], "update": self.number} for r in history]
        return [*self.history, *new]

    def carry_over(self, model: DHNEModel, rows: Mapping[str, RowEncoding]) -> None:
        """Copy the trained weights into a larger model that has just been drawn."""
        with torch.no_grad():
            for t in self.model.num_columns:
                _copy_coder(self.model.autoencoder(t), self.rows[t], model.autoencoder(t), rows[t])
            larger = dict(model.similarities.named_parameters())
            for name, weights in self.model.similarities.named_parameters():
                larger[name].copy_(weights)


def _copy_coder(
    old: NodeAutoencoder, old_rows: RowEncoding, new: NodeAutoencoder, new_rows: RowEncoding
) -> None:
    before, after = old_rows.adjacency, new_rows.adjacency
    for name, weights in old.named_parameters():
        if name not in _TABLES:
            new.get_parameter(name).copy_(weights)
            continue
        factor = old.scale / new.scale if name == "encoder_table" else 1.0
        table = new.get_parameter(name)
        for neighbour, size in before.sizes.items():
            start, end = before.blocks[neighbour], after.blocks[neighbour]
            table[end : end + size].copy_(weights[start : start + size] * factor)
