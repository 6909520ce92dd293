"""CSV and TSV as Arrow tables of text; errors name the line.

Arrow parses in parallel and does not count lines. So the fast path only parses; if that fails, a
second, slow pass through the file finds the line for the error message. Large files are parsed in
blocks (:mod:`.csv_blocks`) where that is sure to give the same rows.

Names are read as text and never interpreted: ``007`` and ``NaN`` are names like any other. An empty
field without quotes is a missing value.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from dhne.errors import InputError, NoRowsError
from dhne.files.reading import StrPath, check_file, is_gzipped, one_line, open_bytes, reading
from dhne.files.writing import open_for_writing

from .csv_blocks import QUOTE, NotInBlocks, parse_blocks

_LONGEST_FIELD = 2**24
_BYTES_AT_ONCE = 2**20
_BLOCK = 2**21  # bytes that a thread parses at a time
_END = "\x04end of file\x04"
_BOMS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16", b"PAR1": "Parquet"}


def delimiter_of(path: StrPath) -> str:
    """Return the delimiter that a file's extension implies."""
    name = Path(path).name.lower().removesuffix(".gz")
    return "\t" if name.endswith((".tsv", ".tab")) else ","


def read_header(
    path: StrPath, delimiter: str, encoding: str = "utf-8", *, header: bool = True
) -> list[str]:
    """Return the column names in the first line that is not blank; none may repeat.

    Without a header they are c1, c2 …
    """
    check_file(path)
    with reading(path):
        first = next(_records(path, delimiter, encoding), None)
    if first is None:
        raise InputError("the file is empty", file=path)
    line, names = first
    if any("\n" in name for name in names):
        _refuse_unclosed(path, delimiter, encoding)
    if not header:
        return [f"c{number + 1}" for number in range(len(names))]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise InputError(
                "this column appears twice in the header; rename one",
                file=path,
                line=line,
                column=name,
            )
    return names


