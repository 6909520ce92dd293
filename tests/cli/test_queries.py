"""From the words of a question to an edge type and its names: positions, members, roles."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.cli.queries import parse_query
from dhne.errors import DHNEError, ParameterError, UnknownNameError
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import EdgeColumns
from dhne.network.vocabulary import Vocabulary

NAMES = Vocabulary(["a", "b", "c", "d", "e,f"], node_type="node")
SETS = EdgeType.of(("node", "node"), ordered=False)
REACTION = EdgeType(("node",) * 3, ("tail", "tail", "head"), (True,) * 3)


def network(types: EdgeType) -> HyperNetwork:
    rows = np.array([[0, 1, 2], [1, 2, 3], [0, 3, 4]])[:, : len(types)]
    return HyperNetwork({"node": NAMES}, [EdgeSet.build(types, rows)])


def test_members_of_a_set_may_be_one_part() -> None:
    types, values = parse_query(network(SETS), ["node=a,b,?"])
    assert values == ("a", "b", None)
    assert types == SETS.resized(3)


def test_a_comma_within_a_name_is_part_of_the_name() -> None:
    assert parse_query(network(SETS), ["node=e,f", "node=?"])[1] == ("e,f", None)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["tail=a,b", "head=?"], ("a", "b", None)),
        (["head=?", "tail=a,b"], ("a", "b", None)),
        (["tail=a,b"], ("a", "b", None)),
        (["tail=a,?", "head=c"], ("a", None, "c")),
    ],
)
def test_roles_take_the_place_of_node_types(words: list[str], values: tuple[str, ...]) -> None:
    assert parse_query(network(REACTION), words) == (REACTION, values)


def test_sizes_that_no_hyperedge_has_are_answered_too() -> None:
    model = DHNE(dim=4, epochs=1, preset="plus").fit(network(REACTION))
    types, values = parse_query(model.network_, ["tail=a,b", "head=c,?"])
    assert types.key == REACTION.key
    assert len(types) == 4
    found = model.rank(values, 2, edge_type=types)
    assert len(found.names) == 2
    (score,) = model.score([tuple(found.tuples[0])], edge_type=types)
    assert score == pytest.approx(found.scores[0], rel=1e-5)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ParameterError, match="every role is filled"):
        parse_query(network(REACTION), ["tail=a", "head=b"])
    with pytest.raises(UnknownNameError, match="tale"):
        parse_query(network(REACTION), ["tale=a"])


def test_repeated_types_fill_positions_from_left_to_right() -> None:
    net = HyperNetwork.from_tuples([("a", "b"), ("b", "c")], ("person", "person"))
    both = ("person", "person")
    assert parse_query(net, ["person=a", "person=?"]) == (both, ("a", None))
    assert parse_query(net, ["person=?", "person=a"]) == (both, (None, "a"))


def test_sets_may_have_any_size() -> None:
    net = HyperNetwork.from_tuples([("a", "b"), ("b", "c")], ("x", "x"), ordered=False)
    assert parse_query(net, ["x=a", "x=b", "x=?"]) == (("x",) * 3, ("a", "b", None))


def test_names_may_hold_anything() -> None:
    net = HyperNetwork.from_tuples([("?", "?"), ("x", "y=z")], ("a=b", "a"))
    assert parse_query(net, [r"a=b=\?", "a=?"]) == (("a=b", "a"), ("?", None))
    assert parse_query(net, ["a=b=?", r"a=\?"]) == (("a=b", "a"), (None, "?"))


def test_integers_are_names_too() -> None:
    net = HyperNetwork.from_tuples([(10, "b")], ("user", "movie"))
    assert parse_query(net, ["user=10", "movie=?"])[1] == (10, None)


def test_several_edge_types_are_told_apart() -> None:
    net = HyperNetwork.from_columns(
        [
            EdgeColumns(EdgeType(("user", "movie")), [["u"], ["m"]]),
            EdgeColumns(EdgeType(("user", "movie", "tag")), [["u"], ["m"], ["t"]]),
            EdgeColumns(EdgeType(("movie", "user")), [["m"], ["u"]]),
        ]
    )
    assert parse_query(net, ["user=u", "movie=?"])[0] == ("user", "movie")
    assert parse_query(net, ["movie=m", "user=?"])[0] == ("movie", "user")
    assert parse_query(net, ["tag=?", "movie=m"])[0] == ("user", "movie", "tag")
    with pytest.raises(DHNEError, match="several edge types"):
        parse_query(net, ["user=u"])
