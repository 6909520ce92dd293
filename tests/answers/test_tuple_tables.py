"""Tables of tuples: `score` takes them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dhne import DHNE, HyperNetwork
from dhne.answers.tuple_tables import resolve_table
from dhne.errors import InputError

ROWS = [("ann", "Heat", 1), ("bob", "Alien", 2), ("ann", "Alien", 2)]
NET = HyperNetwork.from_tuples(ROWS, ("user", "movie", "year"))


def test_fit_score_and_transform_take_tables() -> None:
    rows = [dict(zip(("user", "movie", "year"), row, strict=True)) for row in ROWS]
    options = {"dim": 2, "epochs": 1, "kernels": "reference", "device": "cpu"}
    model = DHNE(**options).fit(rows)
    assert model.network_ == NET
    expected = DHNE(**options).fit(NET).score(ROWS)
    np.testing.assert_array_equal(model.score(rows), expected)
    np.testing.assert_array_equal(model.score(pa.Table.from_pylist(rows)), expected)
    new = model.transform([{"user": "cy", "movie": "Heat", "year": 1}])
    assert new["user"].to_pydict()["name"] == ["cy"]


def test_columns_in_any_order_and_others_beside_them() -> None:
    table = {"note": ["x"], "year": ["2"], "movie": ["Heat"], "user": ["bob"]}
    types, nodes = resolve_table(NET, table)
    assert types == ("user", "movie", "year")
    assert nodes.tolist() == [[1, 0, 1]]


def test_mistakes_name_row_and_column() -> None:
    with pytest.raises(InputError, match="but needs user, movie, year"):
        resolve_table(NET, {"user": ["ann"], "film": ["Heat"]})
    with pytest.raises(InputError, match=r"column 'movie': row 2: .*did you mean 'Heat'"):
        resolve_table(NET, {"user": ["ann"] * 2, "movie": ["Heat", "heat"], "year": [1, 1]})
    with pytest.raises(InputError, match="not names"):
        resolve_table(NET, {"user": [["ann"]], "movie": ["Heat"], "year": [1]})
