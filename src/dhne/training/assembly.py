"""Assembly of a training: from a network and settings to a model, batches and a loop.

`Blueprint` holds everything that depends only on the data and the settings. A fit creates one and
trains the model it describes; loading a run creates the same one and fills in the saved weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from dhne.adjacency import AdjacencyMatrix, adjacency
from dhne.answers.calibration import Calibration
from dhne.answers.scorer import TupleScorer
from dhne.errors import ParameterError
from dhne.hyperparameters import Settings
from dhne.kernels import Kernels
from dhne.model.device_entries import device_adjacency
from dhne.model.evidence import PairEvidence
from dhne.model.joint import Architecture, DHNEModel
from dhne.model.products import Products, choose_context, suits_products
from dhne.model.row_encoding import RowEncoding
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, NegativeSampler

from .batches import BatchMaker, BatchOptions
from .callbacks import Callback
from .loop import CheckpointStore, Trainer
from .memory_estimate import (
    bytes_on_device,
    check_fits,
    count_weights,
    memory_errors,
    training_bytes,
)
from .replay import Replay
from .validation import ValidationSet

_FEW = 0.01  # share of the hyperedges that a final model may do without


@dataclass(frozen=True, eq=False)
class Blueprint:
    """The specification of a model and its training.

    Attributes
    ----------
    network : HyperNetwork
        All known hyperedges.
    train : HyperNetwork
        The training part: all of it, or the rest after validation.
    held_out : HyperNetwork or None
        The validation part.
    chosen_on : HyperNetwork or None
        Used to choose the number of epochs and the weight of the products.
    settings : Settings
        With everything filled in that depends on the size of `train`.
    dtype : torch.dtype
    seed : int
    replay : Replay or None
        For an update: the hyperedges that an epoch visits.
    device : torch.device or None
        Where the rows and the keys of known hyperedges are built and kept, if not in main memory.
    """

    network: HyperNetwork
    train: HyperNetwork
    held_out: HyperNetwork | None
    chosen_on: HyperNetwork | None
    settings: Settings
    dtype: torch.dtype
    seed: int = 0
    replay: Replay | None = None
    device: torch.device | None = None

    @classmethod
    def of(
        cls,
        network: HyperNetwork,
        settings: Settings,
        *,
        seed: int,
        dtype: torch.dtype,
        validation: HyperNetwork | None = None,
        device: torch.device | None = None,
    ) -> Blueprint:
        """Hold out hyperedges for validation, if requested, and fill in the settings.

        `validation` has separate hyperedges for choosing products, instead of a share of `network`.
        """
        train, held_out = network, None
        settings = settings.with_products(
            network.num_edges(),
            max((network.num_nodes(t) for t in network.node_types), default=0),
            fit=suits_products(network),
            given=validation is not None and validation.num_edges() > 0,
        )
        if settings.validation:
            train, held_out = train.split(settings.validation, seed=seed)
            if not train.num_edges():
                raise ParameterError(
                    f"validation={settings.validation} leaves no hyperedge of "
                    f"{network.num_edges()} to train on; hold out fewer"
                )
        settings = settings.for_network(train.num_edges(), train.num_nodes())
        return cls(network, train, held_out, validation, settings, dtype, seed, device=device)

    def for_choosing(self, seed: int) -> Blueprint:
        """Return the blueprint for training and choosing the products.

        Unless separate hyperedges were given, some of the network's are held out.
        """
        if not self.settings.holdout:
            return self
        train, chosen_on = self.train.split(self.settings.holdout, seed=seed)
        return replace(self, train=train, chosen_on=chosen_on)

    def is_kept(self, *, used: bool) -> bool:
        """Whether the model trained for choosing is final; otherwise all hyperedges train another.

        `used` tells whether the products help. If not, the model is still kept if at most a
        hundredth of the hyperedges is held out: they then count in the evidence alone.
        """
        return used or (self.settings.holdout or 0.0) <= _FEW

    def sharing_rows(self, **changes: Any) -> Blueprint:
        """Return a blueprint with changes that do not affect the rows."""
        changed = replace(self, **changes)
        changed.__dict__["rows"] = self.rows
        return changed

    @property
    def numpy_dtype(self) -> npt.DTypeLike:
        """The type of the rows' values in main memory."""
        return np.float64 if self.dtype == torch.float64 else np.float32

    def whole_adjacency(self) -> dict[str, AdjacencyMatrix]:
        """Return the adjacency of the training network, with all columns."""
        if self.device is None:
            return adjacency(self.train, dtype=self.numpy_dtype)
        return device_adjacency(self.train, device=self.device, dtype=self.dtype)

    @cached_property
    def rows(self) -> dict[str, RowEncoding]:
        """The rows of each node type; types without training hyperedges have no columns."""
        matrices = self.whole_adjacency()
        for t in self.network.node_types:
            matrices.setdefault(t, AdjacencyMatrix.empty(t, self.numpy_dtype))
        return {t: RowEncoding(a, self.settings.rows) for t, a in matrices.items()}

    def build(self) -> DHNEModel:
        """Return the model, its weights not yet drawn."""
        s = self.settings
        architecture = Architecture(
            {t: s.sizes(t) for t in self.rows},
            similarity=s.similarity,
            hidden=s.hidden_sizes,
            activation=s.activation,
            evidence=s.evidence,
            scales={t: r.scale for t, r in self.rows.items()},
        )
        columns = {t: r.num_columns for t, r in self.rows.items()}
        return DHNEModel(columns, self.network.edge_sets, architecture).to(self.dtype)

    def build_drawn(self, device: torch.device, seed: int) -> DHNEModel:
        """Return the model on a device, its weights drawn there: large tables are never moved."""
        with device:
            model = self.build()
            model.reset(torch.Generator(device).manual_seed(seed))
        return model

    def build_products(self) -> Products:
        """Return the products, their weights not yet drawn."""
        return Products(self.train, *self.product_shape)

    @property
    def product_shape(self) -> tuple[int, str | None]:
        """The size of the products' vectors, and their context."""
        return self.settings.product_dim or 1, choose_context(self.train)

    def evidence(self, device: torch.device, kernels: Kernels | None = None) -> PairEvidence | None:
        """Return the counts of the training network, if the similarity uses evidence."""
        if not self.settings.evidence:
            return None
        matrices = {t: r.adjacency for t, r in self.rows.items()}
        return PairEvidence(self.train, matrices, device=device, dtype=self.dtype, kernels=kernels)

    def known(self, *networks: HyperNetwork, device: torch.device | None = None) -> KnownEdges:
        """Return the hyperedges of networks, to reject negatives that are hyperedges."""
        return KnownEdges(*networks, device=device)

    @cached_property
    def validation(self) -> ValidationSet | None:
        """The held-out hyperedges with their negatives, if there are any."""
        return self._watched(self.held_out)

    def _watched(self, held_out: HyperNetwork | None) -> ValidationSet | None:
        if held_out is None or not held_out.num_edges():
            return None
        watched = ValidationSet(self.known(self.train, held_out), held_out, seed=self.seed)
        return watched if len(watched) else None

    def calibration(self, scorer: Callable[[], TupleScorer]) -> Calibration:
        """Return the map from a trained model's logits to probabilities; see `Calibration`.

        It is fitted on the hyperedges held out for validation or for choosing products. `scorer`
        creates a scorer of the model with the evidence of the training network.
        """
        watched = self.validation or self._watched(self.chosen_on)
        fitted = None if watched is None else watched.calibration(scorer())
        return fitted or Calibration(negatives=float(self.settings.negatives))

    def batches(
        self,
        kernels: Kernels,
        device: torch.device,
        evidence: PairEvidence | None,
        make: Callable[..., BatchMaker] = BatchMaker,
    ) -> BatchMaker:
        """Return the batch maker; `make` creates it."""
        s = self.settings
        sampler = NegativeSampler(
            self.train,
            self.known(self.train, device=self.device),
            scheme=s.negative_scheme,
            per_positive=s.negatives,
            allow_fewer=True,
        )
        options = BatchOptions(
            s.batch_size or 1,
            self._second_order_weights(),
            s.leave_one_out,
            s.row_sample,
            self.replay,
        )
        return make(
            self.train,
            self.rows,
            kernels,
            sampler,
            options,
            device=device,
            dtype=self.dtype,
            evidence=evidence,
        )

    def _second_order_weights(self) -> dict[str, float]:
        """Return α per node type; the released code's mean divides by the number of columns."""
        alpha = self.settings.alpha
        assert alpha is not None
        if self.settings.reconstruction == "mean":
            return {t: alpha / max(r.num_columns, 1) for t, r in self.rows.items()}
        return dict.fromkeys(self.rows, alpha)


