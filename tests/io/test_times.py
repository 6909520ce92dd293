"""Columns of times: what they may hold, and that every format keeps them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dhne import HyperNetwork, load, read, read_table, write
from dhne.errors import InputError
from dhne.estimator import DHNE
from dhne.io import UnsuitableColumnsError
from dhne.network.hypernetwork import EdgeColumns

_KINDS = {
    "days": np.array(["2024-05-01", "1969-12-31", "2024-05-01"], "datetime64[D]"),
    "moments": np.array(
        ["2024-05-01T12:30:00.000001", "1969-12-31T23:59", "2024-05-01"], "datetime64[us]"
    ),
    "integers": np.array([2**62, -3, 0]),
    "floats": np.array([1.0, 2.0, 0.1 + 0.2]),
    "whole floats": np.array([1.0, 2.0, 3.0]),
}


def _network(times):
    first = EdgeColumns(("user", "movie"), [["a", "b", "a"], [7, 8, 8]], [1.0, 2.0, 3.0], times)
    second = EdgeColumns(("user", "tag"), [["a"], ["x"]])
    return HyperNetwork.from_columns([first, second])


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    "ending",
    ["csv", "tsv", "csv.gz", "parquet", "hif.json", "hif.json.gz", "npz"],
)
def test_times_survive_every_format(tmp_path, ending, kind):
    network = _network(_KINDS[kind])
    write(network, tmp_path / f"x.{ending}")
    found = read(tmp_path / f"x.{ending}")
    assert found == network
    mine, theirs = network.edge_sets[0].times, found.edge_set(("user", "movie")).times
    assert theirs.dtype == mine.dtype
    assert found.edge_set(("user", "tag")).times is None


@pytest.mark.parametrize("kind", _KINDS)
def test_times_survive_a_run(tmp_path, kind):
    network = _network(_KINDS[kind])
    DHNE(epochs=1, dim=2, device="cpu").fit(network).save(tmp_path / "run")
    found = load(tmp_path / "run").network_
    assert found == network
    assert found.edge_sets[0].times.dtype == network.edge_sets[0].times.dtype


def test_a_node_type_may_be_called_time(tmp_path):
    network = HyperNetwork.from_columns(
        [EdgeColumns(("time", "date"), [[1, 2], [3, 4]], None, [5, 6])]
    )
    for ending in ("csv", "parquet"):
        write(network, tmp_path / f"x.{ending}")
        assert read(tmp_path / f"x.{ending}") == network
    plain = HyperNetwork.from_tuples([(1, "2024-01-01")], ("time", "day"))
    write(plain, tmp_path / "y.csv")
    assert read(tmp_path / "y.csv") == plain


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["2024-05-01", "2024-05-02"], ["2024-05-01", "2024-05-02"]),
        (
            ["2024-05-01 12:30", "2024-05-02T01:02:03.5"],
            ["2024-05-01T12:30", "2024-05-02T01:02:03.5"],
        ),
        (
            ["2024-05-01T12:00:00+02:00", "2024-05-01T12:00:00Z"],
            ["2024-05-01T10:00", "2024-05-01T12:00"],
        ),
    ],
)
def test_text_holds_dates(tmp_path, texts, wanted):
    path = tmp_path / "x.csv"
    path.write_text("a,b,when\n" + "".join(f"x{i},y,{t}\n" for i, t in enumerate(texts)))
    times = read_table(path, time="when").edge_set().times
    assert times.tolist() == np.array(wanted, "datetime64[us]").tolist()


def test_text_holds_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,when\nx,y,3\nx,z,4\n")
    assert read_table(path, time="when").edge_set().times.dtype == np.int64
    path.write_text("a,b,when\nx,y,3\nx,z,4.5\n")
    assert read_table(path, time="when").edge_set().times.tolist() == [3, 4.5]


@pytest.mark.parametrize(
    ("rows", "line"),
    [(["soon"], 2), (["2024-05-01", "2024-13-01"], 3), (["1", "2", "x"], 4), (["1", "", "2"], 3)],
)
def test_what_is_no_time_is_refused_with_its_line(tmp_path, rows, line):
    path = tmp_path / "x.csv"
    path.write_text("a,b,when\n" + "".join(f"x{i},y,{t}\n" for i, t in enumerate(rows)))
    with pytest.raises(InputError) as caught:
        read_table(path, time="when")
    assert (caught.value.file, caught.value.line, caught.value.column) == (path, line, "when")


def test_typed_times_of_tables_in_memory():
    when = pa.array([0, 86_400], pa.timestamp("s"))
    table = pa.table({"a": ["x", "y"], "b": ["u", "v"], "t": when})
    assert str(read_table(table, time="t").edge_set().times[1]) == "1970-01-02T00:00:00.000000"
    with pytest.raises(InputError, match="times are dates, datetimes or numbers"):
        read_table(table.set_column(2, "t", pa.array([True, False])), time="t")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("day", "2024-05-01", "dates"),
        ("day", "1.5.2024", "dates"),
        ("day", "5/1/24", "dates"),
        ("date", "1714521600", "times"),
        ("Timestamp", "9", "times"),
    ],
)
def test_a_column_of_dates_is_never_silently_a_node_type(tmp_path, name, value, reason):
    path = tmp_path / "x.csv"
    path.write_text(f"user,movie,{name}\nann,Heat,{value}\nbob,Alien,{value}\n")
    with pytest.raises(UnsuitableColumnsError, match=f"{name!r} holds {reason}") as caught:
        read_table(path)
    assert caught.value.suitable == ["user", "movie"]
    assert caught.value.time == name
    chosen = {"user": "user", "movie": "movie", "day": name}
    assert read_table(path, chosen).node_types == ("user", "movie", "day")


def test_a_column_called_time_may_hold_names(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("user,time\nann,morning\nbob,noon\n")
    assert read_table(path).node_types == ("user", "time")
