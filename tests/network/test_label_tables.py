"""Labels by name, checked."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dhne import HyperNetwork
from dhne.errors import InputError, InputWarning, ParameterError, UnknownNameError

NET = HyperNetwork.from_tuples([("b", "x"), ("a", "y"), ("c", "x")], ("p", "q"))
EXPECTED = [["WELL"], ["ILL"], []]


def labels(network: HyperNetwork, node_type: str = "p") -> list[list[str]]:
    return network.labels(node_type).to_pylist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "given",
    [
        {"p": {"a": "ILL", "b": "WELL"}},
        {"p": {"a": ["ILL"], "b": ("WELL",), "c": None}},
        {"p": ["WELL", "ILL", None]},
        pa.table({"type": ["p", "p"], "name": ["a", "b"], "label": ["ILL", "WELL"]}),
        pa.table({"name": ["a", "b"], "label": ["ILL", "WELL"]}),
        pa.table({"ward": ["ILL", "WELL"], "p": ["a", "b"]}),
        [
            {"Node Type": "p", "Name": "a", "Label": "ILL"},
            {"Name": "b", "Node Type": "p", "Label": "WELL"},
        ],
        {"name": ["a", "b"], "label": ["ILL", "WELL"]},
    ],
)
def test_labels_find_their_nodes(given: object) -> None:
    assert labels(NET.with_labels(given)) == EXPECTED


def test_a_series_is_applied_by_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["ILL", "WELL"], index=["a", "b"])
    assert labels(NET.with_labels({"p": series})) == EXPECTED
    with pytest.raises(InputError, match=r"names that no node has, such as 0.*must be a list"):
        NET.with_labels({"p": pandas.Series(["ILL", "WELL", "WELL"])})
    frame = pandas.DataFrame({"type": "p", "name": ["a", "b"], "label": ["ILL", "WELL"]})
    assert labels(NET.with_labels(frame)) == EXPECTED


def test_several_labels_of_one_node_are_several_rows() -> None:
    table = pa.table({"name": ["a", "a", "a"], "label": ["x1", "x2", "x1"]})
    assert labels(NET.with_labels(table)) == [[], ["x1", "x2"], []]


def test_integer_names_as_numbers_and_as_text() -> None:
    net = HyperNetwork.from_tuples([(7, "x"), (42, "y")], ("p", "q"))
    for name in (42, "42", 42.0):
        assert labels(net.with_labels({"p": {name: "ILL"}})) == [[], ["ILL"]]
    with pytest.raises(InputError, match="no node has"):
        net.with_labels({"p": {"042": "ILL"}})


def test_unknown_names_are_refused_or_left_out_with_a_warning() -> None:
    given = {"p": {"a": "ILL", "bb": "WELL"}}
    with pytest.raises(InputError, match=r"1 of 2 labels of node type 'p'.*'bb'"):
        NET.with_labels(given)
    with pytest.warns(InputWarning, match="left out"):
        assert labels(NET.with_labels(given, unknown="warn")) == [[], ["ILL"], []]
    with pytest.raises(InputError, match="2 of 2"):
        NET.with_labels({"p": {"x1": "ILL", "x2": "ILL"}}, unknown="warn")
    with pytest.raises(ParameterError, match="unknown must be"):
        NET.with_labels(given, unknown="ignore")


def test_types_that_are_not_there_or_not_clear() -> None:
    with pytest.raises(UnknownNameError, match="node type 'pp'"):
        NET.with_labels({"pp": {"a": "ILL"}})
    with pytest.raises(UnknownNameError, match="node type 'r'"):
        NET.with_labels(pa.table({"type": ["r"], "name": ["a"], "label": ["ILL"]}))
    with pytest.raises(InputError, match="add a column with the node type"):
        NET.with_labels(pa.table({"name": ["a", "x"], "label": ["ILL", "WELL"]}))
    with pytest.raises(InputError, match="labels need the columns"):
        NET.with_labels(pa.table({"u": ["a"], "v": ["x"], "w": ["ILL"]}))


def test_labels_by_name_are_not_taken_for_labels_by_position() -> None:
    nodes = {t: NET.vocabulary(t) for t in NET.node_types}
    with pytest.raises(InputError, match=r"use network\.with_labels"):
        HyperNetwork(nodes, NET.edge_sets, {"p": {"a": "ILL"}})
