"""From what people type to a network: a dataset's name, or one or several files.

Every command that takes a SOURCE opens it here; `dhne.cli.source_options` has the options.
"""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dhne.errors import InputError, ParameterError, UnknownNameError

from .output import note
from .table_options import AUTO, NONE, for_all, for_each, one_each

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork

Split = Literal["train", "valid", "test", "all"]


def complete_source(incomplete: str) -> list[str]:
    """Return the datasets whose names begin so, for the shell; files it knows itself.

    Examples
    --------
    >>> complete_source("wordnet-")
    ['wordnet-sample']
    """
    from dhne.datasets import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


def open_source(
    names: str | Sequence[str],
    columns: Sequence[str] | None = None,
    weight: str | Sequence[str] | None = None,
    unordered: bool = False,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    no_header: bool | None = False,
    facts: int | None = None,
    labels: str | Path | None = None,
    split: Split = "all",
    time: str | Sequence[str] | None = None,
    half_life: str | None = None,
) -> HyperNetwork:
    """Return the network of a SOURCE.

    Parameters
    ----------
    names : one or several names of datasets or files
        Several files become one network that shares their names.
    columns : sequence of str, optional
        Mappings like ``user=userId,movie=movieId``: one for all files, or one for each.
    weight : str or sequence of str, optional
        A column of weights, or "none": one for all files, or one for each.
    unordered, delimiter, encoding, no_header : options of :func:`dhne.read_table`
    facts : int, optional
        The column of the relation in files of facts (see :func:`dhne.read_facts`).
    labels : path, optional
        A table of labels.
    split : "train", "valid", "test" or "all"
        Which part of a dataset.
    time : str or sequence of str, optional
        The column of times: one for all files, or one for each.
    half_life : str, optional
        Of the weights; see :meth:`HyperNetwork.with_decay`.
    """
    from dhne import io
    from dhne.network.time import parse_half_life

    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise ParameterError("name a dataset or a file")
    if half_life is not None:
        parse_half_life(half_life)  # mistakes are reported before anything is read
    weights = one_each("--weight", weight, len(names))
    options = for_all(unordered, delimiter, encoding, no_header)
    if facts is not None:
        asked = {"columns": columns, "weight": weight, "time": time, **options}
        asked["half-life"] = half_life
        network = _read_facts(names, facts, {k: v for k, v in asked.items() if _given(v)})
        return network if labels is None else io.add_labels(network, labels)
    tables, networks = [], []
    for name, chosen in zip(names, for_each(names, columns, weight, time, options), strict=True):
        if is_dataset(name):
            if chosen:
                raise ParameterError(f"{name} is a dataset and does not take {_flags(chosen)}")
            networks.append(_load(name, split))
        elif len(names) > 1 and _is_table(name):
            tables.append((name, chosen))
        else:
            networks.append(_read(name, chosen))
    if tables:
        networks.append(explained(lambda: io.read_tables(tables), names, columns, time))
    network = functools.reduce(lambda one, other: one.merge(other, fold=False), networks)
    _announce_weights(network, names, weights)
    if half_life is not None:
        network = network.with_decay(half_life)
    return network if labels is None else io.add_labels(network, labels)


def _read_facts(names: Sequence[str], relation: int, options: dict[str, Any]) -> HyperNetwork:
    from dhne import io

    if options:
        raise ParameterError(f"--facts excludes {_flags(options)}; leave out one of them")
    for name in names:
        if is_dataset(name):
            raise ParameterError(f"{name} is a dataset and does not take --facts")
    return io.read_facts(list(names), relation)


def _announce_weights(
    network: HyperNetwork, names: Sequence[str], weights: Sequence[str | None]
) -> None:
    """Report weights that are used by default."""
    found = [e for e in network.edge_sets if bool((e.weights != 1).any())]
    files = [n for n, w in zip(names, weights, strict=True) if w is None and not is_dataset(n)]
    if found and files and all(_is_table(n) for n in files):
        where = "" if len(files) == 1 else " where there is one"
        note(
            f"{', '.join(files)}: hyperedges are weighted by the column 'weight'{where}; "
            "ignore it with --weight none"
        )


def is_dataset(name: str) -> bool:
    """Whether a SOURCE is a dataset's name; raise, with a suggestion, if it is nothing at all."""
    from dhne.datasets import CATALOGUE
    from dhne.io import format_of

    if name in CATALOGUE:
        return True
    if name == "-" or _exists(name) or os.sep in name:
        return False
    try:
        format_of(name)
    except InputError:
        raise UnknownNameError("dataset or file", name, CATALOGUE) from None
    return False


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long, or with a NUL byte
        return False


def is_run(name: str) -> bool:
    """Whether a SOURCE is the directory of a run."""
    return (Path(name) / "manifest.json").is_file()


def _is_table(name: str) -> bool:
    from dhne.io import format_of, is_prepared
    from dhne.io.inputs import is_several

    if is_several(name):
        return not is_prepared(name)
    return format_of(name) == "table" and not Path(name + ".meta.json").exists()


def _load(name: str, split: Split) -> HyperNetwork:
    from dhne.datasets import load_dataset

    return load_dataset(name, split, progress=True)


def _read(name: str, options: dict[str, Any]) -> HyperNetwork:
    from dhne import io

    network: HyperNetwork = explained(lambda: io.read(name, **options), [name])
    return network


def explained(
    read: Callable[[], Any],
    names: Sequence[str],
    columns: str | Sequence[str] | None = None,
    time: str | Sequence[str] | None = None,
) -> Any:
    """Call `read`; turn the library's advice about columns into the options to use here."""
    from dhne.io import UnsuitableColumnsError

    try:
        return read()
    except UnsuitableColumnsError as error:
        why = "; ".join(f"{c!r} holds {reason}" for c, reason in error.reasons.items())
        own = ",".join(f"{c}={c}" for c in error.suitable) or "user=userId,…"
        mappings = one_each("--columns", columns, len(names))
        times = one_each("--time", time, len(names))
        here = [name == str(error.file) for name in names] if len(names) > 1 else [True]
        chosen = [own if h else m or AUTO for h, m in zip(here, mappings, strict=True)]
        when = [error.time or NONE if h else t or NONE for h, t in zip(here, times, strict=True)]
        options = [f"--columns {shlex.quote(c)}" for c in chosen]
        options += [f"--time {shlex.quote(t)}" for t in when if set(when) != {NONE}]
        files = " ".join(shlex.quote(n) for n in names)
        command = sys.argv[1] if sys.argv[1:] and sys.argv[1].isalpha() else "info"
        raise InputError(
            f"found the columns {', '.join(error.found)}, but {why}, not names; choose the ones "
            f"to use: dhne {command} {files} {' '.join(options)}",
            file=error.file,
        ) from None


def _given(value: Any) -> bool:
    return value is not None and value != [] and value != ()


def _flags(options: dict[str, Any]) -> str:
    named = {"ordered": "unordered", "header": "no-header"}
    return ", ".join(f"--{named.get(o, o)}" for o in options)