def built_on(device: torch.device) -> torch.device | None:
    """Return where to build what a training on a device needs; None is main memory."""
    return None if device.type == "cpu" else device


def prepare_training(
    blueprint: Blueprint,
    kernels: Kernels,
    device: torch.device,
    *,
    seed: int,
    callbacks: Sequence[Callback] = (),
    checkpoints: CheckpointStore | None = None,
    checkpoint_seconds: float = 30.0,
) -> Trainer:
    """Return a training that is ready to run, after checking the device's memory."""
    with memory_errors(device):
        rows = blueprint.rows
    weights = count_weights(blueprint.build)
    needed = training_bytes(
        blueprint.train, rows, blueprint.settings, weights, blueprint.dtype.itemsize
    )
    check_fits(needed, device, held=bytes_on_device(rows))
    model = blueprint.build_drawn(device, seed)
    evidence = blueprint.evidence(device, kernels)
    maker = blueprint.batches(kernels, device, evidence)
    validate = None
    if blueprint.validation is not None:
        validate = partial(blueprint.validation.auc, model, kernels, maker.sparse, evidence)
    return Trainer(
        model,
        maker,
        kernels,
        blueprint.settings,
        seed=seed,
        validate=validate,
        callbacks=callbacks,
        checkpoints=checkpoints,
        checkpoint_seconds=checkpoint_seconds,
    )
