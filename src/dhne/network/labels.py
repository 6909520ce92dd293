"""Labels of nodes: for each node none, one or several strings, as one Arrow list column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError

LabelColumn = Any  # a pyarrow.ListArray of strings; Arrow has no types for the checker


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
    if isinstance(labels, Mapping | str) or hasattr(labels, "iloc"):
        raise InputError(
            f"labels of node type {node_type!r} must be a sequence with one entry per node here; "
            "for labels by name use network.with_labels"
        )
    try:
        column = _to_column(labels)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"labels of node type {node_type!r} must be a string, a list of strings or nothing "
            f"for each node: {error}"
        ) from None
    if len(column) != n:
        raise InputError(f"node type {node_type!r} has {n} nodes but {len(column)} label entries")
    return column


def _to_column(labels: Any) -> LabelColumn:
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    if not isinstance(labels, pa.Array):
        labels = pa.array([as_list(x) for x in labels], type=pa.list_(pa.string()))
    if pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type):
        column = labels.cast(pa.list_(pa.string()))
        nodes, values = pc.list_parent_indices(column).to_numpy(), column.flatten()
        present = values.is_valid().to_numpy(zero_copy_only=False)
        if not column.null_count and present.all():
            return column
        counts, values = np.bincount(nodes[present], minlength=len(column)), values.drop_null()
    else:
        counts = labels.is_valid().to_numpy(zero_copy_only=False)
        values = labels.drop_null().cast(pa.string())
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def as_list(value: Any) -> list[str]:
    """Return one label, several or none as a list of strings."""
    if isinstance(value, set | frozenset):
        return sorted(str(v) for v in value)
    if isinstance(value, list | tuple | np.ndarray):
        return [str(v) for v in value if not _is_missing(v)]
    return [] if _is_missing(value) else [str(value)]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def label_matrix(column: LabelColumn) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Return (class names, ``bool[n, classes]``): which node has which label."""
    encoded = pc.dictionary_encode(column.flatten())
    names = [str(x) for x in encoded.dictionary.to_pylist()]
    order = np.argsort(names, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    nodes = pc.list_parent_indices(column).to_numpy()
    matrix = np.zeros((len(column), len(names)), dtype=bool)
    if names:
        matrix[nodes, rank[encoded.indices.to_numpy(zero_copy_only=False)]] = True
    return [names[i] for i in order], matrix
