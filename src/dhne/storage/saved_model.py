"""A model as a run on disk, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from dhne import __version__
from dhne.answers.calibration import Calibration
from dhne.answers.propagation import as_tensors, take_from_tensors
from dhne.errors import DHNEError, RunError, UnknownNameError
from dhne.files.plain_json import plain
from dhne.hyperparameters import PARAMETERS, Arguments, Settings
from dhne.hyperparameters.arguments import check_arguments
from dhne.model.blend import Blend
from dhne.network.growth import first_part
from dhne.training.assembly import Blueprint
from dhne.training.growing import Growing

from .runs import RunContents, save_run

_PRODUCTS, _BLEND = "products.", "blend"  # tensors of a run besides the model's


class SavedModel(Arguments, Growing):
    """Adds `save`, and its reverse, to a method that has a `DHNEModel`."""

    embeddings_: dict[str, npt.NDArray[np.float32]]
    blend_: Blend
    calibration_: Calibration
    ranking_history_: list[dict[str, float]]

    _is_elsewhere = False  # whether another worker has the trained model

    def save(self, path: str | PathLike[str], *, notes: Mapping[str, Any] | None = None) -> None:
        """Save as a run directory; `dhne.load` loads it.

        `notes` is plain data for the run's configuration, such as the origin of its data.
        Of several workers, only the first saves; the others do nothing.
        """
        if self._is_elsewhere:
            return
        self._check_fitted()
        weights = {k: v.detach().contiguous() for k, v in self.model_.state_dict().items()}
        contents = RunContents(
            config={**self.config(), **(notes or {})},
            tensors=weights | as_tensors(self.propagated_) | self._product_tensors(),
            network=self.network_,
            embeddings=self.embeddings_,
            history=self.history_,
            optimizer=self.optimizer_,
        )
        save_run(Path(path), contents)

    def _product_tensors(self) -> dict[str, torch.Tensor]:
        if self.products_ is None:
            return {}
        weights = self.products_.state_dict()
        found = {_PRODUCTS + k: v.detach().contiguous() for k, v in weights.items()}
        return {**found, _BLEND: torch.tensor(self.blend_, dtype=torch.float64)}

    def config(self) -> dict[str, Any]:
        """Return this model's configuration as plain data."""
        params = plain(self.get_params(deep=False))
        config: dict[str, Any] = {"method": "dhne", "version": __version__, "params": params}
        if hasattr(self, "settings_"):
            config["settings"] = plain(asdict(self.settings_))
            config["calibration"] = self.calibration_.to_record()
        if self.trained_ is not None:
            config["trained"] = self.trained_
        if self.updates_:
            config["updates"] = plain(self.updates_)
        return config

    @classmethod
    def _from_run(cls, contents: RunContents) -> Self:
        model, settings = cls._configured(contents.config)
        network, dtype = contents.network, getattr(torch, model.dtype)
        model.trained_ = contents.config.get("trained")
        model.updates_ = list(contents.config.get("updates", []))
        trained = network if model.trained_ is None else first_part(network, model.trained_)
        blueprint = Blueprint.of(trained, settings, seed=model.random_state, dtype=dtype)
        blueprint = replace(blueprint, network=network)  # includes types added later
        model.settings_, model.history_ = blueprint.settings, contents.history
        model.optimizer_ = contents.optimizer
        model.propagated_, weights = take_from_tensors(contents.tensors)
        own = {k.removeprefix(_PRODUCTS): weights.pop(k) for k in list(weights) if _PRODUCTS in k}
        model.products_, model.ranking_history_ = None, []
        model.blend_ = Blend(*weights.pop(_BLEND).tolist()) if _BLEND in weights else Blend()
        if settings.products:
            chosen = blueprint.for_choosing(model.random_state)
            model.products_ = chosen.build_products()
            model.products_.load_state_dict(own)
            if chosen.is_kept(used=bool(model.blend_.products)):
                blueprint = chosen
        model.model_, model.rows_ = blueprint.build(), blueprint.rows
        model.model_.load_state_dict(weights)
        model.network_, model.embeddings_ = network, contents.embeddings
        for t in network.node_types:
            if model.embeddings_[t].shape != (network.num_nodes(t), settings.sizes(t)[-1]):
                raise RunError(f"the vectors of {t!r} are damaged")
        model.calibration_ = cls._calibration(contents.config, blueprint.settings)
        return model

    @staticmethod
    def _calibration(config: Mapping[str, Any], settings: Settings) -> Calibration:
        """Return the run's calibration; version 0.1 did not save one."""
        record = config.get("calibration")
        if record is None:
            return Calibration(negatives=float(settings.negatives))
        try:
            return Calibration.from_record(record)
        except DHNEError as error:
            raise RunError(f"the run's config.json: {error}") from None

    @classmethod
    def _configured(cls, config: Mapping[str, Any]) -> tuple[Self, Settings]:
        """Return an unfitted model and its settings, from a run's configuration."""
        try:
            params, settings = dict(config["params"]), dict(config["settings"])
        except (KeyError, TypeError, ValueError):
            raise RunError(
                "the run's config.json is not that of a DHNE model: it needs the tables params "
                "and settings"
            ) from None
        try:
            for name in params:
                if name not in PARAMETERS:
                    raise UnknownNameError("hyper-parameter", name, PARAMETERS)
            check_arguments(params)
            return cls(**params), Settings.from_dict(settings)
        except DHNEError as error:
            raise RunError(
                f"the run's config.json: {error}; register the missing name first, or update dhne"
            ) from None
