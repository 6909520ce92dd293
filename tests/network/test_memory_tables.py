"""Tables in memory, of whatever library."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pytest

from dhne import read_table
from dhne.errors import InputError
from dhne.network.memory_tables import as_table, is_table

COLUMNS = {"user": ["ann", "bob"], "movie": ["Heat", "Alien"]}


def forms() -> dict[str, object]:
    arrow = pa.table(COLUMNS)
    rows = [{"user": "ann", "movie": "Heat"}, {"user": "bob", "movie": "Alien"}]
    found = {"arrow": arrow, "columns": COLUMNS, "dicts": rows}
    found["dataset"] = pa_dataset.dataset(arrow)
    found["reader"] = arrow.to_reader()
    return found


@pytest.mark.parametrize("name", forms())
def test_arrow_and_plain_python(name: str) -> None:
    table = forms()[name]
    assert is_table(table)
    network = read_table(table)
    assert network.edge_types == (("user", "movie"),)
    assert network.names("movie").to_pylist() == ["Heat", "Alien"]


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS, index=["x", "y"]).astype({"user": "category"})
    assert as_table(frame).to_pydict() == COLUMNS
    assert not is_table(frame["user"])


def test_polars_also_lazy() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(COLUMNS)
    assert as_table(frame).to_pydict() == COLUMNS
    assert as_table(frame.lazy().filter(polars.col("user") == "ann")).num_rows == 1


@pytest.mark.parametrize("source", [[("ann", "Heat")], [], {}, 3, "tags.csv", None])
def test_what_is_not_a_table(source: object) -> None:
    assert not is_table(source)
    with pytest.raises(InputError, match="cannot read a table from"):
        as_table(source)


def test_rows_that_are_not_all_dicts() -> None:
    with pytest.raises(InputError, match="row 2 is tuple"):
        as_table([{"a": 1}, ("x",)])


def test_keys_of_every_row_are_columns() -> None:
    assert as_table([{"a": 1}, {"b": 2}]).to_pydict() == {"a": [1, None], "b": [None, 2]}
