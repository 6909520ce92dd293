"""npz: the layout of the paper's authors, and pickles refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dhne.errors import InputError, ParameterError
from dhne.io import read, read_npz


def test_authors_layout(tmp_path: Path) -> None:
    edges = np.array([[0, 1, 2], [1, 0, 2]], dtype=np.float64)
    np.savez(tmp_path / "x.npz", train_data=edges, nums_type=[2, 2, 5])
    network = read(tmp_path / "x.npz")
    assert network.edge_types == (("type0", "type1", "type2"),)
    assert network.num_nodes("type2") == 5
    named = read(tmp_path / "x.npz", types=["user", "movie", "tag"])
    assert named.node_types == ("user", "movie", "tag")
    assert named.edges().tolist() == edges.tolist()


def test_labels_as_plain_arrays(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "x.npz",
        test_data=[[0, 1], [1, 0]],
        labels=[1, 0],
        idx_label=1,
        label_name=np.array([b"noun", b"verb"]),
    )
    assert read_npz(tmp_path / "x.npz").labels("type1").to_pylist() == [["verb"], ["noun"]]


def test_released_files_open_unless_they_hold_pickles(data_dir: Path) -> None:
    drug = read(data_dir / "drug" / "train_data.npz", types=("user", "drug", "reaction"))
    assert drug.num_edges() == 137_404
    with pytest.raises(InputError, match="'labels' holds pickled objects"):
        read(data_dir / "wordnet" / "train_data.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": [1]}, "no array 'train_data' or 'test_data', only x"),
        ({"train_data": [[0], [1]]}, "must have one row per hyperedge"),
        ({"train_data": [0, 1]}, "must have one row per hyperedge"),
        ({"train_data": [[0, -1]]}, "must hold numbers of at least 0"),
        ({"train_data": [[0.5, 1]]}, "must hold whole numbers"),
        ({"train_data": [[np.nan, 1]]}, "must hold numbers of at least 0"),
        ({"train_data": [["a", "b"]]}, "must hold integers"),
        ({"train_data": [[0, 1]], "nums_type": [1]}, "must hold 2 numbers"),
        ({"train_data": [[0, 1]], "nums_type": [1, 1]}, "outside 0"),
        ({"train_data": [[0, 1]], "labels": [1, 2, 3]}, "one label for each node"),
        ({"train_data": [[0, 0]], "dhne": [1]}, "not JSON"),
    ],
)
def test_damaged_arrays(tmp_path: Path, arrays: dict[str, object], message: str) -> None:
    np.savez(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        read(tmp_path / "x.npz")


def test_options_of_other_formats(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", train_data=[[0, 1]])
    with pytest.raises(ParameterError, match="no option columns"):
        read(tmp_path / "x.npz", columns={"a": "b"})
    with pytest.raises(InputError, match="2 columns, 1 types"):
        read(tmp_path / "x.npz", types=["a"])
