"""`prepare`: tables of any size become a prepared network.

Everything is built in ``OUT.partial``, which becomes OUT at the end. A file there is complete or
absent, so an interrupted build continues where it stopped, unless the sources or the options
have changed. The stages themselves are in :mod:`.stages`.
"""

from __future__ import annotations

import re
import shutil
from os import PathLike
from pathlib import Path
from typing import Any

from dhne.errors import InputError, ParameterError
from dhne.files.reading import StrPath
from dhne.files.writing import temporary_name
from dhne.io.inputs import TABLE_ENDINGS, table_files
from dhne.io.tables import Reading, map_file
from dhne.network.edges import EdgeType

from . import engine
from .layout import is_prepared
from .stages import PLAN, SCRATCH, Build, Progress, SourceFile

_SMALLEST_MEMORY = 2**28
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def prepare(
    sources: Any,
    out: StrPath,
    *,
    memory: str | int = "4GiB",
    pairs: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Path:
    """Prepare tables that may be larger than memory for training; needs the extra ``big``.

    Parameters
    ----------
    sources : path, or sequence of paths or of (path, options)
        CSV, TSV or Parquet files, directories (also partitioned: ``year=2024/…``) and patterns of
        them. Options are those of :func:`dhne.read_table`, for all sources or for each.
    out : path
        The directory to write; it appears when it is complete.
    memory : str or int
        How much memory to use, ``"4GiB"`` or bytes. Whatever needs more is spilled to disk, beside
        `out`.
    pairs : bool
        Whether to count the pairs of nodes that share a hyperedge.
    overwrite : bool
        Whether to replace a prepared network at `out`.
    progress : callable, optional
        Called as ``progress(what, done, total)``.

    Returns
    -------
    Path
        `out`, for :func:`read_prepared`.
    """
    target, limit = Path(out), parse_memory(memory)
    if target.exists() and not (overwrite and is_prepared(target)):
        what = (
            "this is not a prepared network, so it is not replaced; name another directory"
            if overwrite
            else "it exists already; name another directory, or replace it with --overwrite"
        )
        raise InputError(what, file=target)
    with engine.explained(target):
        files = _files(sources, options)
        build = Build(target.with_name(target.name + ".partial"), files, limit, progress)
        if not build.start():
            build.run(pairs=pairs)
        _replace(build.directory, target)
    return target


def parse_memory(text: str | int) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> parse_memory("4GiB"), parse_memory("512 MB"), parse_memory(2**30)
    (4294967296, 536870912, 1073741824)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(text), re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].casefold()]) if match else 0
    if size < _SMALLEST_MEMORY:
        raise ParameterError(f"memory must be at least 256MiB, written like 4GiB; got {text!r}")
    return size


def _files(sources: Any, options: dict[str, Any]) -> list[SourceFile]:
    """Return the files in order, each with the edge type of its rows."""
    items = [sources] if isinstance(sources, str | PathLike) else list(sources)
    found = []
    for item in items:
        source, own = item if isinstance(item, tuple) else (item, {})
        how = Reading(**{**options, **own})
        for path in table_files(source):
            if not path.name.lower().endswith(TABLE_ENDINGS):
                raise InputError("only CSV, TSV and Parquet files can be prepared", file=path)
            mapped, _ = map_file(path, how)
            found.append(SourceFile(path, how, EdgeType.of(mapped.types, ordered=how.ordered)))
    if not found:
        raise InputError("no table was given")
    types = list(dict.fromkeys(f.types for f in found))
    if len({tuple(t) for t in types}) < len(types):
        raise InputError("an edge type is ordered in one table, not in the other")
    return found


def _replace(directory: Path, target: Path) -> None:
    """Put a complete directory in the place of what may be there."""
    for left in SCRATCH:
        shutil.rmtree(directory / left, ignore_errors=True)
    aside = target.with_name(temporary_name(target.name))
    if target.exists():
        target.rename(aside)
    directory.rename(target)
    (target / PLAN).unlink()
    shutil.rmtree(aside, ignore_errors=True)
