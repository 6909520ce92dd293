"""Hyper-parameters: what they mean, what they default to, and the presets that set them together.

A setting that is left out takes the preset's value. The batch size and the number of epochs follow
from the number of hyperedges by one rule each, and plus's α from how many there are for a node (see
`Settings.for_network`), so that small and large, sparse and dense networks get what they need;
nothing is set per dataset.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from numbers import Integral
from typing import Any

from .errors import ParameterError, UnknownNameError

Sizes = int | tuple[int, ...]


def _positive_sizes(given: Any) -> bool:
    sizes = given if isinstance(given, tuple) else (given,)
    sizes = tuple(given.values()) if isinstance(given, Mapping) else sizes
    return all(isinstance(s, Integral) and int(s) >= 1 for s in sizes)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ParameterError(message)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UnknownNameError(name, value, choices)


@dataclass(frozen=True)
class Settings:
    """All hyper-parameters of a training.

    Attributes
    ----------
    dim : int, or mapping of node type to int
        The size of the embeddings.
    alpha : float or None
        The weight of the second-order loss; None follows from the number of hyperedges a node, see
        `rule_alpha`.
    activation : {"tanh", "sigmoid", "linear"}
        σ of the encoder and of the similarity's hidden layers; linear is there to show that it
        fails.
    encoder_layers : tuple of int
        Sizes of encoder layers before the embedding; the decoder mirrors them.
    hidden : int or tuple of int, or None
        Sizes of the similarity's hidden layers; None for one, the sum of the tuple's embedding
        sizes.
    negatives : int
        Negatives for each hyperedge, drawn anew every epoch.
    negative_scheme : {"paper", "one", "all", "degree"}
    optimizer : {"adam", "rmsprop", "adagrad", "sgd"}
    learning_rate : float
    table_rate : float
        What the learning rate is multiplied by for the tables of encoders and decoders, whose rows
        are each touched by few batches.
    decay : float
        What the learning rate falls to, linearly, as a share of its start; 1 keeps it constant.
    batch_size, epochs : int or None
        None follows from the number of hyperedges.
    epochs_at_thousand, epochs_decline : float
        Where `epochs` is None: that many for a thousand hyperedges, fewer for more; see
        `rule_epochs`.
    reconstruction : {"sum", "mean"}
        Whether the squared error is summed over a row's non-zeros, as the paper writes it, or
        divided by the number of columns, as the released code does.
    validation : float
        The share of hyperedges carved out to watch; with it the best epoch's weights are kept and
        training stops early.
    patience : int
        Epochs without a better validation AUC after which training stops.
    row_sample : int
        At most so many non-zeros of a node's row take part in a step's gradient on a CPU: an even
        random sample of them, weighted up, so that a hub does not cost its degree in every step.
        0 takes all.
    leave_one_out : bool
        Whether a hyperedge's own entries are out of its nodes' rows while it is scored.
    evidence : bool
        Whether the similarity is given pair counts and degrees.
    rows : {"counts", "digits"}
        Whether a node's row says of each other node how often they met, the paper's way, or how
        many binary digits that number has; see `dhne.model.row_encoding`.
    """

    dim: int | Mapping[str, int] = 64
    alpha: float | None = 0.03
    activation: str = "tanh"
    encoder_layers: tuple[int, ...] = ()
    hidden: Sizes | None = None
    negatives: int = 2
    negative_scheme: str = "paper"
    optimizer: str = "adam"
    learning_rate: float = 0.006
    table_rate: float = 3.0
    decay: float = 0.0
    batch_size: int | None = None
    epochs: int | None = None
    epochs_at_thousand: float = 58.0
    epochs_decline: float = 0.5
    reconstruction: str = "sum"
    validation: float = 0.0
    patience: int = 5
    row_sample: int = 256
    leave_one_out: bool = False
    evidence: bool = False
    rows: str = "counts"

    def __post_init__(self) -> None:
        _require(_positive_sizes(self.dim), "dim must be a positive integer or one per node type")
        _require(_positive_sizes(self.encoder_layers), "encoder_layers must be positive integers")
        _require(
            self.hidden is None or _positive_sizes(self.hidden),
            "hidden must be a positive integer, or one for each hidden layer",
        )
        _require(
            self.alpha is None or 0 <= self.alpha < inf, "alpha must be a number, not negative"
        )
        _require(self.negatives >= 1, "negatives must be at least 1")
        _require(0 < self.learning_rate < inf, "learning_rate must be a positive number")
        _require(0 < self.table_rate < inf, "table_rate must be a positive number")
        _require(0 <= self.decay <= 1, "decay must be between 0 and 1")
        _require(0 <= self.validation < 1, "validation must be at least 0 and below 1")
        _require(self.epochs is None or self.epochs >= 1, "epochs must be at least 1")
        _require(self.batch_size is None or self.batch_size >= 1, "batch_size must be at least 1")
        _require(self.row_sample >= 0, "row_sample must not be negative")
        _require(self.patience >= 1, "patience must be at least 1")
        _choice("rows", self.rows, ("counts", "digits"))
        _choice("activation", self.activation, ("tanh", "sigmoid", "linear"))
        _choice("optimizer", self.optimizer, ("adam", "rmsprop", "adagrad", "sgd"))
        _choice("reconstruction", self.reconstruction, ("sum", "mean"))
        _choice("negative_scheme", self.negative_scheme, ("paper", "one", "all", "degree"))

    def for_network(self, num_edges: int, num_nodes: int) -> Settings:
        """Fill in what follows from the size of a network: batch size, epochs, and plus's α."""
        return replace(
            self,
            batch_size=self.batch_size or rule_batch_size(num_edges),
            epochs=self.epochs_for(num_edges),
            alpha=rule_alpha(num_edges, num_nodes) if self.alpha is None else self.alpha,
        )

    def epochs_for(self, num_edges: int) -> int:
        """Return the number of epochs for so many hyperedges."""
        rule = (self.epochs_at_thousand, self.epochs_decline)
        return self.epochs or rule_epochs(num_edges, *rule)

    def sizes(self, node_type: str) -> tuple[int, ...]:
        """Return the encoder's layer sizes for a node type."""
        if isinstance(self.dim, Mapping):
            if node_type not in self.dim:
                raise UnknownNameError("node type in dim", node_type, self.dim)
            return (*self.encoder_layers, int(self.dim[node_type]))
        return (*self.encoder_layers, int(self.dim))

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        """The similarity's hidden layers; empty for the default."""
        if self.hidden is None:
            return ()
        return self.hidden if isinstance(self.hidden, tuple) else (int(self.hidden),)


