"""`Settings`: every hyper-parameter of a training, declared once.

A field is a declaration: the annotation gives the kind of its values, `parameter` the default, the
limits or choices, and the help. See the package's text for what follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from dhne.errors import UnknownNameError

from .declaration import declared, parameter
from .open_choices import LOSSES, SIMILARITIES
from .rules import (
    EPOCHS_AT_THOUSAND,
    EPOCHS_DECLINE,
    rule_alpha,
    rule_batch_size,
    rule_epochs,
    rule_holdout,
    rule_ranking_epochs,
)


@dataclass(frozen=True)
class Settings:
    """All hyper-parameters of a training; `DHNE` explains each."""

    dim: int | Mapping[str, int] = parameter(
        64,
        low=1,
        group="model",
        tune="32,64,128",
        help="Size of the embeddings, the same for all node types or one per node type.",
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
        help="Activation of the encoder and of the similarity's hidden layers. linear exists only "
        "to show that it fails.",
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
        help="Similarity of whole tuples: hidden, the paper's hidden layer, or one that was "
        "registered with dhne.model.similarities.",
    )
    loss: str = parameter(
        "cross-entropy",
        choices=LOSSES,
        group="model",
        help="First-order loss: cross-entropy, or one that was registered with dhne.model.losses.",
    )
    hidden: int | tuple[int, ...] | None = parameter(
        None,
        low=1,
        group="model",
        rule="one layer, as large as the embeddings of a tuple together",
        help="Sizes of the similarity's hidden layers.",
    )
    negatives: int = parameter(
        2,
        low=1,
        tune="3,5,10",
        help="Negatives per hyperedge, drawn anew in every epoch.",
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
        help="Learning rate at the start of training; it falls linearly.",
    )
    table_rate: float = parameter(
        3.0,
        above=0,
        help="Factor on the learning rate of the encoder and decoder tables, each of whose rows "
        "is touched by few batches.",
    )
    decay: float = parameter(
        0.0,
        low=0,
        high=1,
        help="Final learning rate as a share of the first; 1 keeps it constant.",
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
    epochs_at_thousand: float = parameter(
        EPOCHS_AT_THOUSAND,
        above=0,
        help="Without epochs: the number of epochs for a thousand hyperedges.",
    )
    epochs_decline: float = parameter(
        EPOCHS_DECLINE,
        low=0,
        help="Without epochs: how fast their number falls with the number m of hyperedges; it is "
        "proportional to m to the power of minus this.",
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
        help="Share of the hyperedges held out to stop early and to keep the best epoch.",
    )
    patience: int = parameter(
        5,
        low=1,
        help="With validation: epochs without a better AUC before training stops.",
    )
    row_sample: int = parameter(
        256,
        low=0,
        help="Most non-zeros of a node's row that take part in a step's gradient on a CPU: an "
        "even random sample, weighted up, so that a hub does not cost its degree in every step. "
        "0 takes all.",
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
        help="Give the similarity pair counts and degrees.",
    )
    rows: str = parameter(
        "counts",
        choices=("counts", "digits"),
        group="model",
        tune="counts,digits",
        tune_with="plus",
        help="What a node's row holds for each other node: how often they met (counts, as in the "
        "paper), or how many binary digits that number has (digits).",
    )

    products: bool | None = parameter(
        False,
        group="model",
        rule="where one small node type, such as a relation, is in every hyperedge, and there are "
        "no sets",
        help="Give every node a vector of its own beside its row, and score tuples by their "
        "products too, trained to rank the right node first; see dhne.model.products.",
    )
    product_dim: int | None = parameter(
        None,
        low=1,
        group="model",
        rule="128, or 256 from 1,000 nodes of a type on",
        help="With products: size of the nodes' own vectors.",
    )
    dropout: float = parameter(
        0.3,
        low=0,
        below=1,
        help="With products: share of the numbers of own vectors that a step leaves out.",
    )
    ranking_epochs: int | None = parameter(
        None,
        low=1,
        rule="60, fewer from 20,000 hyperedges on",
        help="With products: passes over the hyperedges at most; validation stops them earlier.",
    )
    candidates: int | None = parameter(
        None,
        low=0,
        rule="1,024 on a CPU, all on a GPU",
        help="With products: random nodes that a step ranks the right ones among; 0 for all nodes.",
    )
    holdout: float | None = parameter(
        None,
        low=0,
        below=1,
        rule="3%, at most 1,000 hyperedges, with products",
        help="With products: share of the hyperedges held out to choose epochs and the weight of "
        "the products.",
    )
    propagation: int = parameter(
        0,
        low=0,
        high=1000,
        group="model",
        help="Rounds over two-hop neighbours that make the vectors for export, similar nodes, maps "
        "and classification from the embeddings, after training; scores do not change. 0 for none: "
        "the vectors are then the embeddings.",
    )

    def __post_init__(self) -> None:
        for name, declaration in declared(type(self)).items():
            object.__setattr__(self, name, declaration.check(getattr(self, name)))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings that were saved as plain data; those missing have their default."""
        known = declared(cls)
        for name in given:
            if name not in known:
                raise UnknownNameError("hyper-parameter", name, known)
        return cls(**given)

    def for_network(self, num_edges: int, num_nodes: int) -> Settings:
        """Fill in what follows from the size of a network: batch size, epochs, and plus's α."""
        return replace(
            self,
            batch_size=self.batch_size or rule_batch_size(num_edges),
            epochs=self.epochs_for(num_edges),
            alpha=rule_alpha(num_edges, num_nodes) if self.alpha is None else self.alpha,
            ranking_epochs=self.ranking_epochs or rule_ranking_epochs(num_edges),
        )

    def with_products(self, num_edges: int, *, fit: bool, given: bool) -> Settings:
        """Fill in whether there are products, and what share of the hyperedges they are chosen on.

        `fit` says whether the network is one for products, `given` whether hyperedges to choose on
        are given apart.
        """
        products = fit if self.products is None else self.products
        share = self.holdout
        if share is None or given:
            share = 0.0 if given or not products else rule_holdout(num_edges)
        return replace(self, products=products, holdout=share)

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
