"""Hyperedges as tables of Arrow, pandas and polars, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dhne import HyperNetwork, read_table
from dhne.errors import ParameterError
from dhne.interop import to_arrow, to_pandas, to_polars
from tests.interop.models import films

KINDS = {pa.Table: to_arrow, pd.DataFrame: to_pandas, pl.DataFrame: to_polars}


@pytest.mark.parametrize(("kind", "convert"), KINDS.items())
def test_there_and_back(kind: type, convert: Callable[..., Any]) -> None:
    network = HyperNetwork.from_tuples(
        [("ann", 1, "noir"), ("bob", 2, "space"), ("bob", 1, "noir")],
        ("user", "movie", "tag"),
        weights=[1, 2, 0.5],
    )
    table = convert(network)
    assert isinstance(table, kind)
    assert read_table(table) == network


@pytest.mark.parametrize("convert", KINDS.values())
def test_one_edge_type_of_several(convert: Callable[..., Any]) -> None:
    network = films()
    with pytest.raises(ParameterError, match="name one of"):
        convert(network)
    table = convert(network, ("user", "user"))
    follows = read_table(table, {"user": ["user", "user.2"]})
    assert follows.names("user").to_pylist() == ["ann", "bob"]
    assert follows.edges().tolist() == [[0, 1], [1, 1]]


def test_columns_are_named_by_type_and_weights_are_there_only_if_they_say_something() -> None:
    network = films()
    assert list(to_pandas(network, ("user", "movie", "tag"))) == ["user", "movie", "tag", "weight"]
    assert to_polars(network, ("user", "user")).columns == ["user", "user.2"]
