"""Facts of several lengths in one file: tab-separated lines of a relation and its entities.

There is no header, and the lines need not have the same number of fields::

    plays_in       deniro  heat
    plays_role_in  deniro  heat    mccauley

Each length is an edge type, (relation, entity, entity, …); all of them share one vocabulary of
relations and one of entities. Names are text as it is written, never numbers: files that belong
together (train, test) then always agree on what a name is.

The bytes are parsed in one go. Fields end at a tab or at the end of a line, so the positions e_i of
these separators give all fields: with the separators taken out, field i ends at byte e_i − i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError, ParameterError
from dhne.files.reading import StrPath, check_file, one_line, open_bytes, reading
from dhne.network.edge_columns import EdgeColumns
from dhne.network.edge_type import EdgeType
from dhne.network.hypernetwork import HyperNetwork

from .inputs import table_files

RELATION, ENTITY = "relation", "entity"
_TAB, _NEWLINE, _RETURN = b"\t\n\r"
_BOM = b"\xef\xbb\xbf"
_LONGEST = 64  # fields of a line; beyond that it is hardly a fact
Positions = npt.NDArray[np.int64]


def read_facts(path: StrPath | Sequence[StrPath], relation: int = 1) -> HyperNetwork:
    r"""Read facts of any length from tab-separated lines without a header.

    Parameters
    ----------
    path : path, or several
        A file, ``.gz`` or not; a directory or a pattern of files; or ``"-"`` for standard input.
    relation : int
        The column of the relation, counted from 1; all other columns are entities.

    Returns
    -------
    HyperNetwork
        With the node types ``relation`` and ``entity``, and one edge type per length.

    Raises
    ------
    InputError
        With file and line, for a line without entities or an empty field.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "facts.tsv"
    >>> _ = path.write_text("ann\tknows\tbob\nann\tgave\tbob\tbook\n")
    >>> read_facts(path, relation=2)
    HyperNetwork(2 hyperedges)
      nodes: relation 2, entity 3
      edges: (relation, entity, entity) 1
      edges: (relation, entity, entity, entity) 1
    """
    paths = [path] if isinstance(path, str | PathLike) else path
    files = [file for one in paths for file in table_files(one)]
    return _network([parse_facts(_content(file), relation, file=file) for file in files])


def facts_network(content: bytes, relation: int, *, skip: int = 0, file: StrPath) -> HyperNetwork:
    """Return the network of a file's content; its first `skip` columns are left out."""
    return _network([parse_facts(content, relation, skip=skip, file=file)])


@dataclass(frozen=True)
class Fields:
    """All fields of a file, and which of them each fact has.

    Attributes
    ----------
    texts : Arrow array of strings
    first, count : int64[facts]
        The number of a fact's first field that is used, and of its fields.
    relation : int
        Which of these is the relation, counted from 0.
    """

    texts: pa.Array
    first: Positions
    count: Positions
    relation: int

    def columns(self, length: int, kind: pa.DataType) -> list[pa.Array]:
        """Return the facts of one length as columns of names, the relation's first."""
        rows = self.first[self.count == length]
        order = [self.relation, *(p for p in range(length) if p != self.relation)]
        return [self.texts.take(pa.array(rows + p)).cast(kind) for p in order]


def parse_facts(content: bytes, relation: int, *, skip: int = 0, file: StrPath) -> Fields:
    """Return the facts of a file's content.

    Parameters
    ----------
    content : bytes
    relation : int
        The column of the relation, counted from 1.
    skip : int
        How many columns at the beginning of each line are not part of the fact.
    file : path
        For error messages.
    """
    if relation < 1:
        raise ParameterError(f"the column of the relation is counted from 1, got {relation}")
    raw = np.frombuffer(content.removeprefix(_BOM), np.uint8)
    if len(raw) and raw[-1] != _NEWLINE:
        raw = np.append(raw, np.uint8(_NEWLINE))
    ends = np.flatnonzero((raw == _TAB) | (raw == _NEWLINE))
    last = np.flatnonzero(raw[ends] == _NEWLINE)  # of each line, the number of its last field
    first = np.concatenate([[0], last[:-1] + 1])
    lengths = np.diff(ends, prepend=-1) - 1
    lengths -= _carriage_returns(raw, ends, last)
    count = last - first + 1
    filled = np.flatnonzero((count > 1) | (lengths[first] > 0))  # blank lines are left out
    if not len(filled):
        raise InputError("contains no facts", file=file)
    lines = _Lines(first[filled], count[filled], filled + 1, file)
    lines.check(lengths, relation + skip, skip)
    texts = _texts(raw, ends, lengths, file)
    return Fields(texts, lines.first + skip, lines.count - skip, relation - 1)