def read_delimited(
    path: StrPath,
    columns: list[str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> pa.Table:
    """Return a CSV or TSV file as a table of strings; empty fields are null.

    Parameters
    ----------
    path : path, ``.gz`` or not
    columns : names of columns, optional
        Which columns to keep; all by default.
    delimiter : str, optional
        One character; by default a tab for ``.tsv`` and a comma otherwise.
    encoding : str
        The encoding of the text.
    header : bool
        Whether the first line names the columns; otherwise they are c1, c2 …
    """
    delimiter = delimiter_of(path) if delimiter is None else delimiter
    _check_options(delimiter, encoding)
    found = _read_in_blocks(path, columns, delimiter, encoding, header=header)
    table, quotes = found or _read_whole(path, columns, delimiter, encoding, header=header)
    if quotes % 2 or (quotes and _ends_in_a_line_break(table)):
        _refuse_unclosed(path, delimiter, encoding)
    return table


def _read_in_blocks(
    path: StrPath, columns: list[str] | None, delimiter: str, encoding: str, *, header: bool
) -> tuple[pa.Table, int] | None:
    """Return the rows of a large file, and how many quotes there are.

    None if it is not large, or if something is unusual or wrong: finding out what is left to
    :func:`_read_whole`.
    """
    if codecs.lookup(encoding).name != "utf-8":
        return None
    try:
        if check_file(path).stat().st_size <= _BLOCK:
            return None
        names = read_header(path, delimiter, encoding, header=header)
        first, later = (
            _arrow_options(names, columns, delimiter, encoding, 0, header=has_it, threads=False)
            for has_it in (header, False)
        )

        def parse(block: pa.Buffer, number: int) -> pa.Table:
            return pa_csv.read_csv(pa.BufferReader(block), **(later if number else first))

        with reading(path), open_bytes(path) as stream:
            return parse_blocks(stream, _BLOCK, delimiter, parse)
    except (InputError, NotInBlocks):
        return None


def _read_whole(
    path: StrPath, columns: list[str] | None, delimiter: str, encoding: str, *, header: bool
) -> tuple[pa.Table, int]:
    """Return the rows of a file, and how many quotes there are."""
    quotes = _count_quotes(path, encoding)
    names = read_header(path, delimiter, encoding, header=header)
    options = _arrow_options(names, columns, delimiter, encoding, quotes, header=header)
    with _parsing(path, delimiter, encoding, names, header=header) as stream:
        return pa_csv.read_csv(stream, **options), quotes


def stream_delimited(
    path: StrPath,
    columns: list[str],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """Yield the rows that :func:`read_delimited` returns in batches.

    Each comes with the share of the file that has been read, 0 where that is unknown.
    """
    delimiter = delimiter_of(path) if delimiter is None else delimiter
    _check_options(delimiter, encoding)
    quotes = _count_quotes(path, encoding)
    names = read_header(path, delimiter, encoding, header=header)
    options = _arrow_options(names, columns, delimiter, encoding, quotes, header=header)
    size, batch = Path(path).stat().st_size, None
    with (
        _parsing(path, delimiter, encoding, names, header=header) as stream,
        pa_csv.open_csv(stream, **options) as reader,
    ):
        for batch in reader:
            yield batch, 0.0 if is_gzipped(path) else stream.tell() / size
    if batch is not None and (quotes % 2 or (quotes and _ends_in_a_line_break(batch))):
        _refuse_unclosed(path, delimiter, encoding)


@contextlib.contextmanager
def _parsing(
    path: StrPath, delimiter: str, encoding: str, names: list[str], *, header: bool
) -> Iterator[Any]:
    """Open a file for Arrow's parser; name the line where it fails."""
    with reading(path):
        try:
            with open_bytes(path) if is_gzipped(path) else pa.OSFile(str(path)) as stream:
                yield stream
        except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
            _explain(path, delimiter, encoding, names, header=header)
            raise InputError(f"cannot be parsed: {one_line(error)}", file=path) from None


def _arrow_options(
    names: list[str],
    columns: list[str] | None,
    delimiter: str,
    encoding: str,
    quotes: int,
    *,
    header: bool,
    threads: bool = True,
) -> dict[str, Any]:
    """Return Arrow's options to read the columns as text.

    Without a quote no name spans lines, and Arrow cuts the file into blocks at any line break,
    which is twice as fast as following the quotes. Types that are given are not inferred.
    """
    return {
        "read_options": pa_csv.ReadOptions(
            encoding=encoding,
            block_size=_BLOCK,
            column_names=None if header else names,
            use_threads=threads,
        ),
        "parse_options": pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=bool(quotes)),
        "convert_options": pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=names if columns is None else columns,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def write_delimited(table: pa.Table, path: StrPath, *, name: str) -> None:
    """Write a table to `path` in the format of `name`'s extension; quotes only where needed."""
    delimiter = delimiter_of(name)
    _check_writable(table, name)
    options = pa_csv.WriteOptions(
        include_header=False,
        delimiter=delimiter,
        quoting_style="needed" if _needs_quotes(table, delimiter) else "none",
    )
    with open_for_writing(path, gzipped=is_gzipped(name)) as stream:
        header = io.StringIO()
        csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
        stream.write(header.getvalue().encode())
        for batch in table.to_batches(max_chunksize=2**20):
            pa_csv.write_csv(batch, stream, options)


def _check_writable(table: pa.Table, name: str) -> None:
    """Refuse what cannot be read back from a text file."""
    for column, values in zip(table.column_names, table.columns, strict=True):
        if _is_text(values.type) and pc.any(pc.match_substring(values, "\0")).as_py():
            raise InputError(
                "a name contains a NUL byte, which a text file cannot store; write .parquet, "
                ".hif.json or .npz instead",
                file=name,
                column=column,
            )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _ends_in_a_line_break(table: pa.Table | pa.RecordBatch) -> bool:
    """Whether the last row contains a line break, as it does after an unclosed quote."""
    last = table.slice(max(table.num_rows - 1, 0)).to_pylist()
    return any("\n" in (text or "") for row in last for text in row.values())


def _refuse_unclosed(path: StrPath, delimiter: str, encoding: str) -> None:
    """Raise, with its line, for a quote that is never closed: it swallows all lines after it."""
    for line, fields in _records(path, delimiter, encoding, end=_END):
        if fields[-1].endswith(_END) and fields != [_END]:
            raise InputError(
                "a quote in the row that begins here is never closed; close it, or double it if "
                "it belongs to a name",
                file=path,
                line=line,
            )


def _count_quotes(path: StrPath, encoding: str) -> int:
    """Return how many quotes there are; raise, with its line, for a NUL byte.

    Parsers end a field, or the file, at a NUL byte, and rows are lost.
    """
    check_file(path)
    if "a".encode(encoding) != b"a":  # UTF-16 and its kind are full of NUL bytes
        return 1
    quotes, damaged = 0, False
    block = bytearray(_BYTES_AT_ONCE)
    with reading(path), open_bytes(path) as stream:
        while not damaged and (size := cast(Any, stream).readinto(block)):
            quotes += int(np.count_nonzero(np.frombuffer(block, np.uint8, size) == QUOTE))
            damaged = block.find(b"\0", 0, size) >= 0
    if not damaged:
        return quotes
    with reading(path), open_bytes(path) as stream:
        line = next(number for number, text in enumerate(stream, start=1) if b"\0" in text)
    raise InputError(
        "this line contains a NUL byte, which is not text; the file is damaged or is not CSV",
        file=path,
        line=line,
    )


def _needs_quotes(table: pa.Table, delimiter: str) -> bool:
    """Whether some text is empty (missing, if not quoted) or has a special character."""
    special = rf'^$|["\r\n{re.escape(delimiter)}]'
    return any(
        pc.any(pc.match_substring_regex(column, special)).as_py()
        for column in table.columns
        if _is_text(column.type)
    )


def line_of(
    path: StrPath, row: int, *, delimiter: str | None, encoding: str, header: bool = True
) -> int | None:
    """Return the line of data row `row` (from 0); rows may span lines, blank lines do not count."""
    delimiter = delimiter_of(path) if delimiter is None else delimiter
    with reading(path):
        for number, (line, _) in enumerate(_records(path, delimiter, encoding)):
            if number == row + header:
                return line
    return None


def _check_options(delimiter: str, encoding: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\r\n\0' or not delimiter.isascii():
        raise InputError(f"the delimiter must be one ASCII character, got {delimiter!r}")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'") from None


def _records(
    path: StrPath, delimiter: str, encoding: str, *, end: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, fields) of each record that is not blank; `end` is one more line."""
    csv.field_size_limit(_LONGEST_FIELD)
    encoding = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding, newline="") as text:
        lines = text if end is None else itertools.chain(text, [end])
        reader = csv.reader(lines, delimiter=delimiter)
        begin = 1
        try:
            for fields in reader:
                if fields:
                    yield begin, fields
                begin = reader.line_num + 1
        except UnicodeError as error:
            _explain_encoding(path, encoding, error)
        except csv.Error as error:
            raise InputError(f"cannot be parsed: {error}", file=path, line=begin) from None


def _explain(
    path: StrPath, delimiter: str, encoding: str, names: list[str], *, header: bool
) -> None:
    """Raise an error for the first thing that is wrong with the file, if any, with its line."""
    _refuse_unclosed(path, delimiter, encoding)
    width, records = len(names), 0
    for line, fields in _records(path, delimiter, encoding):
        records += 1
        if len(fields) != width:
            raise InputError(
                f"this line has {len(fields)} columns, the {'header' if header else 'first line'} "
                f"has {width}",
                file=path,
                line=line,
            )
    if records == 1 and header:
        raise NoRowsError("there is a header but no row below it", file=path)


def _explain_encoding(path: StrPath, encoding: str, error: UnicodeError) -> None:
    """Raise an error that names the line of the first bytes that are not `encoding`."""
    encoding = encoding.removesuffix("-sig").upper()
    with open_bytes(path) as raw:
        start = raw.read(4)
        for bom, kind in _BOMS.items():
            if start.startswith(bom):
                raise InputError(f"this is {kind}, not {encoding} text", file=path) from None
    decoder = codecs.lookup(encoding)
    with open_bytes(path) as raw:
        for line, content in enumerate(raw, start=1):
            try:
                decoder.decode(content)
            except UnicodeError:
                raise InputError(
                    f"this is not {encoding} text; set its encoding (such as encoding='latin-1') "
                    "or convert the file",
                    file=path,
                    line=line,
                ) from None
    raise InputError(f"this is not {encoding} text: {one_line(error)}", file=path) from None
