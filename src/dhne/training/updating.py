"""Updates: continuing the training of a model after its network has grown.

Known nodes keep their ids, so each row of the tables W, V and c, which belongs to a neighbour, is
copied to its new place; rows of new neighbours are drawn from (seed, number of the update). W is
multiplied by the ratio of the rows' old scale to the new one, so that embeddings start unchanged.
All other weights are copied; those of new node and edge types are drawn. The optimizer's moments
are copied along with their weights. Training then continues on the new hyperedges and a sample of
the earlier ones (see `dhne.training.replay`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dhne.errors import ParameterError
from dhne.hyperparameters import Settings
from dhne.kernels import Kernels
from dhne.model.joint import DHNEModel, NodeAutoencoder
from dhne.model.module_names import module_name
from dhne.model.products import Products
from dhne.model.row_encoding import RowEncoding

from .assembly import Blueprint
from .loop import Trainer
from .product_training import train_products
from .replay import Replay, earlier_edges

EPOCHS = 0.4  # of an update, as a share of the training's epochs
REPLAY = 3.0  # earlier hyperedges per new one
_RATE = 0.5  # times the training's learning rate
_PRODUCT_EPOCHS = 0.1  # as a share of the training's epochs
_TABLES = ("encoder_table", "decoder_table", "decoder_bias")

Moments = dict[str, Tensor]


class Effort(NamedTuple):
    """How much an update learns.

    Attributes
    ----------
    epochs : int, optional
        Passes over the new hyperedges; by default 0.4 times the training's epochs.
    replay : float
        Earlier hyperedges per new one in an epoch.
    """

    epochs: int | None = None
    replay: float = REPLAY

    def check(self) -> None:
        """Raise if a value is out of range."""
        if self.epochs is not None and self.epochs < 1:
            raise ParameterError(f"epochs must be an integer of at least 1, got {self.epochs!r}")
        if not 0 <= self.replay < math.inf:
            raise ParameterError(f"replay must be a number of at least 0, got {self.replay}")

    def epochs_of(self, settings: Settings) -> int:
        """Return the number of epochs for updating a model with these settings."""
        return self.epochs or math.ceil((settings.epochs or 1) * EPOCHS)


@dataclass(frozen=True, eq=False)
class Update:
    """The starting point of an update.

    Attributes
    ----------
    model, rows : the trained model, and its training rows
    settings : Settings
        Of the training, fully resolved.
    history : list of records
    earlier : list of int
        Number of hyperedges per edge type that the model was trained on; they come first.
    number : int
        1 for the first update of a model.
    effort : Effort
    moments : mapping of name to tensor, optional
        Of the optimizer; runs of earlier versions have none.
    products : Products, optional
    """

    model: DHNEModel
    rows: Mapping[str, RowEncoding]
    settings: Settings
    history: list[dict[str, Any]]
    earlier: list[int]
    number: int
    effort: Effort
    moments: Moments | None = None
    products: Products | None = None

    def blueprint(self, blueprint: Blueprint) -> Blueprint:
        """Return the blueprint of the update's own training."""
        s = self.settings
        settings = replace(
            blueprint.settings,
            epochs=self.effort.epochs_of(s),
            learning_rate=s.learning_rate * _RATE,
        )
        shares = [s.validation, 0.0 if blueprint.chosen_on is None else s.holdout or 0.0]
        known = earlier_edges(blueprint.network, self.earlier, shares, blueprint.seed)
        replay = Replay.of(blueprint.train, known, self.effort.replay)
        return blueprint.sharing_rows(settings=settings, replay=replay)

    def seed(self, seed: int) -> int:
        """Return the seed of this update's draws."""
        return int(np.random.SeedSequence([seed, self.number]).generate_state(1)[0])

    def continued(self, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the whole history, with epochs numbered consecutively."""
        done = self.history[-1]["epoch"] if self.history else 0
        new = [{**r, "epoch": done + r["epoch"], "update": self.number} for r in history]
        return [*self.history, *new]

    def carry_over(self, training: Trainer, rows: Mapping[str, RowEncoding]) -> None:
        """Copy this model's state into the training of a larger one, whose weights were just drawn.

        Without moments, or with those of another optimizer, only the weights are copied.
        """
        copy_weights(self.model, self.rows, training.model, rows)
        own = training.optimizer.state_dict()
        if self.moments is None or not _fit_each_other(self.moments, own, self.model):
            return
        for key, moment in own.items():
            if key in self.moments and key != "steps":
                self._copy_moment(key, moment, training.model, rows)
        training.start_from({**own, "steps": self.moments["steps"]})

    def _copy_moment(
        self, key: str, moment: Tensor, model: DHNEModel, rows: Mapping[str, RowEncoding]
    ) -> None:
        assert self.moments is not None
        parameter, _, order = key.rpartition(":")
        old = self.moments[key].to(moment.device)
        for t in self.model.num_columns:
            prefix = f"autoencoders.{module_name(t)}."
            if parameter.removeprefix(prefix) in _TABLES and parameter.startswith(prefix):
                # The gradient of W is proportional to the scale of the rows.
                ratio = model.autoencoder(t).scale / self.model.autoencoder(t).scale
                power = 2 if _is_second(order, self.settings.optimizer) else 1
                factor = ratio**power if parameter.endswith("encoder_table") else 1.0
                _copy_blocks(old, self.rows[t], moment, rows[t], factor)
                return
        moment.copy_(old)

    def keeps_products(self, blueprint: Blueprint) -> bool:
        """Whether the products of a larger network can start from the old ones.

        Their weight relative to the similarity is then kept: the hyperedges it was chosen on may
        have been trained on since.
        """
        old = self.products
        return old is not None and (old.dim, old.context) == blueprint.product_shape

    def train_products(
        self, blueprint: Blueprint, kernels: Kernels, device: torch.device, *, seed: int, used: bool
    ) -> tuple[Products, list[dict[str, float]]]:
        """Train the products for a few more epochs, starting from the old ones.

        Products that are not `used`, because they did not help, only grow with the network.
        """
        assert self.products is not None
        if not used:
            products = blueprint.build_products()
            products.reset(torch.Generator().manual_seed(self.seed(seed)))
            products.copy_weights(self.products)
            return products, []
        epochs = max(1, round((self.settings.ranking_epochs or 1) * _PRODUCT_EPOCHS))
        settings = replace(blueprint.settings, ranking_epochs=epochs)
        short = replace(blueprint, settings=settings, chosen_on=None)
        start = partial(Products.copy_weights, old=self.products)
        return train_products(short, kernels, device, seed=self.seed(seed), start=start)


def copy_weights(
    old: DHNEModel,
    old_rows: Mapping[str, RowEncoding],
    new: DHNEModel,
    new_rows: Mapping[str, RowEncoding],
) -> None:
    """Copy trained weights into a larger model whose weights were just drawn."""
    with torch.no_grad():
        for t in old.num_columns:
            _copy_coder(old.autoencoder(t), old_rows[t], new.autoencoder(t), new_rows[t])
        larger = dict(new.similarities.named_parameters())
        for name, weights in old.similarities.named_parameters():
            larger[name].copy_(weights)


def _copy_coder(
    old: NodeAutoencoder, old_rows: RowEncoding, new: NodeAutoencoder, new_rows: RowEncoding
) -> None:
    for name, weights in old.named_parameters():
        target = new.get_parameter(name)
        if name in _TABLES:
            factor = old.scale / new.scale if name == "encoder_table" else 1.0
            _copy_blocks(weights, old_rows, target, new_rows, factor)
        else:
            target.copy_(weights)


def _copy_blocks(
    old: Tensor, old_rows: RowEncoding, new: Tensor, new_rows: RowEncoding, factor: float
) -> None:
    """Copy the rows of a table, each a neighbour's column, to their new places."""
    before, after = old_rows.adjacency, new_rows.adjacency
    for neighbour, size in before.sizes.items():
        start, end = before.blocks[neighbour], after.blocks[neighbour]
        new[end : end + size].copy_(old[start : start + size] * factor)


def _is_second(order: str, optimizer: str) -> bool:
    """Whether a moment is of squared gradients: Adam's second, or another optimizer's only one."""
    return optimizer != "adam" or order == "1"


def _fit_each_other(moments: Moments, own: Moments, model: DHNEModel) -> bool:
    """Whether moments match this model's parameters and the same optimizer."""
    shapes = {k: p.shape for k, p in model.named_parameters()}
    orders = {k.rpartition(":")[2] for k in own if k != "steps"}
    wanted = {f"{k}:{order}": shape for k, shape in shapes.items() for order in orders}
    found = {k: m.shape for k, m in moments.items() if k != "steps"}
    return "steps" in moments and found == wanted
