"""Labels: none, one or several a node, in whatever form they come."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.errors import InputError
from dhne.network.labels import as_label_column, label_matrix

EXPECTED = [["drama"], [], ["crime", "noir"]]


@pytest.mark.parametrize(
    "labels",
    [
        ["drama", None, ["crime", "noir"]],
        [["drama"], [], ("crime", "noir")],
        [["drama"], None, np.array(["crime", "noir"])],
        pa.array(EXPECTED),
        pa.array([["drama"], None, ["crime", "noir"]]),
        pa.array(EXPECTED, pa.large_list(pa.large_string())),
        pa.chunked_array([EXPECTED[:1], EXPECTED[1:]]),
        (x for x in EXPECTED),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_every_form_is_one_column(labels: object) -> None:
    column = as_label_column(labels, 3, "movie")
    assert column.to_pylist() == EXPECTED
    assert column.type == pa.list_(pa.string())
    assert column.null_count == 0


@pytest.mark.parametrize(
    "labels", [["a", None, "b"], pa.array(["a", None, "b"]), pa.chunked_array([["a"], [None, "b"]])]
)
def test_one_label_a_node(labels: object) -> None:
    assert as_label_column(labels, 3, "x").to_pylist() == [["a"], [], ["b"]]


def test_numbers_become_strings() -> None:
    assert as_label_column([1, None, [2, 3]], 3, "x").to_pylist() == [["1"], [], ["2", "3"]]
    assert as_label_column(pa.array([1, None]), 2, "x").to_pylist() == [["1"], []]


def test_no_nodes() -> None:
    assert len(as_label_column([], 0, "x")) == 0
    assert len(as_label_column(pa.array([], pa.string()), 0, "x")) == 0


def test_wrong_number_is_refused() -> None:
    with pytest.raises(InputError, match="'movie' has 3 nodes but 2 label entries"):
        as_label_column(["a", "b"], 3, "movie")


def test_a_label_that_is_missing_in_a_list_is_left_out() -> None:
    assert as_label_column([["a", None]], 1, "x").to_pylist() == [["a"]]
    assert as_label_column(pa.array([["a", None], [None]]), 2, "x").to_pylist() == [["a"], []]


def test_what_is_no_label_is_refused() -> None:
    with pytest.raises(InputError):
        as_label_column(pa.array([{"a": 1}]), 1, "x")
    with pytest.raises(InputError):
        as_label_column(7, 1, "x")


@given(st.lists(st.lists(st.sampled_from(["z", "a", "m", "ü"]), unique=True)))
def test_matrix_says_who_has_which(labels: list[list[str]]) -> None:
    names, matrix = label_matrix(as_label_column(labels, len(labels), "x"))
    assert names == sorted({x for row in labels for x in row})
    assert matrix.shape == (len(labels), len(names))
    for row, flags in zip(labels, matrix, strict=True):
        assert {n for n, f in zip(names, flags, strict=True) if f} == set(row)


def test_matrix_of_a_sliced_column() -> None:
    column = as_label_column([["a"], ["b"], ["c"]], 3, "x").slice(1, 2)
    names, matrix = label_matrix(column)
    assert names == ["b", "c"]
    assert matrix.tolist() == [[True, False], [False, True]]
