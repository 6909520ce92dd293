"""Any bytes at any reader: a `DHNEError` with one line, or a network; nothing else."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne import HyperNetwork, read, read_table, write
from dhne.errors import DHNEError
from dhne.io import InputWarning
from tests.random_networks import odd_networks

ENDINGS = [".csv", ".tsv", ".csv.gz", ".parquet", ".hif.json", ".json.gz", ".npz"]

TEXTS = st.text(st.sampled_from('ab1,;\t"\r\n \0é-.'), max_size=60).map(str.encode)
WORDS = (
    *(
        "incidences",
        "nodes",
        "edges",
        "node",
        "edge",
        "weight",
        "direction",
        "attrs",
        "metadata",
        "network-type",
        "type",
    ),
    *(
        "name",
        "position",
        "ordered",
        "labels",
        "dhne-format",
        "dhne",
        "names",
        "tables",
        "file",
        "positions",
        "version",
        "node_types",
    ),
)
KEYS = st.sampled_from(WORDS)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | KEYS
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)
ATTRS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["p", "q", 3]),
        "name": st.sampled_from(["x", "y", 1, None]),
        "position": st.integers(-1, 3),
        "ordered": st.booleans(),
        "labels": st.lists(st.sampled_from(["l", 1]), max_size=2),
    },
)
IDS = st.sampled_from([0, 1, 2, 1.0, "1", "a", ""])


def records(*keys: str) -> st.SearchStrategy[list[dict[str, object]]]:
    optional = {"weight": st.integers(-1, 3), "attrs": ATTRS}
    if len(keys) > 1:
        optional["direction"] = st.sampled_from(["head", "tail"])
    return st.lists(st.fixed_dictionaries(dict.fromkeys(keys, IDS), optional=optional), max_size=8)


HIF = st.fixed_dictionaries(
    {"incidences": records("edge", "node")},
    optional={
        "nodes": records("node"),
        "edges": records("edge"),
        "network-type": st.sampled_from(["directed", "undirected", "asc"]),
    },
)


def check_message(error: DHNEError) -> None:
    assert str(error)
    assert "\n" not in str(error)


def attempt(path: Path) -> HyperNetwork | None:
    """Read; a network must be sound, an error one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            network = read(path)
        except DHNEError as error:
            check_message(error)
            return None
    for edges in network.edge_sets:
        assert edges.nodes.shape == (len(edges), len(edges.types))
        for p, t in enumerate(edges.types):
            assert not len(edges) or edges.nodes[:, p].min() >= 0
            assert not len(edges) or edges.nodes[:, p].max() < network.num_nodes(t)
    return network


def put(folder: str, ending: str, data: bytes) -> Path:
    path = Path(folder) / f"any{ending}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.binary(max_size=200) | TEXTS)
@settings(max_examples=80)
def test_any_bytes(ending: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        attempt(put(folder, ending, gzip.compress(data) if ending.endswith(".gz") else data))
        attempt(put(folder, ending, data))


@pytest.mark.parametrize("ending", ENDINGS)
@given(network=odd_networks(), data=st.data())
@settings(max_examples=60)
def test_any_damage_to_a_good_file(ending: str, network: HyperNetwork, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"any{ending}"
        write(network, path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            place = data.draw(st.integers(0, len(content) - 1))
            content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
            content = content or bytearray(b" ")
        path.write_bytes(content)
        attempt(path)


@given(text=TEXTS)
@settings(max_examples=300)
def test_any_text_as_csv(text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        attempt(put(folder, ".csv", b"a,b,weight\n" + text))


@given(document=JSON)
@settings(max_examples=200)
def test_any_json(document: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        attempt(put(folder, ".json", json.dumps(document).encode()))


@given(document=HIF)
@settings(max_examples=300)
def test_any_hif_reads_and_survives_a_round_trip(document: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        network = attempt(put(folder, ".json", json.dumps(document).encode()))
        if network is not None:
            write(network, Path(folder) / "again.json")
            assert read(Path(folder) / "again.json") == network


@given(description=JSON, array=st.lists(st.integers(-1, 3), max_size=6))
@settings(max_examples=100)
def test_any_description_in_npz_parquet_and_beside_csv(
    description: object, array: list[int]
) -> None:
    text = json.dumps(description)
    with tempfile.TemporaryDirectory() as folder:
        packed = io.BytesIO()
        np.savez(packed, dhne=np.frombuffer(text.encode(), np.uint8), train_data=array)
        attempt(put(folder, ".npz", packed.getvalue()))
        put(folder, ".csv.meta.json", text.encode())
        attempt(put(folder, ".csv", b"a,b\n1,2\n"))


@given(
    columns=st.dictionaries(
        st.text(max_size=3),
        st.lists(
            st.none() | st.integers() | st.text(max_size=3) | st.floats(), min_size=2, max_size=2
        ),
        max_size=4,
    ),
    weight=st.none() | st.text(max_size=3),
)
@settings(max_examples=200)
def test_any_table_in_memory(columns: dict[str, list[object]], weight: str | None) -> None:
    try:
        table = pa.table(columns)
    except (pa.ArrowException, TypeError, OverflowError):
        table = columns  # a dictionary is a table too, and this one cannot be converted
    try:
        network = read_table(table, weight=weight)
    except DHNEError as error:
        check_message(error)
    else:
        assert network.num_edges() == 2


@given(data=st.binary(max_size=60))
def test_any_bytes_as_an_array(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("train_data.npy", b"\x93NUMPY\x01\x00" + data)
        attempt(path)