def rule_batch_size(m: int) -> int:
    """Return the batch size for m hyperedges: the power of two nearest to 3.7 √m, or to m / 150.

    The latter, for large m, gives all of them about as many steps an epoch: what is learned depends
    on the number of steps, and each step costs the hubs of the network, which every batch visits.

    Examples
    --------
    >>> [rule_batch_size(m) for m in (1_000, 40_000, 100_000, 10_000_000)]
    [128, 1024, 1024, 65536]
    """
    wanted = max(3.7 * math.sqrt(max(m, 1)), m / 150)
    return int(min(max(2 ** round(math.log2(wanted)), 32), 2**18))


def rule_epochs(
    m: int,
    at_thousand: float = Settings.epochs_at_thousand,
    decline: float = Settings.epochs_decline,
) -> int:
    """Return the number of epochs for m hyperedges: at_thousand · (1000 / m)^decline, 5 to 100.

    Examples
    --------
    >>> [rule_epochs(m) for m in (1_000, 40_000, 100_000, 10_000_000)]
    [58, 9, 6, 5]
    """
    return int(min(max(round(at_thousand * (1000 / max(m, 1)) ** decline), 5), 100))


def rule_alpha(num_edges: int, num_nodes: int) -> float:
    """Return α of the preset plus: 2000 / ρ³ for ρ hyperedges a node, at most 1000.

    Where nodes have few hyperedges each, what they have in common with their neighbours must keep
    embeddings from learning those by heart; where they have many, the hyperedges tell enough.

    Examples
    --------
    >>> [round(rule_alpha(m, 1000)) for m in (1_000, 2_000, 10_000)]
    [1000, 250, 2]
    """
    return min(2000 * (num_nodes / max(num_edges, 1)) ** 3, 1000.0)


PRESETS: dict[str, Settings] = {
    "default": Settings(),
    "paper": Settings(
        activation="sigmoid",
        negatives=5,
        optimizer="sgd",
        learning_rate=0.025,
        table_rate=1.0,
        batch_size=16,
        epochs_at_thousand=70.0,
        epochs_decline=0.34,
        alpha=1.0,
        row_sample=0,
    ),
    "released": Settings(
        activation="tanh",
        negatives=5,
        optimizer="rmsprop",
        learning_rate=0.01,
        table_rate=1.0,
        decay=1.0,
        batch_size=16,
        epochs_at_thousand=70.0,
        epochs_decline=0.34,
        alpha=1.0,
        reconstruction="mean",
        row_sample=0,
    ),
    "plus": Settings(
        leave_one_out=True,
        evidence=True,
        rows="digits",
        alpha=None,
        epochs_at_thousand=45.0,
        epochs_decline=0.19,
        row_sample=128,
    ),
}


def resolve_settings(preset: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the preset's settings with those that were given in their place.

    Examples
    --------
    >>> resolve_settings("paper", {"dim": 32, "alpha": None}).activation
    'sigmoid'
    """
    if preset is not None and preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    names = {f.name for f in fields(Settings)}
    chosen = {k: v for k, v in given.items() if v is not None and k in names}
    for key in ("encoder_layers", "hidden"):
        if isinstance(chosen.get(key), list):
            chosen[key] = tuple(chosen[key])
    try:
        return replace(PRESETS[preset or "default"], **chosen)
    except TypeError as error:
        raise ParameterError(f"a hyper-parameter has the wrong kind: {error}") from None
