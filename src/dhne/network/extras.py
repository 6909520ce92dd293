"""What a file holds beyond a network's own terms: ids, attributes, weights that go unused here.

They are kept as JSON text, one value per hyperedge or node, and written back by formats that can
hold them. A network without any has no columns for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError

TextColumn: TypeAlias = pa.Array  # large_string: one JSON object per row, or null


@dataclass(frozen=True)
class Extras:
    """What is known about nodes and the whole network; that of hyperedges is in `EdgeSet.extras`.

    Attributes
    ----------
    nodes : mapping of node type to text column
        One JSON object, or null, per node.
    network : str, optional
        One JSON object.
    """

    nodes: Mapping[str, TextColumn] = field(default_factory=dict)
    network: str | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes) or self.network is not None

    def take(self, kept: Mapping[str, npt.NDArray[np.int64]]) -> Extras:
        """Return those of some nodes of each type; types that are not named are dropped."""
        nodes = {t: take_texts(c, kept[t]) for t, c in self.nodes.items() if t in kept}
        return Extras({t: c for t, c in nodes.items() if c is not None}, self.network)


def as_texts(texts: Any, n: int) -> TextColumn | None:
    """Return one text or null per row as a column; None if all are null.

    Examples
    --------
    >>> as_texts([None, '{"edge": 7}'], 2).to_pylist()
    [None, '{"edge": 7}']
    >>> as_texts([None, None], 2)
    """
    column = pa.array(texts, pa.large_string())
    if len(column) != n:
        raise InputError(f"{n} rows need as many texts, got {len(column)}")
    return None if column.null_count == n else column


def take_texts(column: TextColumn | None, rows: npt.NDArray[Any]) -> TextColumn | None:
    """Return the rows (a mask or indices) of a column; None if there is nothing in them."""
    if column is None:
        return None
    chosen = column.take(pa.array(np.arange(len(column))[rows]))
    return None if chosen.null_count == len(chosen) else chosen


def join_texts(columns: Sequence[TextColumn | None], sizes: Sequence[int]) -> TextColumn | None:
    """Return columns one after the other, with nulls where there is no column."""
    if all(c is None for c in columns):
        return None
    return pa.concat_arrays(
        [
            pa.nulls(n, pa.large_string()) if c is None else c
            for c, n in zip(columns, sizes, strict=True)
        ]
    )
