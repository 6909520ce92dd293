"""From what people write to ids: names, ids, open positions, and which edge type is meant."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.network.edges import EdgeType
from dhne.network.tuples import as_batch, is_single, resolve, type_of

NETWORK = HyperNetwork.from_tuples(
    [("ann", "Heat", "noir"), ("bob", "Alien", "space")], ("user", "movie", "tag")
)
SETS = HyperNetwork.from_tuples([("a", "b"), ("b", "c")], ("author", "author"), ordered=False)


def test_names_and_ids_say_the_same() -> None:
    by_name = resolve(NETWORK, [("bob", "Heat", "noir"), ("ann", "Alien", None)])
    by_id = resolve(NETWORK, np.array([[1, 0, 0], [0, 1, -1]]))
    for (group,) in (by_name, by_id):
        assert group.types == ("user", "movie", "tag")
        assert group.nodes.tolist() == [[1, 0, 0], [0, 1, -1]]
        assert group.rows.tolist() == [0, 1]


def test_lists_of_integers_are_names_and_arrays_are_ids() -> None:
    network = HyperNetwork.from_tuples([(10, 7), (20, 8)], ("a", "b"))
    assert resolve(network, [(20, 7)])[0].nodes.tolist() == [[1, 0]]
    assert resolve(network, np.array([[1, 0]]))[0].nodes.tolist() == [[1, 0]]


def test_the_length_tells_the_edge_type_and_rows_where_each_stood() -> None:
    both = NETWORK.merge(
        HyperNetwork.from_tuples([("ann", "bob")], ("user", "user"), ordered=False)
    )
    pairs, triples = sorted(
        resolve(both, [("bob", "ann"), ("ann", "Heat", "noir"), ("ann", "bob")]),
        key=lambda g: len(g.types),
    )
    assert pairs.rows.tolist() == [0, 2]
    assert pairs.nodes.tolist() == [[0, 1], [0, 1]], "sets stand in one order"
    assert triples.rows.tolist() == [1]


def test_one_similarity_serves_sets_of_every_size() -> None:
    assert type_of(SETS, 4) == EdgeType.of(("author",) * 4, ordered=False)
    (group,) = resolve(SETS, [("c", "a", "b")])
    assert group.nodes.tolist() == [[0, 1, 2]]


def test_what_is_one_tuple_and_what_are_many() -> None:
    assert is_single(("ann", "Heat", None))
    assert is_single(["ann", "Heat", "noir"])
    assert is_single(np.array([0, 1, 2]))
    assert not is_single([("ann", "Heat", "noir")])
    assert not is_single(np.array([[0, 1, 2]]))
    assert not is_single([])
    assert as_batch(("a", "b")) == [("a", "b")]
    assert as_batch(np.array([0, 1])).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("tuples", "error", "message"),
    [
        ([("ann", "Hat", "noir")], UnknownNameError, "unknown movie 'Hat': did you mean 'Heat'"),
        ([("ann", "Heat")], InputError, r"no edge type has 2 positions; there are ones with \[3\]"),
        (["ann"], InputError, "tuple 1 is 'ann'; write each as a tuple of names"),
        (np.array([[0, 0, 9]]), InputError, r"ids at position 2 must be 0 … 1, nodes of .*'tag'"),
        (np.array([[0, 0, -3]]), InputError, "ids at position 2 must be"),
        (np.zeros((1, 1, 1), int), InputError, r"must be an array \[m, N\]"),
    ],
)
def test_mistakes_are_told_plainly(tuples: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        resolve(NETWORK, tuples)


def test_several_edge_types_of_one_length_want_a_name() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0]], ("b", "c"): [[0, 0]]})
    with pytest.raises(ParameterError, match="several edge types have 2 positions, name one"):
        resolve(network, np.array([[0, 0]]))
    assert resolve(network, np.array([[0, 0]]), ("b", "c"))[0].types == ("b", "c")
    with pytest.raises(InputError, match="has 2 parts, not 3"):
        resolve(network, np.array([[0, 0, 0]]), ("b", "c"))
