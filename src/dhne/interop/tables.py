"""The hyperedges of one edge type as a table: one column of names per position, and weights.

`dhne.read_table` is the inverse. Columns are named after their node types; repeated types are
numbered: ``person``, ``person.2``. The column ``weight`` exists if some weight is not 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dhne.errors import require
from dhne.io.bundle_tables import to_tables
from dhne.network.hypernetwork import HyperNetwork

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def to_arrow(network: HyperNetwork, edge_type: Sequence[str] | None = None) -> pa.Table:
    """Return hyperedges as an Arrow table; the type may be omitted if there is only one.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples(
    ...     [("ann", "bob"), ("bob", "eve")], ("person", "person"), weights=[1, 3]
    ... )
    >>> to_arrow(net).to_pydict()
    {'person': ['ann', 'bob'], 'person.2': ['bob', 'eve'], 'weight': [1.0, 3.0]}
    >>> from dhne import read_table
    >>> read_table(to_arrow(net), {"person": ["person", "person.2"]}, weight="weight") == net
    True
    """
    chosen = network.edge_set(edge_type).types
    _, tables = to_tables(network.subset(edge_types=[chosen]), "hyperedges")
    return tables["hyperedges"]


def to_pandas(network: HyperNetwork, edge_type: Sequence[str] | None = None) -> pd.DataFrame:
    """Return hyperedges as a pandas DataFrame, as :func:`to_arrow` does."""
    require("pandas", extra="interop")
    return to_arrow(network, edge_type).to_pandas()


def to_polars(network: HyperNetwork, edge_type: Sequence[str] | None = None) -> pl.DataFrame:
    """Return hyperedges as a polars DataFrame, as :func:`to_arrow` does."""
    polars: Any = require("polars", extra="interop")
    frame: pl.DataFrame = polars.from_arrow(to_arrow(network, edge_type))
    return frame
