"""Files beside a table belong to it, or are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dhne import HyperNetwork, read, write
from dhne.errors import InputError


def network() -> HyperNetwork:
    one = HyperNetwork.from_tuples([("a", "x")], ("p", "q"))
    two = HyperNetwork.from_tuples([("a", "x", "z")], ("p", "q", "r"))
    return one.merge(two, fold=False).with_labels({"p": {"a": "ILL"}})


@pytest.mark.parametrize(
    ("ending", "sibling"),
    [(".csv", "side.2.csv"), (".csv", "side.nodes.csv"), (".csv", "side.csv.meta.json"),
     (".parquet", "side.2.parquet")],
)  # fmt: skip
def test_files_that_nobody_named_are_not_replaced(
    tmp_path: Path, ending: str, sibling: str
) -> None:
    (tmp_path / sibling).write_text("dear to somebody")
    with pytest.raises(InputError, match=rf"exist already: {sibling}.*--overwrite"):
        write(network(), tmp_path / f"side{ending}")
    assert [p.name for p in tmp_path.iterdir()] == [sibling]
    write(network(), tmp_path / f"side{ending}", overwrite=True)
    assert read(tmp_path / f"side{ending}") == network()


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet"])
def test_a_network_replaces_its_own_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"side{ending}"
    write(network(), path)
    write(network(), path)
    assert read(path) == network()


def test_a_table_may_be_renamed(tmp_path: Path) -> None:
    plain = HyperNetwork.from_tuples([("a", "x")], ("p", "q"))
    write(plain, tmp_path / "x.parquet")
    (tmp_path / "x.parquet").rename(tmp_path / "y.parquet")
    assert read(tmp_path / "y.parquet") == plain
