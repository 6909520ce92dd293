"""Files that are not there, not files, damaged, or far larger than they seem."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dhne import HyperNetwork, read, write
from dhne.errors import DHNEError, InputError

ENDINGS = [".csv", ".csv.gz", ".parquet", ".hif.json", ".json.gz", ".npz"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_missing_file_directory_and_empty_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    with pytest.raises(InputError, match="no such file"):
        read(path)
    path.mkdir()
    with pytest.raises(InputError, match="this is a directory"):
        read(path)
    path.rmdir()
    path.touch()
    with pytest.raises(InputError, match="the file is empty"):
        read(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("ending", ENDINGS)
def test_no_permission(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    write(HyperNetwork.from_tuples([("a", "b")], ("x", "y")), path)
    path.chmod(0)
    with pytest.raises(InputError, match="permission"):
        read(path)


@pytest.mark.parametrize("name", ["x.docx", "x", "x.pickle", ".gz"])
def test_unknown_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a,b\n")
    with pytest.raises(InputError, match=r"unknown format; the supported extensions are \.csv"):
        read(tmp_path / name)


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet", ".json.gz", ".npz", ".hif.json"])
def test_truncated_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    write(HyperNetwork.from_arrays({("a", "b"): [[i, i % 7] for i in range(500)]}), path)
    data = path.read_bytes()
    for size in (len(data) - 2, len(data) // 2, 10):
        path.write_bytes(data[:size])
        with pytest.raises(DHNEError, match=path.name):
            read(path)


def test_parquet_with_a_flipped_byte_is_refused_or_unharmed(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    network = HyperNetwork.from_arrays({("a", "b"): [[i, i % 7] for i in range(50)]})
    write(network, path)
    data = bytearray(path.read_bytes())
    for place in range(4, len(data), 97):
        data[place] ^= 0x10
        path.write_bytes(data)
        with contextlib.suppress(DHNEError):
            assert read(path) == network
        data[place] ^= 0x10


def test_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    zeros = b"0" * 2**20
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as stream:
        for _ in range(300):
            stream.write(zeros)
    (tmp_path / "x.json.gz").write_bytes(packed.getvalue())
    with pytest.raises(InputError, match="far more than its size suggests"):
        read(tmp_path / "x.json.gz")


def npz(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(f"{name}.npy", data)
    return path


def header(text: str) -> bytes:
    body = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


def test_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    zeros = b"\0" * 2**20
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("train_data.npy", "w") as entry,
    ):
        for _ in range(300):
            entry.write(zeros)
    with pytest.raises(InputError, match="far more than its size suggests"):
        read(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            header("{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999, 3)}"),
            "truncated",
        ),
        (header("{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 3)}"), "truncated"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "pickled objects"),
        (header("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (0,)}"), "numbers or text"),
        (header("(1, 2)"), "cannot be read"),
        (header("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3)"), "cannot be read"),
        (b"\x93NUMPY\x09\x00", "npy format"),
        (b"hello", "cannot be read"),
    ],
)
def test_arrays_that_promise_what_they_do_not_hold(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = npz(tmp_path / "x.npz", train_data=data)
    with pytest.raises(InputError, match=message):
        read(path)


def test_few_bytes_cannot_claim_billions_of_nodes(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", train_data=[[0, 0]], nums_type=[2**40, 1])
    with pytest.raises(InputError, match="it claims"):
        read(tmp_path / "x.npz")


def test_parquet_column_of_another_kind(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [[1, 2]], "b": ["x"]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="nested"):
        read(tmp_path / "x.parquet")
    with pytest.raises(InputError):
        read(tmp_path / "x.parquet", columns=["a", "b"])
