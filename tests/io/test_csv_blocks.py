"""A file parsed in blocks has the rows, and the errors, that it has when parsed as a whole."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dhne.errors import InputError
from dhne.io import delimited
from dhne.io.delimited import read_delimited

FIELDS = [
    "a",
    "bb",
    "é",
    "x y",
    'x"y',
    'z"',
    '"x"',
    '"a,b"',
    '"x\ny"',
    '"k\r\nl"',
    '"p""q\n"',
    '""',
]
rows = st.lists(
    st.tuples(st.sampled_from(FIELDS), st.sampled_from(FIELDS)), min_size=1, max_size=30
)
pieces = st.lists(st.sampled_from([*FIELDS, *'",\n\r', "\r\n", '"\n', "\ufeff", "\0"]), max_size=60)


def outcome(path: Path, block: int, **options: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_BLOCK", block)
        try:
            return read_delimited(path, **options).to_pydict()
        except InputError as error:
            return str(error)


def compare(path: Path, text: str, block: int, **options: Any) -> None:
    path.write_bytes(text.encode())
    assert outcome(path, block, **options) == outcome(path, 2**20, **options)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows, block=st.integers(40, 120), header=st.booleans())
def test_rows(
    tmp_path: Path, ending: str, rows: list[tuple[str, str]], block: int, header: bool
) -> None:
    text = "".join(f"{a},{b}{ending}" for a, b in [('"first"', '"second"'), *rows])
    compare(tmp_path / "x.csv", text, block, header=header)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=pieces, block=st.integers(40, 120))
def test_any_text(tmp_path: Path, pieces: list[str], block: int) -> None:
    compare(tmp_path / "x.csv", "one,two\n" + "".join(pieces), block, header=False)


@pytest.mark.parametrize("mark", ["", '"'])
def test_blocks_are_used(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{mark}user {i}{mark},{mark}movie {i % 7}{mark}\n" for i in range(2000))
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(("user,movie\n" + text).encode(), 1))
    expected = read_delimited(path).to_pydict()
    monkeypatch.setattr(delimited, "_BLOCK", 1000)
    monkeypatch.setattr(delimited, "_read_whole", None)
    assert read_delimited(path).to_pydict() == expected
    assert read_delimited(path, ["movie"]).column_names == ["movie"]
