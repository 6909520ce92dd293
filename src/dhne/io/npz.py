"""npz: the layout of the paper's authors, and a layout of our own that keeps everything.

The authors' layout: ``train_data: [m, N]`` (or ``test_data``), one column per node type, and
``nums_type: [N]``, the number of nodes of each. It has no names, so the node types are ``type0``,
``type1`` … unless they are given.

Our own adds a description as JSON (``dhne``), and in arrays that need no pickle: the hyperedges
(``edges.0`` …; ``train_data`` where there is a single edge type without repeats, so that programs
for the authors' files can read it), weights where they are not all 1 (``weights.0``), names
(``names.user``, or UTF-8 bytes and offsets) and labels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError
from dhne.files.plain_json import parse_json
from dhne.files.reading import StrPath, reading
from dhne.files.writing import writing
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.labels import LabelColumn
from dhne.network.vocabulary import Vocabulary

from .npz_arrays import Arrays, read_arrays, write_arrays

VERSION = 1
Array = npt.NDArray[Any]


def read_npz(path: StrPath, *, types: tuple[str, ...] | list[str] | None = None) -> HyperNetwork:
    """Read a network from an npz file, in the authors' layout or our own.

    Parameters
    ----------
    path : path
    types : sequence of str, optional
        How to call the node types of a file in the authors' layout.
    """
    arrays = read_arrays(path)
    with reading(path):
        if "dhne" in arrays:
            if types is not None:
                raise InputError("the file names its node types itself", file=path)
            return _read_own(arrays, path)
        return _read_authors(arrays, path, types)


def _read_authors(arrays: Arrays, path: StrPath, types: Any) -> HyperNetwork:
    key = next((k for k in ("train_data", "test_data") if k in arrays), None)
    if key is None:
        there = ", ".join(arrays) or "nothing"
        raise InputError(f"there is no array 'train_data' or 'test_data', only {there}", file=path)
    edges = _as_ids(arrays[key], key, path)
    if edges.ndim != 2 or edges.shape[1] < 2:
        shape = list(edges.shape)
        raise InputError(
            f"{key!r} must have one row per hyperedge, its shape is {shape}", file=path
        )
    width = edges.shape[1]
    types = tuple(types) if types is not None else tuple(f"type{i}" for i in range(width))
    if len(types) != width:
        raise InputError(f"{key!r} has {width} columns, {len(types)} types were named", file=path)
    if "nums_type" in arrays:
        sizes = _as_ids(arrays["nums_type"], "nums_type", path)
        if sizes.shape != (width,):
            raise InputError(f"'nums_type' must hold {width} numbers", file=path)
    else:
        sizes = edges.max(axis=0, initial=-1) + 1
    numbers: dict[str, int] = {}
    for t, size in zip(types, sizes.tolist(), strict=True):
        numbers[t] = max(numbers.get(t, 0), size)
    _check_sizes(numbers, len(edges), path)
    labels = _authors_labels(arrays, types, numbers, path)
    network = HyperNetwork.from_arrays({types: edges}, numbers)
    return network.with_labels(labels) if labels else network


def _authors_labels(
    arrays: Arrays, types: tuple[str, ...], sizes: dict[str, int], path: StrPath
) -> dict[str, LabelColumn]:
    """Labels as a plain array, one per node; the authors' lists are pickles and refused earlier."""
    if "labels" not in arrays:
        return {}
    labels = arrays["labels"]
    column = int(np.asarray(arrays.get("idx_label", 0)).reshape(-1)[0])
    if not 0 <= column < len(types) or labels.shape != (sizes[types[column]],):
        raise InputError("'labels' must hold one label for each node of 'idx_label'", file=path)
    if "label_name" in arrays and labels.dtype.kind in "iu":
        names = arrays["label_name"].reshape(-1)
        if len(labels) and not (labels.min() >= 0 and labels.max() < len(names)):
            raise InputError("'labels' holds numbers that 'label_name' does not have", file=path)
        labels = names[labels]
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8")
    return {types[column]: [str(x) for x in labels.tolist()]}


def _as_ids(array: Array, name: str, path: StrPath) -> npt.NDArray[np.int64]:
    """Return whole numbers ≥ 0 as int64; one of the authors' files keeps them as floats."""
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name!r} must hold integers, it holds {array.dtype}", file=path)
    if array.size and not (array.min() >= 0 and array.max() < 2**62):  # false for NaN as well
        raise InputError(f"{name!r} must hold numbers of at least 0", file=path)
    ids = array.astype(np.int64)
    if array.dtype.kind == "f" and not np.array_equal(ids, array):
        raise InputError(f"{name!r} must hold whole numbers", file=path)
    return ids


def _check_sizes(numbers: dict[str, int], edges: int, path: StrPath) -> None:
    """Refuse a few bytes that claim billions of nodes."""
    limit = 10**7 + 100 * edges
    for t, size in numbers.items():
        if size > limit:
            raise InputError(f"it claims {size} nodes of {t!r} for {edges} edges", file=path)


# -- our own layout --------------------------------------------------------------------------------


