"""How data is split, repeats treated and negatives drawn: the protocols ``paper`` and ``clean``.

``paper``
    The hyperedges as they are. Repeats count every time; a test row that is also in train stays in
    the test set.
``clean``
    Repeats are folded into weights, and test rows that are also in train are removed, so nothing
    seen in training is tested.

*Link prediction*: fit on train, separate the test hyperedges from negatives. If a dataset comes
with a split, that split is used; any other network is split at random by the run's seed, 20% of its
hyperedges for the test (so the spread over seeds includes that of the split). A validation part, if
there is one, is for the choices that a method makes in training. *Completion* splits data the same
way. *By sparsity*: a given share of all hyperedges is kept for training and the rest is the test
set, whatever split came with the data. *Reconstruction*: fit on the whole network and separate all
of its hyperedges from negatives.

Negatives: five corrupted copies per hyperedge. With probability 0.9 one uniformly chosen position
gets a uniformly drawn node of its type, otherwise two positions do; none is a hyperedge of train or
test. They are drawn with the evaluation seed, which is independent of the methods' seeds: every
method and every seed gets the same negatives on the same split, and anybody can draw them again.
Other schemes can be chosen (:mod:`dhne.sampling.schemes`): against uniform nodes popularity alone
goes far; `matched` draws tuples of the same size with nodes of the same degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from dhne.datasets import Dataset
from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.network.edges import EdgeType, NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

PROTOCOLS = ("paper", "clean")
TEST_FRACTION = 0.2
EVALUATION_SEED = 2018
NEGATIVES = 5


@dataclass(frozen=True)
class Data:
    """The data of an evaluation: a network, or the parts of a given split.

    All parts share their nodes, so an id means the same node in each (see
    `dhne.network.matching.number_alike`).

    Attributes
    ----------
    name : str
    train : HyperNetwork
    test, valid : HyperNetwork, optional
        The other parts of a given split.
    known : HyperNetwork, optional
        More hyperedges known to be true, neither learned from nor tested: they are no negatives,
        and no rivals in a ranking.
    positions : tuple of str
        Node types whose positions are ranked in completion, unless others are requested; all if
        empty.

    Examples
    --------
    >>> net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1], [1, 1], [1, 1]]})
    >>> Data("mine", net).prepared("clean").train.num_edges()
    3
    """

    name: str
    train: HyperNetwork
    test: HyperNetwork | None = None
    valid: HyperNetwork | None = None
    known: HyperNetwork | None = None
    positions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("test", "valid", "known"):
            network = getattr(self, part)
            for t in () if network is None else network.node_types:
                if network.vocabulary(t) != self.train.vocabulary(t):
                    raise InputError(
                        f"train and {part} of {self.name!r} number their {t!r} nodes differently"
                    )

    @classmethod
    def of(cls, dataset: Dataset) -> Data:
        """Return a dataset with its released split.

        Examples
        --------
        >>> from dhne import load_dataset
        >>> Data.of(load_dataset("wordnet-sample")).test.num_edges()
        1179
        """
        positions = dataset.entry.positions
        return cls(dataset.name, dataset.train, dataset.test, dataset.valid, positions=positions)

    @cached_property
    def whole(self) -> HyperNetwork:
        """All hyperedges of the parts, those of train first, including repeats."""
        return _joined(self.train, self.valid, self.test)

    def prepared(self, protocol: str) -> Data:
        """Return the data as the protocol requires: unchanged, or folded and without leaks."""
        if protocol not in PROTOCOLS:
            raise UnknownNameError("protocol", protocol, PROTOCOLS)
        if protocol == "paper":
            return self
        train = self.train.fold()
        known = KnownEdges(train)
        test, valid = (
            None if part is None else _without(part.fold(), known)
            for part in (self.test, self.valid)
        )
        return replace(self, train=train, test=test, valid=valid)


def _joined(*parts: HyperNetwork | None) -> HyperNetwork:
    """Return the hyperedges of all parts that there are, one part after the other."""
    there = [part for part in parts if part is not None]
    return reduce(lambda one, other: one.merge(other, fold=False), there)


def _without(network: HyperNetwork, known: KnownEdges) -> HyperNetwork:
    """Return the hyperedges that are not known."""
    return network.with_edges(e.take(~known.contains(e.nodes, e.types)) for e in network.edge_sets)


@dataclass(frozen=True)
class Split:
    """The hyperedges to fit on, those to separate from negatives, and all known ones.

    Attributes
    ----------
    train, test, known : HyperNetwork
        `known` has each hyperedge that is known to be true once.
    how : str
        Description of the split.
    valid : HyperNetwork, optional
        For methods whose `fit` takes a validation part.
    """

    train: HyperNetwork
    test: HyperNetwork
    known: HyperNetwork
    how: str
    valid: HyperNetwork | None = None

    def negatives(
        self, *, per_edge: int = NEGATIVES, seed: int = EVALUATION_SEED, scheme: str = "paper"
    ) -> dict[EdgeType, NodeArray]:
        """Return the negatives of the test hyperedges, ``int64[m · per_edge, N]`` per edge type."""
        return draw_negatives(self.test, self.known, per_edge=per_edge, seed=seed, scheme=scheme)


def link_prediction_split(
    data: Data, protocol: str, *, seed: int, keep: float | None = None
) -> Split:
    """Return the split for link prediction; see the module docstring.

    Parameters
    ----------
    data : Data
    protocol : {"paper", "clean"}
    seed : int
        Seed for the random split, if there is one.
    keep : float, optional
        Share of all hyperedges to keep for training; overrides a given split.
    """
    ready = data.prepared(protocol)
    if keep is None and ready.test is not None:
        train, valid, test, how = ready.train, ready.valid, ready.test, "released"
    else:
        if keep is not None and not 0 < keep < 1:
            raise ParameterError(f"the share to keep must be between 0 and 1, got {keep}")
        fraction = TEST_FRACTION if keep is None else 1 - keep
        whole = ready.whole.fold() if protocol == "clean" else ready.whole
        train, test = whole.split(fraction, seed=seed)
        valid = None
        how = f"random, {fraction:.0%} for the test, by the run's seed"
    if train.num_edges() == 0 or test.num_edges() == 0:
        raise ParameterError(
            f"{data.name!r} has too few hyperedges to split: "
            f"{train.num_edges()} for training, {test.num_edges()} for the test"
        )
    return Split(train, test, _joined(train, valid, test, ready.known).fold(), how, valid)


def reconstruction_split(data: Data, protocol: str) -> Split:
    """Return the split for reconstruction: the whole network for training and test."""
    ready = data.prepared(protocol)
    whole = ready.whole.fold() if protocol == "clean" else ready.whole
    known = _joined(whole, ready.known).fold()
    return Split(whole, whole, known, "none: fitted and scored on the whole network")


def validation_split(train: HyperNetwork, *, fraction: float, seed: int) -> Split:
    """Split the training hyperedges, for choices that must not use the test part."""
    part, held_out = train.split(fraction, seed=seed)
    return Split(part, held_out, train.fold(), f"validation, {fraction:.0%} of train")


def draw_negatives(
    test: HyperNetwork, known: HyperNetwork, *, per_edge: int, seed: int, scheme: str = "paper"
) -> dict[EdgeType, NodeArray]:
    """Return `per_edge` negatives per hyperedge of `test`, none of them in `known`.

    In a very dense network a hyperedge gets fewer if it has no more possible corruptions.
    """
    index = KnownEdges(known)
    found = {}
    for e in test.edge_sets:
        if len(e):
            drawn = evaluation_negatives(
                e, index, per_positive=per_edge, seed=seed, scheme=scheme, allow_fewer=True
            )
            found[e.types] = np.asarray(drawn.nodes[drawn.valid], dtype=np.int64)
    return found
