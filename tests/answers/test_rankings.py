"""Rankings as tables, and questions written by name."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dhne import HyperNetwork
from dhne.errors import DHNEError, InputError, ParameterError
from tests.toy import Toy

TUPLES = [("ann", "Heat", "noir"), ("bob", "Alien", "space"), ("ann", "Alien", "noir")]
TYPES = ("user", "movie", "tag")


@pytest.fixture(scope="module")
def model() -> Toy:
    return Toy().fit(HyperNetwork.from_tuples(TUPLES, TYPES))


def test_a_ranking_unpacks_and_becomes_a_frame(model: Toy) -> None:
    ranking = model.rank(("ann", None, "noir"))
    names, scores = ranking
    frame = ranking.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [*TYPES, "score"]
    assert frame["movie"].tolist() == names
    assert set(frame["user"]) == {"ann"}
    np.testing.assert_array_equal(frame["score"], scores)
    again = copy.deepcopy(ranking)
    assert (again.names, again.tuples, again.exact) == (names, ranking.tuples, True)


def test_near_nodes_become_a_frame_too(model: Toy) -> None:
    frame = model.similar("movie", "Heat").to_frame()
    assert frame.columns.tolist() == ["movie", "score"]
    assert frame["movie"].tolist() == ["Alien"]


def test_no_answers_are_an_empty_table(model: Toy) -> None:
    network = HyperNetwork.from_tuples([("a", "x")], ("left", "right"))
    ranking = Toy().fit(network).rank(("a", None), known="drop")
    assert ranking.to_table().num_rows == 0
    assert ranking.to_table().column_names == ["left", "right", "score"]


def test_dicts_and_tables_are_tuples_by_name(model: Toy) -> None:
    expected = model.score(TUPLES)
    dicts = [dict(zip(("tag", "user", "movie"), (t, u, m), strict=True)) for u, m, t in TUPLES]
    frame = pd.DataFrame(dicts).assign(weight=1.0)  # what is no position does not matter
    for given in (dicts, frame, pa.table(frame)):
        np.testing.assert_array_equal(model.score(given), expected)
    assert model.score(dicts[0]) == expected[0]
    assert model.rank({"user": "ann", "movie": None, "tag": "noir"}).names == (
        model.rank(("ann", None, "noir")).names
    )
    assert (
        len(model.rank([{"user": "ann", "movie": None, "tag": t} for t in ("noir", "space")])) == 2
    )


def test_positions_that_share_a_type_have_numbers_or_roles() -> None:
    follows = Toy().fit(HyperNetwork.from_tuples([("ann", "bob"), ("bob", "eve")], ("p", "p")))
    assert follows.score({"p.2": "ann", "p": "eve"}) == follows.score(("eve", "ann"))
    authors = Toy().fit(
        HyperNetwork.from_tuples([("ann", "bob"), ("bob", "eve")], ("a", "a"), ordered=False)
    )
    assert authors.score({"a": ("eve", "ann")}) == authors.score(("ann", "eve"))
    assert authors.score({"a": ("eve", "ann", "bob")}) == authors.score(("ann", "eve", "bob"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (None, "got None|tuples from None"),
        ("ann", "got 'ann'|tuples from 'ann'"),
        (7, "got 7|tuples from 7"),
        ({"user": "ann", "film": None}, "no edge type has the positions user, film"),
        ({}, "empty"),
    ],
)
def test_what_is_no_question_is_said(model: Toy, query: object, said: str) -> None:
    with pytest.raises(DHNEError, match=said):
        model.rank(query)
    with pytest.raises(DHNEError, match=said):
        model.score(query)


def test_a_frame_without_the_columns_is_told_which_there_are(model: Toy) -> None:
    frame = pd.DataFrame({f"c{i}": ["x"] for i in range(8)})
    with pytest.raises(InputError, match="but needs user, movie, tag"):
        model.score(frame)


def test_a_tuple_by_name_must_be_whole_to_be_scored(model: Toy) -> None:
    with pytest.raises(ParameterError, match="score needs whole tuples"):
        model.score({"user": "ann", "movie": "Heat"})


def test_vectors_have_near_nodes(model: Toy) -> None:
    vector = model.embeddings_["user"][1].astype(np.float64)
    found = model.similar("user", vector, k=2)
    assert found.names[0] == "bob"
    assert found.scores[0] == pytest.approx(1)
    assert [r.names[0] for r in model.similar("user", model.embeddings_["user"])] == ["ann", "bob"]
    with pytest.raises(ParameterError, match=r"have 3 numbers, got shape \[2\]"):
        model.similar("user", np.array([1.0, 2.0]))
    with pytest.raises(ParameterError, match="not finite"):
        model.similar("user", np.array([1.0, 2.0, np.nan]))
