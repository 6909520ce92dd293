"""`Settings`: every hyper-parameter of a training, declared once.

Each field is a declaration: the annotation gives the kind of its values, `parameter` the default,
the limits or choices, and the help. The package's docstring lists what is derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from dhne.errors import UnknownNameError

from .declaration import declared, parameter
from .open_choices import LOSSES, SIMILARITIES
from .rules import (
    BATCH_SCALE,
    EPOCHS_AT_THOUSAND,
    EPOCHS_DECLINE,
    rule_alpha,
    rule_averaging,
    rule_batch_size,
    rule_epochs,
    rule_holdout,
    rule_product_dim,
    rule_ranking_epochs,
)


@dataclass(frozen=True)
class Settings:
    """All hyper-parameters of a training, documented in `DHNE`."""

    dim: int | Mapping[str, int] = parameter(
        64,
        low=1,
        group="model",
        tune="32,64,128",
        help="Embedding size: one for all node types, or one per node type.",
    )
    alpha: float | None = parameter(
        0.03,
        low=0,
        group="model",
        rule="from the number of hyperedges per node",
        tune="0.001:100.0:log",
        help="Weight of the second-order loss.",
    )
    activation: str = parameter(
        "tanh",
        choices=("tanh", "sigmoid", "linear"),
        group="model",
        help="Activation of the encoder and of the similarity's hidden layers. linear serves only "
        "to demonstrate that it fails.",
    )
    encoder_layers: tuple[int, ...] = parameter(
        (),
        low=1,
        group="model",
        help="Sizes of encoder layers before the embedding; the decoder mirrors them.",
    )
    similarity: str = parameter(
        "hidden",
        choices=SIMILARITIES,
        group="model",
        help="Similarity of whole tuples: hidden (the paper's hidden layer), or one registered "
        "with dhne.model.similarities.",
    )
    loss: str = parameter(
        "cross-entropy",
        choices=LOSSES,
        group="model",
        help="First-order loss: cross-entropy, or one registered with dhne.model.losses.",
    )
    hidden: int | tuple[int, ...] | None = parameter(
        None,
        low=1,
        group="model",
        rule="one layer, as wide as a tuple's embeddings combined",
        help="Sizes of the similarity's hidden layers.",
    )
    negatives: int = parameter(
        2,
        low=1,
        tune="3,5,10",
        help="Negatives per hyperedge, redrawn in every epoch.",
    )
    negative_scheme: str = parameter(
        "paper",
        choices=("paper", "one", "all", "degree", "matched"),
        help="How negatives are drawn; see dhne.sampling.",
    )
    optimizer: str = parameter(
        "adam",
        choices=("adam", "rmsprop", "adagrad", "sgd"),
        help="Update rule of the weights.",
    )
    learning_rate: float = parameter(
        0.006,
        above=0,
        tune="0.0003:0.02:log",
        flags=("--lr",),
        help="Initial learning rate; it decays linearly.",
    )
    table_rate: float = parameter(
        3.0,
        above=0,
        help="Learning-rate multiplier for the encoder and decoder tables, whose rows are each "
        "touched by few batches.",
    )
    decay: float | None = parameter(
        0.0,
        low=0,
        high=1,
        rule="0.6 with averaging, otherwise 0",
        help="Final learning rate as a fraction of the initial one; 1 keeps it constant.",
    )
    averaging: float | None = parameter(
        0.0,
        low=0,
        high=1,
        rule="0.5 if training takes 1,000 steps or more, otherwise 0",
        help="Share of the epochs, the last ones, at whose ends the weights are averaged. With 0, "
        "and with validation, the weights of one epoch are kept.",
    )
    batch_size: int | None = parameter(
        None,
        low=1,
        rule="from the number of hyperedges",
        help="Hyperedges per step.",
    )
    epochs: int | None = parameter(
        None,
        low=1,
        rule="from the number of hyperedges",
        help="Passes over the hyperedges.",
    )
    batch_scale: float = parameter(
        BATCH_SCALE,
        above=0,
        help="If batch_size is not set: the batch size is the power of two nearest to this times "
        "√m, or to m / 150 if that is larger, m being the number of hyperedges.",
    )
    epochs_at_thousand: float = parameter(
        EPOCHS_AT_THOUSAND,
        above=0,
        help="If epochs is not set: the number of epochs for a thousand hyperedges.",
    )
    epochs_decline: float = parameter(
        EPOCHS_DECLINE,
        low=0,
        help="If epochs is not set: the number of epochs is proportional to m to the power of "
        "minus this, m being the number of hyperedges.",
    )
    reconstruction: str = parameter(
        "sum",
        choices=("sum", "mean"),
        group="model",
        help="Squared error of a row: the sum over its non-zeros, as in the paper, or divided by "
        "the number of columns (mean), as in the authors' code.",
    )
    validation: float = parameter(
        0.0,
        low=0,
        below=1,
        help="Share of the hyperedges held out for early stopping; the best epoch is kept.",
    )
    patience: int = parameter(
        5,
        low=1,
        help="With validation: epochs without improvement in AUC before training stops.",
    )
    row_sample: int = parameter(
        256,
        low=0,
        help="Maximum number of non-zeros of a node's row in a step's gradient on a CPU: an evenly "
        "spaced, reweighted random sample, so that a step does not pay for a hub's whole degree. "
        "0 uses all.",
    )
    leave_one_out: bool = parameter(
        False,
        group="model",
        tune="true,false",
        tune_with="plus",
        help="Score each hyperedge without its own entries in its nodes' rows.",
    )
    evidence: bool = parameter(
        False,
        group="model",
        tune="true,false",
        tune_with="plus",
        help="Feed pair counts and degrees to the similarity.",
    )
    rows: str = parameter(
        "counts",
        choices=("counts", "digits"),
        group="model",
        tune="counts,digits",
        tune_with="plus",
        help="Content of a node's row for each other node: the number of shared hyperedges "
        "(counts, as in the paper), or the number of binary digits of that count (digits).",
    )

    products: bool | None = parameter(
        False,
        group="model",
        rule="on without sets, if a node type fills several positions",
        help="Give every node its own vector in addition to its row, and also score tuples by "
        "products of these, trained to rank the right node first; see dhne.model.products.",
    )
    product_dim: int | None = parameter(
        None,
        low=1,
        group="model",
        rule="128, or 256 if a type has 1,000 nodes or more",
        help="With products: size of each node's own vector.",
    )
    dropout: float = parameter(
        0.4,
        low=0,
        below=1,
        help="With products: dropout rate for the nodes' own vectors.",
    )
    ranking_epochs: int | None = parameter(
        None,
        low=1,
        rule="20, fewer above 61,000 hyperedges",
        help="With products: maximum passes over the hyperedges; validation may stop them earlier.",
    )
    candidates: int | None = parameter(
        None,
        low=0,
        rule="1,024 on a CPU, 32,768 on a GPU",
        help="With products: random nodes against which a step ranks the right ones; 0 for all.",
    )
    holdout: float | None = parameter(
        None,
        low=0,
        below=1,
        rule="3%, at most 1,000 hyperedges, with products",
        help="With products: share of the hyperedges held out to choose the number of epochs and "
        "the weight of the products.",
    )
    propagation: int = parameter(
        0,
        low=0,
        high=1000,
        group="model",
        help="Rounds of propagation over two-hop neighbours, after training, that turn the "
        "embeddings into the vectors for export, similar nodes, maps and classification; scores do "
        "not change. With 0, the vectors are the embeddings.",
    )

    def __post_init__(self) -> None:
        for name, declaration in declared(type(self)).items():
            object.__setattr__(self, name, declaration.check(getattr(self, name)))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return settings from saved plain data; missing ones get their defaults."""
        known = declared(cls)
        for name in given:
            if name not in known:
                raise UnknownNameError("hyper-parameter", name, known)
        return cls(**given)

    def for_network(self, num_edges: int, num_nodes: int) -> Settings:
        """Fill in what depends on the network's size.

        This is the batch size, the number of epochs, and for "plus" α, averaging and decay.
        """
        batch_size = self.batch_size or rule_batch_size(num_edges, self.batch_scale)
        epochs = self.epochs_for(num_edges)
        averaging = self.averaging
        if averaging is None:  # with validation the best epoch is kept, and nothing averaged
            steps = epochs * num_edges / batch_size
            averaging = 0.0 if self.validation else rule_averaging(steps)
        return replace(
            self,
            batch_size=batch_size,
            epochs=epochs,
            alpha=rule_alpha(num_edges, num_nodes) if self.alpha is None else self.alpha,
            averaging=averaging,
            decay=(0.6 if averaging else 0.0) if self.decay is None else self.decay,
        )

    def with_products(self, num_edges: int, largest: int, *, fit: bool, given: bool) -> Settings:
        """Decide whether to train products, which ones, and what share of the hyperedges selects.

        `largest` is the number of nodes of the largest type, `fit` tells whether the network suits
        products, and `given` whether the hyperedges for the selection are passed separately.
        Where products suit the network, they decide most answers, so the similarity beside them
        gets at most the default preset's number of epochs.
        """
        products = fit if self.products is None else self.products
        share = self.holdout
        if share is None or given:
            share = 0.0 if given or not products else rule_holdout(num_edges)
        epochs = self.epochs_for(num_edges)
        beside = min(epochs, rule_epochs(num_edges)) if products and fit else None
        return replace(
            self,
            products=products,
            epochs=self.epochs or beside,
            holdout=share,
            product_dim=self.product_dim or rule_product_dim(largest),
            ranking_epochs=self.ranking_epochs or rule_ranking_epochs(num_edges),
        )

    def epochs_for(self, num_edges: int) -> int:
        """Return the number of epochs for this many hyperedges."""
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
