"""Networks that belong together are numbered alike."""

from __future__ import annotations

import numpy as np

from dhne.network.hypernetwork import HyperNetwork
from dhne.network.matching import first_unknown, match_nodes, number_alike

TYPES = ("left", "right")


def net(*rows: tuple[object, object]) -> HyperNetwork:
    return HyperNetwork.from_tuples(rows, TYPES)  # type: ignore[arg-type]


def test_parts_share_all_nodes_and_edge_types() -> None:
    longer = HyperNetwork.from_tuples([("x", "a", "b")], ("r", "left", "left"))
    one, two, three = number_alike([net(("a", "u")), net(("b", "u"), ("a", "u")), longer])
    assert one.edge_types == two.edge_types == three.edge_types
    assert [n.num_edges() for n in (one, two, three)] == [1, 2, 1]
    for t in one.node_types:
        assert one.vocabulary(t) == two.vocabulary(t) == three.vocabulary(t)
    assert two.edges(TYPES).tolist() == [[1, 0], [0, 0]]


def test_integers_and_text_of_the_same_names_match() -> None:
    one, two = number_alike([net((7, "u"), (12, "u")), net(("7", "u"), ("007", "u"))])
    assert one.names("left").to_pylist() == ["7", "12", "007"]
    assert two.edges().tolist() == [[0, 0], [2, 0]]


def test_matching_leaves_out_what_is_unknown() -> None:
    known = net(("a", "u"), ("b", "v"))
    other = net(("b", "u"), ("c", "u"), ("a", "w"))
    found, left_out = match_nodes(known, other)
    assert (found.edges().tolist(), left_out) == ([[1, 0]], 2)
    assert found.vocabulary("left") == known.vocabulary("left")
    assert "unknown left 'c'" in str(first_unknown(known, other))
    assert first_unknown(known, known) is None


def test_other_edge_types_are_unknown_too() -> None:
    known = net(("a", "u"))
    other = HyperNetwork.from_tuples([("a", "u", "u")], ("left", "right", "right"))
    found, left_out = match_nodes(known, other)
    assert (found.num_edges(), left_out) == (0, 1)
    assert "edge type" in str(first_unknown(known, other))


def test_text_matches_integers_as_they_print() -> None:
    known = net((7, "u"), (-3, "u"))
    ids = match_nodes(known, net(("-3", "u"), ("7", "u"), ("07", "u"), ("x", "u")))
    assert ids[0].edges()[:, 0].tolist() == [1, 0]
    assert ids[1] == 2
    texts = net(("7", "u"), ("12", "u"))
    back = match_nodes(texts, net((12, "u")))
    assert np.array_equal(back[0].edges(), [[1, 0]])
