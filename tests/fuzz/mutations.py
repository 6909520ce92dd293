"""Small damage to valid files: bytes, text, JSON values, and what is inside compressed files."""

from __future__ import annotations

import copy
import gzip
import io
import json
import zipfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Rng = np.random.Generator

TOKENS = (
    *(b"\0", b'"', b"'", b",", b"\t", b"\n", b"\r", b"\r\n", b"{", b"}", b"[", b"]", b":", b"\\"),
    *(b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"\xe2\x80\xae"),
    *(b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"1.5", b"null", b"true", b"''", b"__class__"),
    *(b"9223372036854775808", b"18446744073709551616", b"9" * 5000, b"[" * 5000, b"\\ud800"),
    *(b"../", b"%s%n", b"type", b"weight", b"name", b"inf", b" ", b"=", b"\n[x]\n", b'""""'),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, 10**400, 1e308, "", "x", "\0", "\ud800"),
    *([], {}, [[]], [None], {"": None}, "../x", "é" * 300, [0] * 1000, {"type": 1}, "NaN"),
)


def mutate(data: bytes, ending: str, rng: Rng) -> bytes:
    """Return a copy of a file with one to four things changed, in whatever it is packed."""
    inner = rng.random() < 0.8
    if inner and ending.endswith(".gz"):
        unpacked = mutate(gzip.decompress(data), ending.removesuffix(".gz"), rng)
        return gzip.compress(unpacked, 1)
    if inner and ending == ".npz":
        return _mutate_zip(data, rng)
    if inner and ending == ".parquet":
        return _mutate_parquet(data, rng)
    if inner and ending == ".safetensors":
        return _mutate_tensors(data, rng)
    if inner and ending in (".json", ".jsonl") and rng.random() < 0.6:
        return _mutate_json(data, rng)
    for _ in range(int(rng.integers(1, 5))):
        data = _mutate_bytes(data, rng)
    return data


def _mutate_bytes(data: bytes, rng: Rng) -> bytes:
    start = int(rng.integers(len(data) + 1))
    length = int(min(rng.geometric(0.1), 200))
    token = TOKENS[rng.integers(len(TOKENS))]
    piece = data[start : start + length]
    elsewhere = int(rng.integers(len(data) + 1))
    return [
        lambda: data[:start] + bytes([rng.integers(256)]) + data[start + 1 :],
        lambda: data[:start] + token + data[start:],
        lambda: data[:start] + token + data[start + len(token) :],
        lambda: data[:start] + data[start + length :],
        lambda: data[:start] + piece + data[start:],
        lambda: data[:elsewhere] + piece + data[elsewhere:],
        lambda: data[:start],
        lambda: data[start:],
    ][rng.integers(8)]()


def _mutate_zip(data: bytes, rng: Rng) -> bytes:
    """Change one entry and pack again, so that the checksums are right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(entries)[rng.integers(len(entries))]
    kind = rng.random()
    if kind < 0.1:
        del entries[chosen]
    elif kind < 0.2:
        entries[list(entries)[rng.integers(len(entries))]] = entries[chosen]
    elif kind < 0.6:  # the header, which is text
        head = entries[chosen][:128]
        entries[chosen] = _mutate_bytes(head, rng) + entries[chosen][128:]
    else:
        entries[chosen] = _mutate_bytes(entries[chosen], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def _mutate_parquet(data: bytes, rng: Rng) -> bytes:
    """Change a column, or what the schema says of the network, and write it again."""
    table = pq.read_table(io.BytesIO(data))
    kind, number = int(rng.integers(8)), int(rng.integers(table.num_columns))
    name, column = table.column_names[number], table.column(number)
    rows = table.num_rows
    fresh = [
        pa.nulls(rows),
        pa.array([-1] * rows),
        pa.array([2**62] * rows),
        pa.array([float("nan")] * rows),
        pa.array(["x"] * rows),
        pa.array([[1.0, float("inf")]] * rows, pa.list_(pa.float32(), 2)),
        pa.array([None if rng.random() < 0.5 else v for v in column.to_pylist()], column.type),
        pa.array([b"\xff\xfe"] * rows),
    ][rng.integers(8)]
    described = json.dumps(VALUES[rng.integers(len(VALUES))]).encode()
    changed = [
        lambda: table.drop_columns([name]),
        lambda: table.rename_columns([f"{n}x" if n == name else n for n in table.column_names]),
        lambda: table.append_column("weight", fresh),
        lambda: pa.concat_tables([table, table]),
        lambda: table.slice(0, rows // 2),
        lambda: table.replace_schema_metadata({b"dhne": described}),
        lambda: table.set_column(number, name, fresh),
        lambda: table.set_column(number, name, fresh),
    ][kind]()
    out = io.BytesIO()
    pq.write_table(changed, out)
    return out.getvalue()


def _mutate_tensors(data: bytes, rng: Rng) -> bytes:
    """Change the header of a safetensors file, which is JSON after its length."""
    size = int.from_bytes(data[:8], "little")
    header = _mutate_json(data[8 : 8 + size], rng)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def _mutate_json(data: bytes, rng: Rng) -> bytes:
    """Put another value into one to three places of a document."""
    try:
        document = json.loads(data)
    except ValueError:
        return _mutate_bytes(data, rng)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_places(document))
        if not places:
            break
        parent, key = places[rng.integers(len(places))]
        kind = rng.random()
        if kind < 0.2:
            del parent[key]
        elif kind < 0.3 and isinstance(parent, dict):
            parent[str(key) + "x"] = parent.pop(key)
        elif kind < 0.4 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        else:
            parent[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    return json.dumps(document).encode()


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
