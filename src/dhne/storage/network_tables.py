"""The network and the embeddings of a run as Parquet, and back.

``nodes/TYPE.parquet``: ``name``, ``labels`` (a list of strings; only where a type has labels),
``degree`` and ``vector`` (a list of float32 of fixed size); row i is node i.
``edges/N.parquet``: ``position_0`` … ``position_{N-1}``, node ids, and ``weight``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import DHNEError, RunError
from dhne.files.reading import one_line
from dhne.io.parquet import read_parquet, write_parquet
from dhne.io.vector_column import vector_column, vector_matrix
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

from .filenames import file_stems

Matrices = dict[str, npt.NDArray[np.float32]]


def write_network(
    directory: Path, network: HyperNetwork, embeddings: Mapping[str, npt.NDArray[np.float32]]
) -> dict[str, Any]:
    """Write nodes and edges under `directory`; return the manifest's description of them."""
    nodes, edges = [], []
    (directory / "nodes").mkdir()
    (directory / "edges").mkdir()
    for node_type, stem in file_stems(network.node_types).items():
        file = f"nodes/{stem}.parquet"
        table = _node_table(network, node_type, embeddings.get(node_type))
        write_parquet(table, directory / file, {"node_type": node_type})
        nodes.append({"type": node_type, "file": file})
    for number, e in enumerate(network.edge_sets):
        file = f"edges/{number}.parquet"
        described = e.types.to_record()
        write_parquet(_edge_table(e), directory / file, described)
        edges.append({**described, "file": file})
    return {"nodes": nodes, "edges": edges}


def _node_table(
    network: HyperNetwork, node_type: str, matrix: npt.NDArray[np.float32] | None
) -> pa.Table:
    columns: dict[str, Any] = {"name": network.names(node_type)}
    labels = network.labels(node_type)
    if labels is not None:
        columns["labels"] = labels
    columns["degree"] = pa.array(network.degrees(node_type))
    if matrix is not None:
        if matrix.ndim != 2 or len(matrix) != network.num_nodes(node_type):
            raise RunError(
                f"node type {node_type!r} has {network.num_nodes(node_type)} nodes, "
                f"its embeddings have the shape {list(matrix.shape)}"
            )
        columns["vector"] = vector_column(matrix)
    return pa.table(columns)


def _edge_table(edges: EdgeSet) -> pa.Table:
    columns = {f"position_{p}": pa.array(edges.nodes[:, p]) for p in range(edges.length)}
    columns["weight"] = pa.array(edges.weights)
    if edges.times is not None:
        columns["time"] = pa.array(edges.times)
    return pa.table(columns)


def read_network(run: Path, described: dict[str, Any]) -> tuple[HyperNetwork, Matrices]:
    """Return the network and the embeddings of a run."""
    nodes: dict[str, Vocabulary] = {}
    labels: dict[str, Any] = {}
    embeddings: Matrices = {}
    for entry in described["nodes"]:
        node_type, table = entry["type"], _read(run / entry["file"])
        with _named(run / entry["file"]):
            nodes[node_type] = Vocabulary(table["name"], node_type=node_type)
            if "labels" in table.column_names:
                labels[node_type] = table["labels"]
            if "vector" in table.column_names:
                embeddings[node_type] = vector_matrix(table["vector"])
    edges = []
    for entry in described["edges"]:
        table = _read(run / entry["file"])
        with _named(run / entry["file"]):
            ids = [table[f"position_{p}"].to_numpy() for p in range(len(entry["types"]))]
            array = np.stack(ids, axis=1)
            weights = table["weight"].to_numpy()
            times = table["time"].to_numpy() if "time" in table.column_names else None
            edges.append(EdgeSet.build(EdgeType.from_record(entry), array, weights, times=times))
    with _named(run):
        return HyperNetwork(nodes, edges, labels), embeddings


def _read(path: Path) -> pa.Table:
    with _named(path):
        return read_parquet(path)


_NONSENSE = (DHNEError, LookupError, ValueError, TypeError, ArithmeticError, pa.ArrowException)


class _named:  # noqa: N801 - reads as a phrase: with _named(path)
    """Turn errors of the tables into a `RunError` that names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _NONSENSE):
            text = one_line(error).removeprefix(f"{self.path}: ")
            raise RunError(f"{self.path}: {text}; the run is damaged") from None
