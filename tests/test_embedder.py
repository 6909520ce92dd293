"""What every embedder inherits: one or many, names or ids, and clear refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from dhne import HyperNetwork
from dhne.errors import NotFittedError, ParameterError, UnknownNameError
from tests.toy import Toy

NETWORK = HyperNetwork.from_tuples(
    [("ann", "Heat", "noir"), ("bob", "Heat", "heist"), ("bob", "Alien", "space")],
    ("user", "movie", "tag"),
)


@pytest.fixture(scope="module")
def model() -> Toy:
    return Toy().fit(NETWORK)


def test_one_tuple_gives_one_number_and_many_an_array(model: Toy) -> None:
    one = model.score(("ann", "Heat", "noir"))
    assert isinstance(one, float)
    many = model.score([("ann", "Heat", "noir"), ("bob", "Alien", "noir")])
    assert many.shape == (2,)
    assert many[0] == one
    assert model.score([]).shape == (0,)


def test_ids_and_names_say_the_same_for_one_and_for_many(model: Toy) -> None:
    by_name = model.score([("bob", "Alien", "heist")])
    assert model.score(np.array([[1, 1, 1]])) == by_name
    assert model.score(np.array([1, 1, 1])) == by_name[0]
    assert model.rank(np.array([1, 1, -1])).names == model.rank(("bob", "Alien", None)).names


def test_a_batch_of_queries_gives_a_list_of_rankings(model: Toy) -> None:
    queries = [("ann", None, "noir"), (None, "Heat", "noir"), ("ann", None, None)]
    rankings = model.rank(queries, k=2)
    assert [r.names for r in rankings] == [model.rank(q, k=2).names for q in queries]
    assert isinstance(rankings[2].names[0], tuple)


def test_similar_takes_one_name_or_many(model: Toy) -> None:
    names, cosines = model.similar("tag", "noir", k=2)
    assert sorted(names) == ["heist", "space"]
    assert cosines[0] >= cosines[1]
    both = model.similar("tag", ["noir", "space"], k=1)
    assert both[0].names == names[:1]
    with pytest.raises(UnknownNameError, match="did you mean 'noir'"):
        model.similar("tag", "noirr")


def test_vectors_have_names(model: Toy) -> None:
    table = model.vectors("movie")
    assert table.column_names == ["name", "vector"]
    assert table["name"].to_pylist() == ["Heat", "Alien"]
    np.testing.assert_array_equal(
        np.array(table["vector"].to_pylist(), np.float32), model.embeddings_["movie"]
    )


def test_an_open_position_cannot_be_scored(model: Toy) -> None:
    with pytest.raises(ParameterError, match="use rank for open positions"):
        model.score(("ann", None, "noir"))


@pytest.mark.parametrize("ask", ["score", "rank", "similar", "vectors"])
def test_before_fit_it_says_so(ask: str) -> None:
    arguments = {"similar": ("tag", "noir"), "vectors": ("tag",)}.get(ask, (("ann", "Heat"),))
    with pytest.raises(NotFittedError, match=r"this Toy is not fitted yet; call fit\(network\)"):
        getattr(Toy(), ask)(*arguments)


def test_fit_takes_a_network_with_hyperedges() -> None:
    with pytest.raises(ParameterError, match="fit takes a HyperNetwork or a table, got list"):
        Toy().fit([("ann", "Heat")])
    with pytest.raises(ParameterError, match="no hyperedges"):
        Toy().fit(NETWORK.with_edges([]))


def test_it_is_a_scikit_learn_estimator() -> None:
    model = Toy(seed=3)
    assert clone(model).get_params() == {"seed": 3}
    assert model.set_params(seed=4).fit(NETWORK) is model


@pytest.mark.parametrize("query", [None, 3, "ann"])
def test_what_cannot_be_ranked_is_refused(model: Toy, query: object) -> None:
    with pytest.raises(ParameterError, match="rank takes a tuple"):
        model.rank(query)


@pytest.mark.parametrize("k", [1.5, 0, -1, True, None, "3"])
def test_a_number_of_answers_is_a_whole_number(model: Toy, k: object) -> None:
    with pytest.raises(ParameterError, match="k must be"):
        model.rank(("ann", "Heat", None), k=k)  # type: ignore[arg-type]
