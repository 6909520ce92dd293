"""Edge types: what makes two of them equal, and what every size of a set has in common."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.network.edge_type import EdgeType, find_edge_type

PAIR = EdgeType(("person", "person"))  # head and tail
COUPLE = EdgeType.of(("person", "person"), ordered=False)
REACTION = EdgeType(("c",) * 4, ("out", "in", "in", "out"), (True,) * 4)
PAPER = EdgeType(("venue", "author"), ("venue", "author"), (False, True)).family.form((3, 1))


def test_roles_tell_edge_types_of_the_same_nodes_apart() -> None:
    assert PAIR != COUPLE
    assert PAIR == COUPLE[:] == ("person", "person")  # a plain tuple has no roles
    assert len({PAIR, COUPLE}) == 2
    assert EdgeType.of(("user", "tag"), ordered=False) == EdgeType(("user", "tag"))


@pytest.mark.parametrize("types", [PAIR, COUPLE, REACTION, PAPER])
def test_copies_and_records_are_equal(types: EdgeType) -> None:
    assert copy.deepcopy(types) == types
    record = json.loads(json.dumps(types.to_record()))
    assert EdgeType.is_record(record)
    assert EdgeType.from_record(record) == types


@pytest.mark.parametrize(
    "record",
    [
        [],
        {},
        {"types": []},
        {"types": ["a", 1]},
        {"types": ["a"], "ordered": "yes"},
        {"types": ["a", "a"], "roles": ["x"]},
        {"types": ["a", "a"], "roles": ["x", "x"], "many": [1, 1]},
    ],
)
def test_what_is_not_a_record_is_noticed(record: object) -> None:
    assert not EdgeType.is_record(record)


def test_a_set_of_any_size_has_the_slots_of_its_family() -> None:
    family = PAPER.family
    assert family.roles == ("author", "venue")
    for authors in (1, 2, 5):
        form = family.form((authors, 1))
        assert form.slots == (0,) * authors + (1,)
        assert form.key == PAPER.key
    assert family.resized(6) == family.form((5, 1))
    assert family.resized(1) is None
    assert REACTION.family.resized(5) is None  # which side has more?


def test_positions_of_one_role_are_peers_and_sorted_together() -> None:
    assert REACTION.groups == ((0, 3), (1, 2))
    assert REACTION.peers(3) == (0,)
    assert PAPER.peers(PAPER.index("venue")) == ()
    nodes = np.array([[9, 7, 5, 3]])
    assert REACTION.canonical(nodes).tolist() == [[3, 5, 7, 9]]
    assert nodes.tolist() == [[9, 7, 5, 3]]
    assert REACTION.without(0).groups == ((0, 1), (2,))


def test_positions_that_share_a_role_must_be_a_set() -> None:
    with pytest.raises(InputError, match="share a role must be a set"):
        EdgeType(("a", "a"), ("x", "x"), (True, False))
    with pytest.raises(InputError, match="one role per position"):
        EdgeType(("a", "a"), ("x",))


def test_the_one_that_is_meant_is_found() -> None:
    assert find_edge_type(None, [PAPER]) is PAPER
    assert find_edge_type(("person", "person"), [PAPER, COUPLE]) is COUPLE
    with pytest.raises(ParameterError, match="there are 2 edge types, name one of"):
        find_edge_type(("person", "person"), [PAIR, COUPLE])
    with pytest.raises(UnknownNameError, match="unknown edge type"):
        find_edge_type(("venue",), [PAIR])
