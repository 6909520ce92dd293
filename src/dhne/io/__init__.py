"""Networks from files and back, in the format that the file's extension names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dhne.errors import InputError, InputWarning, ParameterError
from dhne.files.reading import StrPath, check_file, warn
from dhne.network.hypernetwork import HyperNetwork

from .bundle import read_bundle, write_bundle
from .column_mapping import Columns, UnsuitableColumnsError
from .extras_listing import listed_extras
from .facts import read_facts
from .hif import read_hif, write_hif
from .inputs import is_several, table_files
from .label_files import add_labels
from .npz import read_npz, write_npz
from .prepared import is_prepared, prepare, read_prepared
from .tables import as_network, read_table, read_tables

__all__ = [
    "Columns",
    "InputWarning",
    "UnsuitableColumnsError",
    "add_labels",
    "as_network",
    "format_of",
    "is_prepared",
    "prepare",
    "read",
    "read_facts",
    "read_hif",
    "read_npz",
    "read_prepared",
    "read_table",
    "read_tables",
    "write",
    "write_hif",
    "write_npz",
]

_ENDINGS = {
    ".csv": "table",
    ".csv.gz": "table",
    ".tsv": "table",
    ".tsv.gz": "table",
    ".tab": "table",
    ".txt": "table",
    ".txt.gz": "table",
    ".parquet": "table",
    ".pq": "table",
    ".json": "hif",
    ".json.gz": "hif",
    ".npz": "npz",
}
_KNOWN = ".csv, .tsv (also .gz), .parquet, .hif.json (also .gz) and .npz"
_READERS: dict[str, Callable[..., HyperNetwork]] = {
    "table": read_bundle,
    "hif": read_hif,
    "npz": read_npz,
}
_WRITERS: dict[str, Callable[[HyperNetwork, StrPath], list[Path]]] = {
    "hif": write_hif,
    "npz": write_npz,
}


def format_of(path: StrPath) -> str:
    """Return the format of a file by its extension: table, hif or npz.

    Examples
    --------
    >>> format_of("tags.csv.gz"), format_of("tags.hif.json")
    ('table', 'hif')
    """
    name = Path(path).name.lower()
    for ending, kind in _ENDINGS.items():
        if name.endswith(ending):
            return kind
    raise InputError(f"unknown format; the supported extensions are {_KNOWN}", file=path)


def read(path: StrPath, **options: Any) -> HyperNetwork:
    """Read a network from a file, in the format that its extension names.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` (also ``.gz``), ``.parquet``, ``.hif.json`` or ``.json`` (also ``.gz``),
        ``.npz``, or the directory of a prepared network (see :func:`prepare`).
    **options
        Options of :func:`read_table` for tables; ``types`` for npz files of the paper's authors.

    Examples
    --------
    >>> import tempfile
    >>> from dhne import HyperNetwork, read, write
    >>> net = HyperNetwork.from_tuples([("ann", "Heat"), ("bob", "Alien")], ("user", "movie"))
    >>> path = tempfile.mkdtemp() + "/films.hif.json"
    >>> _ = write(net, path)
    >>> read(path) == net
    True
    """
    given = {name: value for name, value in options.items() if value is not None}
    if is_prepared(path):
        if given:
            raise ParameterError(f"{path}: a prepared network takes no options: {', '.join(given)}")
        return read_prepared(path)
    if is_several(path):
        files = table_files(path)
        if len(files) > 1 or Path(path).is_dir():
            return read_table(path, **given)
        path = files[0]
    kind = format_of(path)
    check_file(path)
    if not given:
        return _READERS[kind](path)
    if kind == "table":
        return _call(read_table, path, given)
    if kind == "npz":
        return _call(read_npz, path, given)
    raise ParameterError(f"{path}: a HIF file names its own types; remove {', '.join(given)}")


def _call(
    reader: Callable[..., HyperNetwork], path: StrPath, options: dict[str, Any]
) -> HyperNetwork:
    known = reader.__kwdefaults__ or {}
    wrong = [name for name in options if name not in known and name != "columns"]
    if wrong or ("columns" in options and reader is not read_table):
        names = ", ".join(wrong or ["columns"])
        raise ParameterError(f"{path}: this format has no option {names}")
    return reader(path, **options)


def write(network: HyperNetwork, path: StrPath, *, overwrite: bool = False) -> list[Path]:
    """Write a network to a file, in the format that its extension names.

    Nothing is lost, except that only HIF holds what other programs wrote into HIF files (ids and
    attributes of edges and so on): a warning lists what is left out. The file appears whole or not
    at all. Tables that cannot hold everything (labels, nodes without a hyperedge, further edge
    types) are written with more files beside them.

    Parameters
    ----------
    network : HyperNetwork
    path : path
        An existing file is replaced.
    overwrite : bool
        Whether to also replace existing files beside it that belong to another network.

    Returns
    -------
    list of Path
        The files written; `path` itself is the last.
    """
    kind = format_of(path)
    if kind != "hif" and (left_out := listed_extras(network)):
        warn(f"only HIF can hold these, left out: {'; '.join(left_out)}", path)
    if kind == "table":
        return write_bundle(network, path, overwrite=overwrite)
    return _WRITERS[kind](network, path)
