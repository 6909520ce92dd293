"""Vectors as text: word2vec's format, and the files of TensorBoard's Embedding Projector.

The formats are described in :mod:`dhne.io.vectors`, which chooses among them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError
from dhne.files.writing import replace_directory, writing

Matrix = npt.NDArray[np.float32]
Vectors = dict[str, tuple[pa.Array, Matrix]]
Labels = Mapping[str, Any]

_CONFIG = "projector_config.pbtxt"
_ROWS_AT_ONCE = 1 << 15  # turned into text
_CELL_BREAKS = re.compile(r"[\t\r\n\x00\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# What a reader may take for the end of a name: white space and control characters, also Unicode's.
_UNSAFE = r"[\s\x00-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff%]"


def one_size(vectors: Vectors, path: Path) -> int:
    """Return the size of the vectors; raise if node types have different ones."""
    sizes = {t: m.shape[1] for t, (_, m) in vectors.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{t} {n}" for t, n in sizes.items())
        raise InputError(
            f"a file of this format holds vectors of one size, but these have {found}; "
            "write one node type at a time, or use .npz, .parquet or .projector",
            file=path,
        )
    return int(next(iter(sizes.values())))


def _append_rows(path: Path, names: list[str] | None, matrix: Matrix, separator: str) -> None:
    """Append one line per row, perhaps with its name before it.

    Numbers are the shortest decimals that read back as the same float32.
    """
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        block = matrix[start : start + _ROWS_AT_ONCE]
        texts = pa.array(block.reshape(-1)).cast(pa.string())
        offsets = pa.array(np.arange(len(block) + 1, dtype=np.int32) * block.shape[1])
        lines = pc.binary_join(pa.ListArray.from_arrays(offsets, texts), separator).to_pylist()
        if names is not None:
            chosen = names[start : start + _ROWS_AT_ONCE]
            lines = [name + separator + line for name, line in zip(chosen, lines, strict=True)]
        _append_lines(path, lines)


def _append_lines(path: Path, lines: list[str]) -> None:
    if lines:
        with path.open("ab") as file:
            file.write(("\n".join(lines) + "\n").encode())


# -- word2vec --------------------------------------------------------------------------------------


def write_word2vec(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    """Write word2vec text: a line with both sizes, then one line per node."""
    size = one_size(vectors, path)
    with writing(path) as (temporary,):
        total = sum(len(names) for names, _ in vectors.values())
        temporary.write_bytes(f"{total} {size}\n".encode())
        for t, (names, matrix) in vectors.items():
            prefix = "" if len(vectors) == 1 else escape(t).replace(":", "%3A") + ":"
            tokens = [prefix + escape(str(name)) for name in names.to_pylist()]
            _append_rows(temporary, tokens, matrix, " ")
    return [path]


def escape(name: str) -> str:
    """Return a name without anything that word2vec text takes for its end.

    Examples
    --------
    >>> escape("12 Monkeys"), escape("100%")
    ('12%20Monkeys', '100%25')
    """
    return re.sub(_UNSAFE, lambda found: quote(found[0], safe=""), name)


# -- TensorBoard's projector -----------------------------------------------------------------------


def write_tsv(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    """Write the numbers, and beside them names, types and labels."""
    one_size(vectors, path)
    beside = path.with_name(f"{path.stem}.metadata.tsv")
    if beside.exists() and not path.exists():  # nobody named it, and it is not from an earlier call
        raise InputError(
            f"names and labels go to {beside.name} beside it, which exists; choose another name",
            file=path,
        )
    with writing(beside, path) as (metadata, numbers):
        _write_pair(numbers, metadata, vectors, labels)
    return [beside, path]


def write_projector(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    """Write a directory that TensorBoard opens, replacing an existing one."""
    if path.exists() and not (path / _CONFIG).is_file() and (path.is_file() or any(path.iterdir())):
        raise InputError("this name is already taken by something else; choose another", file=path)
    names: list[str] = []
    replace_directory(path, lambda directory: names.extend(_fill(directory, vectors, labels)))
    return [*(path / name for name in names), path]


def _fill(directory: Path, vectors: Vectors, labels: Labels) -> list[str]:
    entries, files = [], [_CONFIG]
    for number, (t, one) in enumerate(vectors.items()):
        stem = t if re.fullmatch(r"[a-z0-9_-]{1,60}", t) else f"type.{number}"
        numbers, metadata = f"{stem}.tsv", f"{stem}.metadata.tsv"
        _write_pair(directory / numbers, directory / metadata, {t: one}, labels)
        fields = {"tensor_name": t, "tensor_path": numbers, "metadata_path": metadata}
        lines = (f"  {k}: {json.dumps(v, ensure_ascii=False)}\n" for k, v in fields.items())
        entries.append(f"embeddings {{\n{''.join(lines)}}}\n")
        files += [numbers, metadata]
    (directory / _CONFIG).write_text("".join(entries), encoding="utf-8")
    return files


def _write_pair(numbers: Path, metadata: Path, vectors: Vectors, labels: Labels) -> None:
    labelled = any(labels.get(t) is not None for t in vectors)
    header = ["name", *(["type"] if len(vectors) > 1 else []), *(["label"] if labelled else [])]
    # The projector takes the first line for a header if, and only if, there are several columns.
    metadata.write_text("\t".join(header) + "\n" if len(header) > 1 else "", encoding="utf-8")
    numbers.write_bytes(b"")
    for t, (names, matrix) in vectors.items():
        _append_rows(numbers, None, matrix, "\t")
        columns = {
            "name": [str(name) for name in names.to_pylist()],
            "type": [t] * len(names),
            "label": _label_texts(labels.get(t), len(names)),
        }
        rows = zip(*(columns[name] for name in header), strict=True)
        _append_lines(metadata, ["\t".join(_CELL_BREAKS.sub(" ", x) for x in row) for row in rows])


def _label_texts(column: Any, n: int) -> list[str]:
    if column is None:
        return [""] * n
    return [", ".join(some or []) for some in column.to_pylist()]
