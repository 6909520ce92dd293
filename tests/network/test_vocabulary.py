"""Names of nodes: every kind people have, unique, found again, never guessed at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.errors import InputError, UnknownNameError
from dhne.network.vocabulary import Vocabulary, as_name_array, encode

INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.lists(st.text(), unique=True) | st.lists(INT64, unique=True)


@given(NAMES)
def test_every_name_is_found_at_its_row(names: list[str] | list[int]) -> None:
    vocabulary = Vocabulary(names)
    assert len(vocabulary) == len(names)
    assert vocabulary.ids(names).tolist() == list(range(len(names)))
    assert [vocabulary.name(i) for i in range(len(names))] == names
    assert all(name in vocabulary for name in names)


@given(NAMES.filter(len), st.data())
def test_few_and_many_names_are_found_alike(
    names: list[str] | list[int], data: st.DataObject
) -> None:
    vocabulary = Vocabulary(names)
    asked = data.draw(st.lists(st.sampled_from(names), max_size=10))
    many = (asked or names[:1]) * 100  # more than the binary search is used for
    assert vocabulary.find(asked).tolist() == [names.index(n) for n in asked]
    assert vocabulary.find(many).tolist() == [names.index(n) for n in many]


@given(st.lists(st.text(), unique=True), st.text())
def test_unknown_name_is_nowhere(names: list[str], other: str) -> None:
    vocabulary = Vocabulary([n for n in names if n != other])
    assert other not in vocabulary
    assert vocabulary.find([other]).tolist() == [-1]
    assert vocabulary.find([other] * 100).tolist() == [-1] * 100


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "é", "名前", "a b", ""],
        np.array(["b", "a"]),
        np.array(["b", "a"], dtype=object),
        pa.array(["b", "a"]),
        pa.array(["b", "a"], pa.large_string()),
        pa.array(["b", "a"]).dictionary_encode(),
        pa.chunked_array([["b"], ["a"]]),
        pa.chunked_array(
            [pa.array(["b"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
        ),
        pd.Series(["b", "a"]),
        pd.Series(["b", "a"], dtype="category"),
        pl.Series(["b", "a"]),
        ("b", "a"),
        (c for c in "ba"),
    ],
    ids=lambda names: type(names).__name__,
)
def test_strings_of_every_container(names: object) -> None:
    array = as_name_array(names)
    assert array.to_pylist()[:2] == ["b", "a"]
    assert isinstance(array, pa.Array)


@pytest.mark.parametrize(
    "names",
    [
        [3, 1],
        np.array([3, 1], dtype=np.uint8),
        np.array([3.0, 1.0]),
        pa.array([3, 1], pa.int16()),
        pd.Series([3, 1]),
        pl.Series([3, 1]),
        range(3, 0, -2),
    ],
    ids=lambda names: type(names).__name__,
)
def test_integers_of_every_container(names: object) -> None:
    array = as_name_array(names)
    assert array.type == pa.int64()
    assert array.to_pylist() == [3, 1]


def test_other_kinds_become_strings() -> None:
    assert as_name_array([1.5, 2.0]).to_pylist() == ["1.5", "2"]
    assert as_name_array([True, False]).to_pylist() == ["true", "false"]


@pytest.mark.parametrize(
    "names", [["a", None], [None], [1, None], pa.array(["x", None]), np.array([1.0, np.nan])]
)
def test_missing_name_is_refused_with_its_row(names: object) -> None:
    with pytest.raises(InputError, match=r"row \d+ is missing"):
        as_name_array(names)


@pytest.mark.parametrize("names", [["a", 1], [b"\xff\xfe"], [2**64], ["\ud800"], [["a"], ["b"]]])
def test_names_that_cannot_be_are_refused(names: list[object]) -> None:
    with pytest.raises(InputError):
        Vocabulary(names)


def test_repeated_name_is_refused_and_named() -> None:
    with pytest.raises(InputError, match=r"'movie' names 'Heat' more than once"):
        Vocabulary(["Alien", "Heat", "Heat"], node_type="movie")


def test_unknown_name_raises_with_a_near_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'Heat'"):
        Vocabulary(["Heat", "Alien"], node_type="movie").ids(["Heet"])


@pytest.mark.parametrize(
    "name", [0, "0", 1.5, None, True, b"a", ["a"], "\ud800", np.str_("zz"), 2**70, float("nan")]
)
def test_no_name_of_another_kind_is_found(name: object) -> None:
    assert name not in Vocabulary(["a", "b"])
    assert name not in Vocabulary([1, 6])


def test_strings_and_integers_do_not_mix() -> None:
    assert "1" not in Vocabulary([1, 2])
    assert 1 not in Vocabulary(["1", "2"])
    assert Vocabulary([1, 2]).find(["1"] * 100).tolist() == [-1] * 100
    assert np.int32(2) in Vocabulary([1, 2])
    assert 2.0 in Vocabulary([1, 2])


def test_nodes_without_names_are_a_range() -> None:
    assert Vocabulary.of_size(3).is_range
    assert Vocabulary([0, 1, 2]).is_range
    assert not Vocabulary([1, 0]).is_range
    assert not Vocabulary(["0", "1"]).is_range


def test_equality_looks_at_names_not_at_how_they_are_kept() -> None:
    short, large = pa.array(["a", "b"]), pa.array(["a", "b"], pa.large_string())
    assert Vocabulary(short) == Vocabulary(large)
    assert Vocabulary(large) == Vocabulary(short)
    assert Vocabulary(["a", "b"]) != Vocabulary(["b", "a"])
    assert Vocabulary([1]) != Vocabulary(["1"])
    assert Vocabulary(["a"]) != "a"


def test_take_gives_names_of_ids() -> None:
    assert Vocabulary(["a", "b", "c"]).take([2, 0, 2]).to_pylist() == ["c", "a", "c"]
    assert Vocabulary(["a"]).take([]).to_pylist() == []


@given(st.lists(st.lists(st.text(max_size=2)), min_size=1, max_size=4))
def test_encoding_numbers_names_by_first_appearance(columns: list[list[str]]) -> None:
    vocabulary, ids = encode([pa.array(c, pa.string()) for c in columns], "x")
    names = vocabulary.names.to_pylist()
    assert names == list(dict.fromkeys(n for c in columns for n in c))
    for column, chunks in zip(columns, ids, strict=True):
        assert [names[i] for chunk in chunks for i in chunk] == column


def test_encoding_integers_beside_strings_makes_strings() -> None:
    vocabulary, _ = encode([pa.array([1, 2]), pa.array(["2", "x"])], "x")
    assert vocabulary.names.to_pylist() == ["1", "2", "x"]