def write_npz(network: HyperNetwork, path: StrPath) -> list[Path]:
    """Write a network as npz, without pickles."""
    arrays: Arrays = {}
    edge_types = []
    single = len(network.edge_sets) == 1 and _is_distinct(network.edge_sets[0])
    for i, e in enumerate(network.edge_sets):
        edge_types.append(e.types.to_record())
        arrays["train_data" if single else f"edges.{i}"] = e.nodes
        if single:
            arrays["nums_type"] = network.position_sizes(e.types)
        if (e.weights != 1).any():
            arrays[f"weights.{i}"] = e.weights
        if e.times is not None:
            arrays[f"times.{i}"] = e.times.view(np.int64) if e.times.dtype.kind == "M" else e.times
            edge_types[-1]["time"] = "datetime" if e.times.dtype.kind == "M" else "number"
    node_types = []
    for i, t in enumerate(network.node_types):
        vocabulary, labels = network.vocabulary(t), network.labels(t)
        kind = (
            "range" if vocabulary.is_range else "integer" if vocabulary.has_integers else "string"
        )
        node_types.append({"type": t, "nodes": len(vocabulary), "names": kind})
        if kind == "integer":
            arrays[f"names.{i}"] = vocabulary.names.to_numpy(zero_copy_only=False)
        elif kind == "string":
            arrays |= _pack(f"names.{i}", vocabulary.names)
        if labels is not None:
            arrays[f"labels.{i}.counts"] = labels.value_lengths().to_numpy(zero_copy_only=False)
            arrays |= _pack(f"labels.{i}", labels.flatten())
    description = {"version": VERSION, "node_types": node_types, "edge_types": edge_types}
    text = json.dumps(description).encode()
    arrays["dhne"] = np.frombuffer(text, np.uint8)
    with writing(path) as (temporary,):
        write_arrays(temporary, arrays)
    return [Path(path)]


def _is_distinct(edges: EdgeSet) -> bool:
    return len(set(edges.types)) == len(edges.types)


def _pack(name: str, strings: pa.Array) -> Arrays:
    """Return strings as the bytes of all and the end of each."""
    column = strings.cast(pa.large_string())
    if len(column) == 0:
        return {f"{name}.bytes": np.empty(0, np.uint8), f"{name}.lengths": np.empty(0, np.int64)}
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int64)[column.offset : column.offset + len(column) + 1]
    raw = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
    return {f"{name}.bytes": raw, f"{name}.lengths": np.diff(offsets)}


def _unpack(arrays: Arrays, name: str, path: StrPath) -> pa.Array:
    raw, lengths = _take(arrays, f"{name}.bytes", path), _take(arrays, f"{name}.lengths", path)
    lengths = _as_ids(lengths, name, path)
    if raw.dtype != np.uint8 or raw.ndim != 1 or lengths.ndim != 1 or lengths.sum() != len(raw):
        raise InputError(f"the text of {name!r} is damaged", file=path)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    column = pa.LargeStringArray.from_buffers(
        len(lengths), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(raw))
    )
    column.validate(full=True)  # UTF-8
    return column.cast(pa.string())


def _take(arrays: Arrays, name: str, path: StrPath) -> Array:
    if name not in arrays:
        raise InputError(f"the array {name!r} is missing", file=path)
    return arrays[name]


def _read_own(arrays: Arrays, path: StrPath) -> HyperNetwork:
    found = parse_json(arrays["dhne"].tobytes(), path)
    _check_description(found, path)
    nodes: dict[str, Vocabulary] = {}
    labels: dict[str, LabelColumn] = {}
    limit = max((len(a) for a in arrays.values() if a.ndim), default=0)
    for i, entry in enumerate(found["node_types"]):
        t, kind, size = entry["type"], entry["names"], entry["nodes"]
        if kind == "range":
            _check_sizes({t: size}, limit, path)
            nodes[t] = Vocabulary.of_size(size, node_type=t)
        elif kind == "integer":
            names = _take(arrays, f"names.{i}", path)
            if names.dtype.kind not in "iu" or names.ndim != 1:
                raise InputError(f"the names of {t!r} must be integers", file=path)
            nodes[t] = Vocabulary(names, node_type=t)
        else:
            nodes[t] = Vocabulary(_unpack(arrays, f"names.{i}", path), node_type=t)
        if f"labels.{i}.counts" in arrays:
            counts = _as_ids(arrays[f"labels.{i}.counts"], "labels", path)
            values = _unpack(arrays, f"labels.{i}", path)
            if counts.ndim != 1 or counts.sum() != len(values):
                raise InputError(f"the labels of {t!r} are damaged", file=path)
            offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
            labels[t] = pa.ListArray.from_arrays(offsets, values)
    edges = []
    for i, entry in enumerate(found["edge_types"]):
        name = f"edges.{i}" if f"edges.{i}" in arrays else "train_data"
        ids = _as_ids(_take(arrays, name, path), name, path)
        weights = arrays.get(f"weights.{i}")
        times = arrays.get(f"times.{i}")
        if times is not None and entry.get("time") == "datetime":
            if times.dtype != np.int64:
                raise InputError(f"'times.{i}' must hold integers", file=path)
            times = times.view("datetime64[us]")
        types = EdgeType.from_record(entry)
        edges.append(EdgeSet.build(types, ids, weights, times=times))
    return HyperNetwork(nodes, edges, labels)


def _check_description(found: Any, path: StrPath) -> None:
    if isinstance(found, dict) and found.get("version", VERSION) != VERSION:
        version = found["version"]
        raise InputError(f"it has format {version!r}, this version reads {VERSION}", file=path)
    good = (
        isinstance(found, dict)
        and isinstance(found.get("node_types"), list)
        and isinstance(found.get("edge_types"), list)
        and all(
            isinstance(n, dict)
            and isinstance(n.get("type"), str)
            and n.get("names") in ("range", "integer", "string")
            and type(n.get("nodes")) is int
            and n["nodes"] >= 0
            for n in found["node_types"]
        )
        and all(
            EdgeType.is_record(e) and isinstance(e.get("ordered"), bool)
            for e in found["edge_types"]
        )
    )
    if not good:
        raise InputError("its description is damaged", file=path)
