"""Labels of nodes: for each node none, one or several strings, as one Arrow list column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .errors import InputError

LabelColumn = pa.ListArray


def as_label_column(labels: Any, n: int, node_type: str) -> LabelColumn:
    """Return `labels` as an Arrow column ``list<string>[n]``; null means no label.

    Parameters
    ----------
    labels : Arrow array, or sequence of (None, one label, or a sequence of labels)
    n : int
        How many nodes there are.

    Examples
    --------
    >>> as_label_column(["drama", None, ["crime", "noir"]], 3, "movie").to_pylist()
    [['drama'], [], ['crime', 'noir']]
    """
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    if not isinstance(labels, pa.Array):
        labels = pa.array([_as_list(x) for x in labels], type=pa.list_(pa.string()))
    if not (pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type)):
        offsets = np.concatenate([[0], np.cumsum(labels.is_valid().to_numpy(zero_copy_only=False))])
        values = labels.drop_null().cast(pa.string())
        labels = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    column = labels.cast(pa.list_(pa.string()))
    if column.null_count:
        column = pc.if_else(column.is_valid(), column, pa.scalar([], column.type))
    if len(column) != n:
        raise InputError(f"node type {node_type!r} has {n} nodes but {len(column)} label entries")
    return column


def _as_list(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [str(v) for v in value]
    return [str(value)]


def label_matrix(column: LabelColumn) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Return (class names, ``bool[n, classes]``): which node has which label."""
    encoded = pc.dictionary_encode(column.flatten())
    names = [str(x) for x in encoded.dictionary.to_pylist()]
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    nodes = pc.list_parent_indices(column).to_numpy()
    matrix = np.zeros((len(column), len(names)), dtype=bool)
    if len(names):
        matrix[nodes, rank[encoded.indices.to_numpy(zero_copy_only=False)]] = True
    return [names[i] for i in order], matrix
