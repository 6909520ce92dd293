"""Vectors written to files for other programs, by the file's extension.

===============================  ==================================================================
``x.parquet``                    columns ``type``, ``name``, ``vector``; one row per node
``x.csv``                        columns ``type``, ``name``, ``x1`` … ``xd``; also ``.csv.gz``
``x.npz``                        one array per node type, under its name, and ``names/TYPE``
``x.txt``, ``x.vec``, ``x.w2v``  word2vec text, as gensim's ``load_word2vec_format`` reads it
``x.tsv``                        numbers and, beside it, ``x.metadata.tsv``: the two files that the
                                 Embedding Projector's page loads
``x.projector``                  a directory for ``tensorboard --logdir x.projector``: for each node
                                 type the same two files, and ``projector_config.pbtxt``
===============================  ==================================================================

Word2vec text separates by spaces, so in its names white space, control characters and ``%`` are
written as in web addresses (``New%20York``; ``urllib.parse.unquote`` brings the name back). Where
it holds several node types, a name is preceded by its type: ``movie:Heat``; a tsv has a column for
it.

Equal vectors give equal bytes, and a file appears whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import InputError, ParameterError
from dhne.files.reading import StrPath, is_gzipped
from dhne.files.writing import writing
from dhne.network.vocabulary import as_name_array

from .delimited import write_delimited
from .npz_arrays import write_arrays
from .parquet import write_parquet
from .vector_column import vector_column
from .vector_text import (
    Labels,
    Matrix,
    Vectors,
    one_size,
    write_projector,
    write_tsv,
    write_word2vec,
)

_KNOWN = ".parquet, .csv, .npz, .txt, .vec or .w2v (word2vec), .tsv or .projector (TensorBoard)"


def write_vectors(
    path: StrPath,
    vectors: Mapping[str, tuple[Any, npt.ArrayLike]],
    *,
    labels: Labels | None = None,
) -> list[Path]:
    """Write vectors with their names, in the format of the file's extension.

    Parameters
    ----------
    path : path
    vectors : mapping of node type to (names, matrix[n, d])
    labels : mapping of node type to label column, optional
        Lists of strings; the TensorBoard formats show them.

    Returns
    -------
    list of Path
        The files written, `path` last.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/films.txt"
    >>> _ = write_vectors(path, {"movie": (["Heat", "12 Monkeys"], [[1, 0.5], [0, 2]])})
    >>> print(Path(path).read_text(), end="")
    2 2
    Heat 1 0.5
    12%20Monkeys 0 2
    """
    writer = _WRITERS[vectors_format(path)]
    checked = {t: _check(t, names, matrix) for t, (names, matrix) in vectors.items()}
    if not checked:
        raise ParameterError("there are no vectors to write")
    return writer(Path(path), checked, labels or {})


def vectors_format(path: StrPath) -> str:
    """Return the format of a file by its extension; raise if it is unknown.

    Examples
    --------
    >>> vectors_format("x.vec"), vectors_format("x.projector/")
    ('word2vec', 'projector')
    """
    ending = Path(str(path).lower().removesuffix(".gz")).suffix
    if ending not in _ENDINGS or (is_gzipped(path) and ending != ".csv"):
        raise InputError(f"unknown format for vectors; the name must end in {_KNOWN}", file=path)
    return _ENDINGS[ending]


def _check(node_type: str, names: Any, matrix: npt.ArrayLike) -> tuple[pa.Array, Matrix]:
    column = as_name_array(names, what=f"names of {node_type!r}")
    array = np.ascontiguousarray(matrix, dtype=np.float32)
    if array.ndim != 2 or len(array) != len(column):
        raise ParameterError(
            f"node type {node_type!r} has {len(column)} names, its vectors have the shape "
            f"{list(array.shape)}"
        )
    return column, array


# -- Parquet and npz -------------------------------------------------------------------------------


def _write_parquet(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    integers = all(pa.types.is_integer(names.type) for names, _ in vectors.values())
    same_size = len({m.shape[1] for _, m in vectors.values()}) == 1
    parts = []
    for t, (names, matrix) in vectors.items():
        column = vector_column(matrix)
        if not same_size:
            column = column.cast(pa.large_list(pa.float32()))
        types = pa.repeat(pa.scalar(t), len(names))
        kind = pa.int64() if integers else pa.large_string()
        parts.append(pa.table({"type": types, "name": names.cast(kind), "vector": column}))
    with writing(path) as (temporary,):
        write_parquet(pa.concat_tables(parts), temporary)
    return [path]


def _write_csv(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    """Write a row per node; numbers are the shortest that read back as the same float32."""
    size = one_size(vectors, path)
    parts = []
    for t, (names, matrix) in vectors.items():
        head = {"type": pa.repeat(pa.scalar(t), len(names)), "name": names.cast(pa.large_string())}
        parts.append(pa.table(head | {f"x{i + 1}": matrix[:, i] for i in range(size)}))
    with writing(path) as (temporary,):
        write_delimited(pa.concat_tables(parts), temporary, name=path.name)
    return [path]


def _write_npz(path: Path, vectors: Vectors, labels: Labels) -> list[Path]:
    arrays: dict[str, npt.NDArray[Any]] = {t: matrix for t, (_, matrix) in vectors.items()}
    for t, (names, _) in vectors.items():
        key = f"names/{t}"
        if key in vectors or "\0" in t:
            raise InputError(f"an npz cannot hold the node type {t!r}; use .parquet", file=path)
        if pa.types.is_integer(names.type):
            arrays[key] = names.to_numpy(zero_copy_only=False)
        else:
            arrays[key] = np.array(names.to_pylist(), dtype=np.str_)
    with writing(path) as (temporary,):
        write_arrays(temporary, arrays)
    return [path]


_ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".npz": "npz",
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".w2v": "word2vec",
    ".tsv": "tsv",
    ".projector": "projector",
}
_WRITERS: dict[str, Callable[[Path, Vectors, Labels], list[Path]]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "npz": _write_npz,
    "word2vec": write_word2vec,
    "tsv": write_tsv,
    "projector": write_projector,
}
