"""Models that were trained before, evaluated as they are on hyperedges held out from them."""

from __future__ import annotations

from dhne.embedder import Embedder
from dhne.errors import ParameterError
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.matching import first_unknown, match_nodes

from .protocols import Data


def held_out_data(
    model: Embedder,
    test: HyperNetwork,
    *,
    known: HyperNetwork | None = None,
    skip_unknown: bool = False,
    name: str = "held-out hyperedges",
) -> tuple[Data, int]:
    """Return (data to evaluate a fitted model on new hyperedges, how many were left out).

    Parameters
    ----------
    model : Embedder
        Fitted; what it was fitted on counts as known.
    test : HyperNetwork
        Matched by name.
    known : HyperNetwork, optional
        More hyperedges known to be true.
    skip_unknown : bool
        Whether to leave out test hyperedges with names that the model does not know; else raise.
    name : str

    Examples
    --------
    >>> from dhne.evaluation import evaluate, make_method
    >>> net = HyperNetwork.from_tuples([(f"u{i % 5}", f"m{i % 7}") for i in range(20)], ("u", "m"))
    >>> model = make_method("she", dim=4).fit(net)
    >>> test = HyperNetwork.from_tuples([("u0", "m6"), ("u1", "m9")], ("u", "m"))
    >>> data, left_out = held_out_data(model, test, skip_unknown=True)
    >>> left_out, sorted(evaluate("completion", data, model).mean)[:3]
    (1, ['hits@1', 'hits@1/m', 'hits@1/u'])
    """
    network = model.network_
    matched, left_out = match_nodes(network, test)
    if left_out and not skip_unknown:
        raise ParameterError(
            f"{left_out} of {test.num_edges()} test hyperedges contain names that the model does "
            f"not know, first: {first_unknown(network, test)}; leave them out with "
            "skip_unknown=True (--skip-unknown)"
        )
    if matched.num_edges() == 0:
        raise ParameterError("every test hyperedge contains a name that the model does not know")
    more = None if known is None else match_nodes(network, known)[0]
    return Data(name, network, matched, known=more), left_out


def check_fitted(data: Data, model: Embedder, *, held_out: bool) -> None:
    """Raise unless a model is fitted and can be measured on these data."""
    model._check_fitted()
    if held_out and data.test is None:
        raise ParameterError(
            "a fitted model is tested on hyperedges that it has not learned from; "
            "name them (--test FILE, or held_out_data)"
        )
    for t in model.network_.node_types:
        known = model.network_.vocabulary(t)
        if t not in data.train.node_types or data.train.vocabulary(t) != known:
            raise ParameterError(
                f"the model and the data number their {t!r} nodes differently; "
                "match them with held_out_data"
            )


def seed_of(model: Embedder) -> int:
    """Return the seed that a model was trained with; 0 if it has none."""
    seed = model.get_params(deep=False).get("random_state")
    return seed if isinstance(seed, int) else 0
