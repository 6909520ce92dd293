"""From what people type to a network: a dataset's name, or one or several files.

Every command that takes a SOURCE takes it through here, with the same options.
"""

from __future__ import annotations

import csv
import functools
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dhne.errors import InputError, ParameterError, UnknownNameError

from .output import note

if TYPE_CHECKING:
    from dhne.network.hypernetwork import HyperNetwork

Split = Literal["train", "valid", "test", "all"]
NONE, AUTO = "none", "auto"  # for a file: no such column; columns as they are

# The options of a SOURCE, to be used by every command that has one.
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="TYPE=COLUMN,…",
        help="Which column holds which node type, in the order of positions: "
        "user=userId,movie=movieId. Node types may repeat: person=head,person=tail. "
        "Once for all files, or once per file; auto for a file whose columns need no option.",
    ),
]
WeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN",
        help="The column of weights, once for all files or once per file; none for no weights. "
        "\\[default: a column called weight, if it is not a position]",
    ),
]
TimeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The column of times (dates, datetimes or numbers), once for all files or once per "
        "file; none for a file without times.",
    ),
]
HalfLifeOption = Annotated[
    str | None,
    typer.Option(
        "--half-life",
        metavar="90d",
        help="Weights halve with every such age before the newest hyperedge: s, min, h, d, w or y; "
        "a plain number where times are numbers.",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of text files. \\[default: utf-8]"),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="Text files have no header: columns are c1, c2 …, or as --columns lists them.",
    ),
]
FactsOption = Annotated[
    int | None,
    typer.Option(
        "--facts",
        metavar="N",
        min=1,
        help="The files hold facts: tab-separated lines without a header, a relation in column N "
        "and its entities, of any number.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels of nodes: a table with the columns type, name, label; type is needed only "
        "where a name does not tell it.",
    ),
]
UnorderedOption = Annotated[
    bool,
    typer.Option("--unordered", help="Positions of the same node type are a set (co-authors)."),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="What separates the columns of a text file."),
]


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
    """Return the network that a SOURCE stands for.

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
    mappings = _one_each("--columns", columns, len(names))
    weights = _one_each("--weight", weight, len(names))
    times = _one_each("--time", time, len(names))
    options: dict[str, Any] = {"delimiter": _unescape(delimiter), "encoding": encoding}
    options |= {"ordered": False} if unordered else {}
    options |= {"header": False} if no_header else {}
    if facts is not None:
        asked = {"columns": columns, "weight": weight, "time": time, **options}
        asked["half-life"] = half_life
        network = _read_facts(names, facts, {k: v for k, v in asked.items() if _given(v)})
        return network if labels is None else io.add_labels(network, labels)
    tables, networks = [], []
    for name, mapping, column, when in zip(names, mappings, weights, times, strict=True):
        chosen = {k: v for k, v in options.items() if v is not None}
        if mapping not in (None, AUTO):
            chosen["columns"] = parse_columns(mapping)
        if column is not None:
            chosen["weight"] = False if column == NONE else column
        if when not in (None, NONE):
            chosen["time"] = when
        if is_dataset(name):
            if chosen:
                raise ParameterError(f"{name} is a dataset; it needs none of {_flags(chosen)}")
            networks.append(_load(name, split))
        elif len(names) > 1 and _is_table(name):
            tables.append((name, chosen))
        else:
            networks.append(_read(name, chosen))
    if tables:
        networks.append(_explained(lambda: io.read_tables(tables), names, mappings, times))
    network = functools.reduce(lambda one, other: one.merge(other, fold=False), networks)
    _announce_weights(network, names, weights)
    if half_life is not None:
        network = network.with_decay(half_life)
    return network if labels is None else io.add_labels(network, labels)


def _read_facts(names: Sequence[str], relation: int, options: dict[str, Any]) -> HyperNetwork:
    from dhne import io

    if options:
        raise ParameterError(f"--facts says how to read the files; leave out {_flags(options)}")
    for name in names:
        if is_dataset(name):
            raise ParameterError(f"{name} is a dataset; it needs none of --facts")
    return io.read_facts(list(names), relation)


def _announce_weights(
    network: HyperNetwork, names: Sequence[str], weights: Sequence[str | None]
) -> None:
    """Say that weights are used where nobody has asked for them."""
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


def parse_columns(text: str) -> list[tuple[str, str]]:
    """Return the (node type, column) pairs of ``user=userId,movie=movieId``.

    Examples
    --------
    >>> parse_columns("person=head,person=tail,tag")
    [('person', 'head'), ('person', 'tail'), ('tag', 'tag')]
    """
    pairs = []
    for part in next(csv.reader([text]), []):
        node_type, equals, column = part.partition("=")
        if not node_type.strip() or (equals and not column.strip()):
            raise ParameterError(
                f"--columns {text}: cannot make sense of {part!r}; "
                "write TYPE=COLUMN, as in user=userId,movie=movieId"
            )
        pairs.append((node_type.strip(), column.strip() if equals else node_type.strip()))
    return pairs


def _one_each(option: str, given: str | Sequence[str] | None, number: int) -> list[str | None]:
    values = [given] if isinstance(given, str) else list(given or [])
    if len(values) <= 1:
        return [values[0] if values else None] * number
    if len(values) != number:
        raise ParameterError(f"{option} was given {len(values)} times for {number} file(s)")
    return list(values)


def _is_table(name: str) -> bool:
    from dhne.io import format_of
    from dhne.io.inputs import is_several

    if is_several(name):
        return True
    return format_of(name) == "table" and not Path(name + ".meta.json").exists()


def _load(name: str, split: Split) -> HyperNetwork:
    from dhne.datasets import load_dataset

    return load_dataset(name, split, progress=True)


def _read(name: str, options: dict[str, Any]) -> HyperNetwork:
    from dhne import io

    return _explained(lambda: io.read(name, **options), [name], [None], [None])


def _explained(
    read: Callable[[], HyperNetwork],
    names: Sequence[str],
    mappings: Sequence[str | None],
    times: Sequence[str | None],
) -> HyperNetwork:
    """Turn the library's advice about columns into the options to use here."""
    from dhne.io import UnsuitableColumnsError

    try:
        return read()
    except UnsuitableColumnsError as error:
        why = "; ".join(f"{c!r} holds {reason}" for c, reason in error.reasons.items())
        own = ",".join(f"{c}={c}" for c in error.suitable) or "user=userId,…"
        here = [name == str(error.file) for name in names] if len(names) > 1 else [True]
        columns = [own if h else m or AUTO for h, m in zip(here, mappings, strict=True)]
        when = [error.time or NONE if h else t or NONE for h, t in zip(here, times, strict=True)]
        options = [f"--columns {shlex.quote(c)}" for c in columns]
        options += [f"--time {shlex.quote(t)}" for t in when if set(when) != {NONE}]
        files = " ".join(shlex.quote(n) for n in names)
        command = sys.argv[1] if sys.argv[1:] and sys.argv[1].isalpha() else "info"
        raise InputError(
            f"found the columns {', '.join(error.found)}, but {why}, not names; say which ones "
            f"to use: dhne {command} {files} {' '.join(options)}",
            file=error.file,
        ) from None


def _unescape(delimiter: str | None) -> str | None:
    return {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter) if delimiter else delimiter


def _given(value: Any) -> bool:
    return value is not None and value != [] and value != ()


def _flags(options: dict[str, Any]) -> str:
    named = {"ordered": "unordered", "header": "no-header"}
    return ", ".join(f"--{named.get(o, o)}" for o in options)
