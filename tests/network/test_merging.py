"""Merging goes by name, and equality does not depend on how a network is numbered."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dhne.errors import InputError
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary
from tests.random_networks import named_edges, networks


def renumbered(net: HyperNetwork, rng: np.random.Generator) -> HyperNetwork:
    """Return the same network with other ids and all rows and types in another order."""
    order = {t: rng.permutation(net.num_nodes(t)) for t in net.node_types}
    nodes, labels = {}, {}
    for t in reversed(net.node_types):
        nodes[t] = Vocabulary(net.vocabulary(t).take(order[t]), node_type=t)
        if net.labels(t) is not None:
            labels[t] = net.labels(t).take(pa.array(order[t]))
    back = {t: np.argsort(o) for t, o in order.items()}
    edges = []
    for e in reversed(net.edge_sets):
        ids = np.stack([back[t][e.nodes[:, p]] for p, t in enumerate(e.types)], axis=1)
        rows = rng.permutation(len(e))
        edges.append(EdgeSet.build(e.types, ids[rows], e.weights[rows]))
    return HyperNetwork(nodes, edges, labels)


def same_order(one: HyperNetwork, two: HyperNetwork) -> bool:
    sets = {tuple(t): t.has_sets for t in one.edge_types}
    return all(sets.get(tuple(t), t.has_sets) == t.has_sets for t in two.edge_types)


@given(networks(), st.integers(0, 10))
def test_equality_does_not_depend_on_numbers_or_order(net: HyperNetwork, seed: int) -> None:
    other = renumbered(net, np.random.default_rng(seed))
    assert net == other
    assert other == net


@given(networks(labels=None), networks(labels=None))
def test_equality_is_that_of_the_named_hyperedges(one: HyperNetwork, two: HyperNetwork) -> None:
    names = [{t: set(n.names(t).to_pylist()) for t in n.node_types} for n in (one, two)]
    orders = [{e.types: (not e.types.has_sets) for e in n.edge_sets} for n in (one, two)]
    expected = names[0] == names[1] and orders[0] == orders[1]
    assert (one == two) == (expected and named_edges(one) == named_edges(two))


def test_equality_sees_weights_labels_names_order_and_repeats() -> None:
    def make(**changes: object) -> HyperNetwork:
        parts = {"tuples": [("a", "b"), ("a", "c")], "weights": [1, 2], "ordered": True, **changes}
        net = HyperNetwork.from_tuples(
            parts["tuples"], ("x", "x"), weights=parts["weights"], ordered=parts["ordered"]
        )
        return net.with_labels(parts.get("labels", {}))

    assert make() == make()
    assert make() != make(weights=[2, 1])
    assert make() != make(ordered=False)
    assert make() != make(tuples=[("a", "b"), ("a", "d")])
    assert make() != make(tuples=[("b", "a"), ("a", "c")])
    assert make(weights=None) != make(weights=None, tuples=[("a", "b"), ("a", "c"), ("a", "c")])
    assert make() != make(labels={"x": ["l", None, None]})
    assert make(labels={"x": [["l", "m"], None, None]}) == make(labels={"x": [["m", "l"], [], []]})
    assert make() == make(labels={"x": [None, None, None]})
    assert make() != "a network"


@given(networks(), networks())
def test_merge_holds_both(one: HyperNetwork, two: HyperNetwork) -> None:
    assume(same_order(one, two))
    merged = one.merge(two, fold=False)
    mine, theirs = named_edges(one), named_edges(two)
    assert named_edges(merged) == {
        t: sorted(mine.get(t, []) + theirs.get(t, [])) for t in {**mine, **theirs}
    }
    for t in merged.node_types:
        old = one.names(t).to_pylist() if t in one.node_types else []
        new = two.names(t).to_pylist() if t in two.node_types else []
        assert merged.names(t).to_pylist() == list(dict.fromkeys(old + new))  # ids of `one` stay
    assert one.merge(two) == merged.fold()


@given(networks(), networks())
def test_merge_joins_labels(one: HyperNetwork, two: HyperNetwork) -> None:
    assume(same_order(one, two))
    merged = one.merge(two)
    for t in merged.node_types:
        labels: dict[str, list[str]] = {}
        for net in (two, one):
            if net.labels(t) is not None:
                found = zip(net.names(t).to_pylist(), net.labels(t).to_pylist(), strict=True)
                labels.update({n: ls for n, ls in found if ls})
        if merged.labels(t) is None:
            assert not labels
        else:
            names = merged.names(t).to_pylist()
            assert merged.labels(t).to_pylist() == [labels.get(n, []) for n in names]


@given(networks())
def test_merge_with_itself_doubles_weights(net: HyperNetwork) -> None:
    doubled = net.merge(net)
    for types, rows in named_edges(net.fold()).items():
        assert named_edges(doubled)[types] == [(row, 2 * weight) for row, weight in rows]


@given(networks(labels=None), networks(labels=None))
def test_merge_in_either_order_is_equal(one: HyperNetwork, two: HyperNetwork) -> None:
    assume(same_order(one, two))
    assert one.merge(two) == two.merge(one)


def test_merge_of_different_node_types() -> None:
    one = HyperNetwork.from_tuples([("a", "b")], ("x", "y"))
    two = HyperNetwork.from_tuples([("a", "c")], ("x", "z"))
    merged = one.merge(two)
    assert merged.node_types == ("x", "y", "z")
    assert merged.num_nodes("x") == 1
    assert Counter(merged.edge_types) == Counter([("x", "y"), ("x", "z")])


def test_merge_of_nothing() -> None:
    one = HyperNetwork.from_tuples([(1, 2)], ("x", "y"))
    nothing = HyperNetwork.from_tuples([], ("x", "y"))
    assert one.merge(nothing) == one
    assert nothing.merge(one) == one


def test_merge_refuses_what_does_not_fit() -> None:
    ordered = HyperNetwork.from_tuples([("a", "b")], ("x", "x"))
    with pytest.raises(InputError, match="ordered in one network"):
        ordered.merge(HyperNetwork.from_tuples([("a", "b")], ("x", "x"), ordered=False))


def test_merge_matches_names_however_they_were_read() -> None:
    strings = HyperNetwork.from_tuples([("007", "a"), ("100", "a")], ("x", "y"))
    integers = HyperNetwork.from_tuples([(100, "a"), (200, "a")], ("x", "y"))
    assert strings.merge(integers).names("x").to_pylist() == ["007", "100", "200"]
    assert integers.merge(strings).names("x").to_pylist() == ["100", "200", "007"]
    plain = HyperNetwork.from_tuples([("100", "a"), ("300", "a")], ("x", "y"))
    assert integers.merge(plain).names("x").to_pylist() == [100, 200, 300]
