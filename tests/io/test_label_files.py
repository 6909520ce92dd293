"""Labels from files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne import HyperNetwork
from dhne.errors import InputError, InputWarning
from dhne.io import add_labels

NET = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Alien")], ("user", "movie"))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_labels_of_every_kind_of_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"labels{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"movie": ["Heat"], "genre": ["crime"]}), path)
    else:
        path.write_text("movie,genre\nHeat,crime\n".replace(",", "\t" if ending == ".tsv" else ","))
    labels = add_labels(NET, path).labels("movie")
    assert labels is not None
    assert labels.to_pylist() == [["crime"], []]


def test_mistakes_name_the_file_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("name,label\nheat,crime\n")
    with pytest.raises(InputError, match=r"labels\.csv: .*no column 'type'"):
        add_labels(NET, path)
    path.write_text("type,name,label\nmovie,Heat,crime\nmovie,Ronin,crime\n")
    with pytest.warns(InputWarning, match="1 of 2 labels"):
        assert add_labels(NET, path).labelled_types == ("movie",)