@dataclass(frozen=True)
class _Lines:
    """The lines that hold something: their fields and their numbers in the file."""

    first: Positions
    count: Positions
    number: Positions
    file: StrPath

    def check(self, lengths: Positions, relation: int, skip: int) -> None:
        """Raise, with its number, for the first line that is not a fact."""
        short = self.count < max(relation, 2 + skip)
        long = self.count > _LONGEST
        empty = np.flatnonzero(lengths == 0)
        inside = np.searchsorted(self.first, empty, side="right") - 1
        empty, inside = empty[inside >= 0], inside[inside >= 0]
        within = empty - self.first[inside]
        at = inside[within < self.count[inside]]  # other empty fields are blank lines
        wrong = np.flatnonzero(short | long)
        candidates = [int(rows[0]) for rows in (wrong, at) if len(rows)]
        if not candidates:
            return
        row = min(candidates)
        fields = int(self.count[row])
        if fields == 1:
            why = "only one field, and no tab; a fact is a relation and its entities"
        elif short[row]:
            why = f"only {fields} fields, so no column {relation} for the relation"
            if fields >= relation:
                why = "no entity; a fact is a relation and its entities"
        elif long[row]:
            why = f"{fields} fields; a fact may have at most {_LONGEST}"
        else:
            column = int(within[inside == row][0]) + 1
            why = f"field {column} is empty; every relation and entity needs a name"
        raise InputError(why, file=self.file, line=int(self.number[row]))


def _carriage_returns(raw: npt.NDArray[np.uint8], ends: Positions, last: Positions) -> Positions:
    """Return, for each field, 1 where it ends its line with the return of a Windows file."""
    found = np.zeros(len(ends), np.int64)
    before = np.maximum(ends[last] - 1, 0)
    found[last] = (raw[before] == _RETURN) & (ends[last] > 0)
    return found


def _texts(
    raw: npt.NDArray[np.uint8], ends: Positions, lengths: Positions, file: StrPath
) -> pa.Array:
    """Return all fields as one Arrow array; bytes that are not UTF-8 raise, with their line."""
    kept = np.ones(len(raw), bool)
    kept[ends] = False
    returns = ends[np.diff(ends, prepend=-1) - 1 != lengths] - 1
    kept[returns] = False
    text = raw[kept]
    small = len(text) < 2**31
    offsets = np.zeros(len(lengths) + 1, np.int32 if small else np.int64)
    np.cumsum(lengths, out=offsets[1:])
    kind = pa.string() if small else pa.large_string()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    texts = pa.Array.from_buffers(kind, len(lengths), buffers)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _not_text(raw, file, error) from None
    return texts


def _not_text(raw: npt.NDArray[np.uint8], file: StrPath, error: Exception) -> InputError:
    for number, line in enumerate(raw.tobytes().split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return InputError("this is not UTF-8 text; convert the file", file=file, line=number)
    return InputError(f"cannot be read: {one_line(error)}", file=file)


def _content(file: StrPath) -> bytes:
    check_file(file)
    with reading(file), open_bytes(file) as stream:
        content = stream.read()
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError("contains a NUL byte, which is not text", file=file, line=line)
    return content


def _network(parts: list[Fields]) -> HyperNetwork:
    """Join what several files hold into one network, its edge types by length."""
    kinds = {part.texts.type for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    tables = []
    for length in sorted({int(n) for part in parts for n in np.unique(part.count)}):
        holding = [part.columns(length, kind) for part in parts if (part.count == length).any()]
        columns = [pa.chunked_array(pieces, kind) for pieces in zip(*holding, strict=True)]
        types = EdgeType((RELATION, *(ENTITY,) * (length - 1)))
        tables.append(EdgeColumns(types, columns))
    return HyperNetwork.from_columns(tables)
