"""`DHNE`, the estimator: stores hyper-parameters, trains, answers queries, saves and loads."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch

from . import workers
from .adjacency import adjacency
from .answers.completion import Completer
from .answers.judging import Judging
from .answers.propagation import before_activation, propagate_all
from .answers.scorer import TupleScorer, encode_all
from .errors import InputWarning, NotFittedError, ParameterError, RunError
from .hyperparameters import PARAMETERS, Parameter
from .hyperparameters.arguments import check_arguments
from .hyperparameters.describe import documented
from .kernels import Kernels, get_kernels
from .model.blend import Blend
from .model.evidence import PairEvidence
from .network.edges import EdgeType, NodeArray
from .network.hypernetwork import HyperNetwork
from .storage import load_run
from .storage.saved_model import SavedModel
from .storage.sense import making_sense
from .training.assembly import Blueprint, built_on, prepare_training
from .training.callbacks import Callback, ProgressBar, default_callbacks
from .training.divided import train_divided
from .training.loop import CheckpointStore
from .training.product_training import fit_products
from .workers import Group

_LONG = 100  # nodes of a hyperedge, above which a warning is shown
_SMALL_PAIRS = 9000  # of members; below this, compiling the kernels takes longer than training


@documented(PARAMETERS.values())
class DHNE(Judging, SavedModel):
    """Deep hyper-network embedding.

    A hyper-parameter left at None takes the preset's value; the batch size, the number of epochs
    and the α of "plus" then follow from the network's size.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    embeddings_ : dict of node type to float32[n, dim]
        The encoded row of each node; scores are computed from these.
    vectors_ : dict of node type to float32[n, dim]
        The vectors for all other uses: embeddings propagated over two-hop neighbours, see
        `dhne.answers.propagation`. Without propagation, the embeddings.
    network_ : HyperNetwork
    settings_ : Settings
        The settings used, with presets and rules resolved.
    history_ : list of dict
        One record per epoch.
    model_ : DHNEModel

    Examples
    --------
    >>> from dhne.datasets import planted_clusters
    >>> network = planted_clusters(types=3, clusters=2, nodes_per_cluster=5)
    >>> model = DHNE(dim=8, epochs=20, kernels="reference").fit(network)
    >>> model.embeddings_[network.node_types[0]].shape
    (10, 8)
    """

    takes_validation: ClassVar[bool] = True

    @classmethod
    def declared_parameters(cls) -> Mapping[str, Parameter]:
        """Return the arguments by name."""
        return PARAMETERS

    # -- training --------------------------------------------------------------------------------

    def check_params(self) -> None:
        """Raise if a parameter is invalid, or not supported on this machine.

        `fit` checks this too; call it first if something is written before training.
        """
        check_arguments(self.get_params(deep=False))
        device = _device(self.device)
        if self.kernels != "auto":
            get_kernels(self.kernels, device)

    def fit(
        self,
        network: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback] | None = None,
        checkpoints: CheckpointStore | None = None,
        checkpoint_seconds: float = 30.0,
        validation: HyperNetwork | None = None,
    ) -> Self:
        """Train on a hyper-network and return ``self``.

        Parameters
        ----------
        network : HyperNetwork, or any input of `dhne.read_table`
        y : ignored; it exists for scikit-learn
        callbacks : sequence of Callback, optional
        checkpoints : CheckpointStore, optional
            Resumes from its newest checkpoint, and saves new ones there.
        checkpoint_seconds : float
            Minimum time between two checkpoints.
        validation : HyperNetwork, optional
            Hyperedges over the same nodes that are not trained on: with products, used to choose
            their number of epochs and weight, instead of a share of `network`.
        """
        if not 0 <= checkpoint_seconds < inf:
            raise ParameterError(
                f"checkpoint_seconds must be a number of at least 0, got {checkpoint_seconds}"
            )
        self._callbacks = default_callbacks(self.verbose, callbacks)
        self._checkpoints, self._checkpoint_seconds = checkpoints, checkpoint_seconds
        self._validation = validation
        try:
            return super().fit(network, y)
        finally:
            del self._callbacks, self._checkpoints, self._checkpoint_seconds, self._validation

    def _fit(self, network: HyperNetwork) -> None:
        """Train the model, and the products if there are any.

        The hyperedges that products are chosen on are held out of both; if the products do not
        help, the model is retrained on everything, unless few are held out.
        """
        settings = check_arguments(self.get_params(deep=False))
        if self._update is not None:
            settings = self._update.settings
        _warn_of_length(network)
        device, dtype = _device(self.device), getattr(torch, self.dtype)
        kernels = get_kernels(_kernels_for(self.kernels, device, network), device)
        group = self._workers(device)
        whole = Blueprint.of(
            network,
            settings,
            seed=self.random_state,
            dtype=dtype,
            validation=self._validation,
            device=built_on(device) if group is None else None,  # workers build parts of it there
        )
        self._is_elsewhere = group is not None and not group.is_first
        chosen = whole.for_choosing(self.random_state) if whole.settings.products else whole
        if self._update is not None and self._update.keeps_products(chosen):
            used = bool(self.blend_.products)
            self._fit_model(chosen if chosen.is_kept(used=used) else whole, kernels, device, None)
            self.products_, self.ranking_history_ = self._update.train_products(
                chosen, kernels, device, seed=self.random_state, used=used
            )
            return
        self.products_, self.blend_, self.ranking_history_ = None, Blend(), []
        self._fit_model(chosen, kernels, device, group)
        if whole.settings.products and not self._is_elsewhere:  # the first worker continues alone
            self._fit_products(chosen, kernels, device)
            if not chosen.is_kept(used=bool(self.blend_.products)):
                self._checkpoints, calibration = None, self.calibration_  # of the previous training
                self._fit_model(whole, kernels, device, None if group is None else Group())
                self.calibration_ = calibration

    def _fit_model(
        self, blueprint: Blueprint, kernels: Kernels, device: torch.device, group: Group | None
    ) -> None:
        """Train the model, with the other workers if there is a group."""
        update, seed = self._update, self.random_state
        if group is not None:
            trained = train_divided(
                blueprint,
                group,
                kernels,
                device,
                seed=seed,
                callbacks=self._callbacks,
                shards=None if self._checkpoints is None else self._checkpoints.shards,
                checkpoint_seconds=self._checkpoint_seconds,
            )
            if trained is None:
                return
            model, x, history = trained.model, trained.embeddings, trained.history
            moments = None
        else:
            training = prepare_training(
                blueprint if update is None else update.blueprint(blueprint),
                kernels,
                device,
                seed=seed if update is None else update.seed(seed),
                callbacks=self._callbacks,
                checkpoints=self._checkpoints,
                checkpoint_seconds=self._checkpoint_seconds,
            )
            if update is not None:
                update.carry_over(training, blueprint.rows)
            history = training.run()
            moments = training.optimizer.state_on_cpu()
            model, sparse = training.model, training.maker.sparse
            x = {t: encode_all(model, kernels, t, sparse[t]) for t in sparse}
        self.history_ = history if update is None else update.continued(history)
        self.trained_, self.updates_ = None, [] if update is None else self.updates_
        self.embeddings_ = {t: v.float().cpu().numpy() for t, v in x.items()}
        self.model_, self.optimizer_ = model.to("cpu"), moments
        self.settings_ = blueprint.settings
        self.rows_ = {t: r.on_host() for t, r in blueprint.rows.items()}
        activation, rounds = self.settings_.activation, self.settings_.propagation
        start = {t: before_activation(v, activation) for t, v in self.embeddings_.items()}
        self.propagated_ = propagate_all(self._matrices, start, rounds)
        if update is None:  # an update has no hyperedges that were not trained on
            self._calibrate(blueprint)

    def join_workers(self) -> Group | None:
        """Join the workers started by torchrun; None without torchrun. `fit` does this too."""
        return workers.join(_device(self.device))

    def _workers(self, device: torch.device) -> Group | None:
        """Return the workers that train together; None for a single process."""
        group = workers.join(device)
        if self._update is not None:
            if group is not None:
                raise ParameterError("a model is updated by one process; start it without torchrun")
            return None
        store = self._checkpoints
        if group is None and store is not None and store.shards.steps():
            return Group()  # a training that several workers started continues alone
        if group is not None and store is not None:
            with group.together():
                if not store.shards.steps() and store.latest() is not None:
                    raise RunError(
                        "this training was started by one process; resume it without torchrun"
                    )
        return group

    def _check_fitted(self) -> None:
        if self._is_elsewhere:
            raise NotFittedError(
                "only the first worker has the trained model, and this is worker "
                f"{workers.rank() + 1}; query it only if dhne.workers.rank() is 0"
            )
        super()._check_fitted()

    def _fit_products(self, blueprint: Blueprint, kernels: Kernels, device: torch.device) -> None:
        """Train the products, and choose their weight relative to the similarity."""
        show = next((c for c in self._callbacks if isinstance(c, ProgressBar)), None)
        self.products_, self.ranking_history_, self.blend_ = fit_products(
            blueprint,
            kernels,
            device,
            lambda: self._scorer_of(blueprint.evidence(device)),
            seed=self.random_state,
            progress=None if show is None else show.on_ranking_epoch,
        )
        if self.blend_.products:  # otherwise the similarity's calibration holds
            self._calibrate(blueprint)

    def _calibrate(self, blueprint: Blueprint) -> None:
        self.calibration_ = blueprint.calibration(
            lambda: self._scorer_of(blueprint.evidence(_device(self.device)))
        )

    # -- answers ---------------------------------------------------------------------------------

    @property
    def vectors_(self) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors for all uses but scoring; see the class."""
        if not self.propagated_:
            return self.embeddings_
        return {t: p.vectors for t, p in self.propagated_.items()}

    @cached_property
    def _scorer(self) -> TupleScorer:
        if not self.settings_.evidence:
            return self._scorer_of(None)
        matrices = self._matrices
        if self.settings_.validation or self.settings_.holdout or self._is_extended:
            matrices = adjacency(self.network_)  # of all known hyperedges, including held-out ones
        dtype, device = next(self.model_.parameters()).dtype, _device(self.device)
        return self._scorer_of(PairEvidence(self.network_, matrices, device=device, dtype=dtype))

    def _scorer_of(self, evidence: PairEvidence | None) -> TupleScorer:
        """Return a scorer on the model's device with this evidence."""
        model, products, device = self.model_, self.products_, _device(self.device)
        if device.type != "cpu":  # the model that is saved and updated stays on the CPU
            model, products = deepcopy(model).to(device), deepcopy(products)
            products = None if products is None else products.to(device)
        dtype = next(model.parameters()).dtype
        x = {t: torch.from_numpy(v).to(device, dtype) for t, v in self.embeddings_.items()}
        return TupleScorer(model, x, evidence, products, self.blend_)

    @property
    def _is_extended(self) -> bool:
        """Whether it has nodes or hyperedges that were not in training."""
        return self.trained_ is not None

    def _make_completer(self) -> Completer:
        return Completer(self, self._scorer)

    def score_ids(self, nodes: NodeArray, edge_type: EdgeType) -> npt.NDArray[np.float64]:
        """Return the score of each tuple of ids."""
        return self._scorer.score(nodes, edge_type)

    def score_candidates(
        self, nodes: NodeArray, edge_type: EdgeType, position: int
    ) -> npt.NDArray[np.float64]:
        """Return each tuple's score with every node at `position`."""
        return self._scorer.candidates(nodes, edge_type, position)


def load(path: str | PathLike[str]) -> DHNE:
    """Load a run saved by `DHNE.save` or ``dhne train``."""
    contents = load_run(Path(path))
    with making_sense(path):
        return DHNE._from_run(contents)


def _warn_of_length(network: HyperNetwork) -> None:
    longest = max((e.length for e in network.edge_sets if len(e)), default=0)
    if longest > _LONG:
        warnings.warn(
            f"hyperedges of up to {longest} nodes: time and memory grow with the square of the "
            "length; evidence counts only some of their pairs",
            InputWarning,
            stacklevel=5,
        )


def _kernels_for(name: str, device: torch.device, network: HyperNetwork) -> str:
    """Return the backend: on a CPU the compiled one, unless compiling outlasts training."""
    pairs = sum(len(e) * e.length**2 for e in network.edge_sets)
    if name == "auto" and device.type == "cpu" and pairs < _SMALL_PAIRS:
        return "reference"
    return name


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and workers.under_torchrun():
        name = f"cuda:{workers.local_device(torch.cuda.device_count())}"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ParameterError(f"unknown device {name!r}; use auto, cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ParameterError("device='cuda' was requested, but torch finds no CUDA device here")
    return device
