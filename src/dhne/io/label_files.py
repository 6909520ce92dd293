"""Labels from a file: a row per label, with the columns type, name and label."""

from __future__ import annotations

from pathlib import Path

from dhne.errors import DHNEError, InputError
from dhne.files.reading import StrPath
from dhne.network.hypernetwork import HyperNetwork

from .delimited import read_delimited
from .parquet import read_parquet


def add_labels(network: HyperNetwork, path: StrPath, *, unknown: str = "warn") -> HyperNetwork:
    """Return the network with the labels of a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : path
        Columns ``type``, ``name`` and ``label``; ``type`` may be left out where the names tell it,
        and ``name`` may be called like the node type whose names it holds.
    unknown : {"raise", "warn"}
        What to do with names that no node has.
    """
    parquet = Path(path).name.lower().endswith((".parquet", ".pq"))
    table = read_parquet(path) if parquet else read_delimited(path)
    try:
        return network.with_labels(table, unknown=unknown)
    except DHNEError as error:
        raise InputError(str(error), file=path) from None
