"""The names of one node type: an Arrow column, its row number the node's id.

Names are unique strings or 64-bit integers. There is no Python object per node: look-ups go through
Arrow's hash kernels (many names) or a binary search over a sorted index (a few names).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dhne.errors import InputError, UnknownNameError

from .name_encoding import number_names

Name = str | int
IdArray = npt.NDArray[np.int64]

_FEW = 64  # up to here a binary search beats hashing the whole vocabulary


def as_name_array(names: Any, *, what: str = "names") -> pa.Array:
    """Return `names`, in any form, as one Arrow array of strings or int64.

    Integers (and floats that are whole numbers) become int64; every other kind becomes a string.

    Parameters
    ----------
    names : Arrow array or chunked array, NumPy array, pandas or polars series, or sequence
    what : str
        What to call them in errors.

    Raises
    ------
    InputError
        If a name is null, or the sequence mixes kinds.
    """
    column = as_name_column(names, what=what)
    return _combine(column) if isinstance(column, pa.ChunkedArray) else column


def as_name_column(names: Any, *, what: str = "names") -> pa.Array | pa.ChunkedArray:
    """Return `names` as :func:`as_name_array` does, but keep chunks, which saves a copy."""
    array = _to_arrow(names, what)
    array = decoded(array)
    floating = pa.types.is_floating(array.type)
    missing = array.is_null(nan_is_null=floating) if floating or array.null_count else None
    if missing is not None and pc.any(missing, min_count=0).as_py():
        row = int(pc.index(missing, value=True).as_py())
        raise InputError(f"{what}: the name in row {row + 1} is missing; every node needs a name")
    kind = array.type
    if pa.types.is_integer(kind):
        return _cast(array, pa.int64(), what)
    if pa.types.is_floating(kind):
        whole = pc.all(pc.and_(pc.is_finite(array), pc.equal(array, pc.round(array)))).as_py()
        return _cast(array, pa.int64() if whole is not False else pa.string(), what)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    return _cast(array, pa.string(), what)


def decoded(column: Any) -> Any:
    """Return a dictionary-encoded column (categories) as plain values."""
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        empty = pa.array([], pa.string())
        return pa.chunked_array([decoded(c) for c in column.chunks] or [empty])
    values = column.dictionary
    if pa.types.is_string_view(values.type):  # what polars uses; few kernels know it
        values = values.cast(pa.large_string())
    return values.take(column.indices)


def _to_arrow(names: Any, what: str) -> pa.Array | pa.ChunkedArray:
    if isinstance(names, pa.Array | pa.ChunkedArray):
        return names
    try:
        if hasattr(names, "__arrow_c_stream__"):
            return pa.chunked_array(names)
        if isinstance(names, Iterable) and not hasattr(names, "__array__"):
            names = list(names)
        return pa.array(names)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{what} must all be strings or all be integers ({error}); convert them to strings"
        ) from None


def _combine(array: pa.ChunkedArray) -> pa.Array:
    if array.num_chunks == 0:
        return pa.array([], array.type)
    if pa.types.is_string(array.type) and array.nbytes > 2**31 - 2**20:
        array = array.cast(pa.large_string())  # one array of 32-bit offsets holds 2 GiB
    return array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)


def _cast(array: Any, kind: pa.DataType, what: str) -> Any:
    if array.type == kind:
        return array
    try:
        return array.cast(kind)
    except pa.ArrowException as error:
        raise InputError(f"{what} cannot be used as names: {error}") from None


class Vocabulary:
    """The names of one node type, immutable; the id of a node is its row.

    Examples
    --------
    >>> v = Vocabulary(["Heat", "Alien"])
    >>> v.ids(["Alien", "Heat"])
    array([1, 0])
    >>> v.name(0), len(v), "Heat" in v
    ('Heat', 2, True)
    """

    __slots__ = ("__dict__", "names", "node_type")

    def __init__(self, names: Any, *, node_type: str = "node", checked: bool = False) -> None:
        self.node_type = node_type
        self.names: pa.Array = as_name_array(names, what=f"node type {node_type!r}")
        if not checked and pc.count_distinct(self.names).as_py() != len(self.names):
            counts = pc.value_counts(self.names)
            repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")[0]
            raise InputError(f"node type {node_type!r} names {repeated.as_py()!r} more than once")

    @classmethod
    def of_size(cls, n: int, *, node_type: str = "node") -> Vocabulary:
        """Return the vocabulary 0 … n-1, for nodes without names."""
        return cls(pa.array(np.arange(n, dtype=np.int64)), node_type=node_type, checked=True)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return bool(self._find([name])[0] >= 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        if self.names is other.names:
            return True
        mine, theirs = self.names, other.names
        return (
            len(mine) == len(theirs)
            and bool(
                mine.type == theirs.type
                or {str(mine.type), str(theirs.type)} == {"string", "large_string"}
            )
            and bool(mine.cast(theirs.type).equals(theirs))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def has_integers(self) -> bool:
        """Whether the names are integers."""
        return bool(pa.types.is_integer(self.names.type))

    @cached_property
    def is_range(self) -> bool:
        """Whether the names are just 0 … n-1, that is, the nodes have no names."""
        return self.has_integers and bool(
            np.array_equal(self.names.to_numpy(zero_copy_only=False), np.arange(len(self)))
        )

    def name(self, node: int) -> Name:
        """Return the name of one node id."""
        value: Name = self.names[int(node)].as_py()
        return value

    def take(self, nodes: npt.ArrayLike) -> pa.Array:
        """Return the names of many node ids, as an Arrow array."""
        return self.names.take(pa.array(np.asarray(nodes, dtype=np.int64)))

    def ids(self, names: Any) -> IdArray:
        """Return the ids of `names`; an unknown one raises with near names suggested."""
        found = self._find(names)
        if len(found) and found.min() < 0:
            name = _nth(names, int(np.argmin(found)))
            near = self.names if len(self) <= 200_000 else self.names.slice(0, 200_000)
            raise UnknownNameError(self.node_type, name, near.to_pylist())
        return found

    def find(self, names: Any) -> IdArray:
        """Return the ids of `names`, -1 for those that are unknown."""
        return self._find(names)

    @cached_property
    def _order(self) -> IdArray:
        order: IdArray = pc.sort_indices(self.names).to_numpy().astype(np.int64)
        return order

    def _find(self, names: Any) -> IdArray:
        if isinstance(names, list | tuple) and len(names) <= _FEW:
            return np.fromiter((self._find_one(n) for n in names), np.int64, len(names))
        asked = as_name_array(names)
        if len(asked) == 0:
            return np.empty(0, np.int64)
        if pa.types.is_integer(asked.type) != self.has_integers:
            return np.full(len(asked), -1, np.int64)
        if not self.has_integers and asked.type != self.names.type:
            asked = asked.cast(self.names.type)
        found = pc.index_in(asked, value_set=self.names)
        ids: IdArray = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return ids

    def _find_one(self, name: object) -> int:
        if isinstance(name, np.generic):
            name = name.item()
        if isinstance(name, float) and name.is_integer() and self.has_integers:
            name = int(name)
        wanted = int if self.has_integers else str
        if not isinstance(name, wanted) or isinstance(name, bool):
            return -1
        # Arrow sorts strings by their bytes; half of a surrogate pair has none and is not a name
        key: Any = name.encode("utf-8", "surrogatepass") if isinstance(name, str) else name
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            here: Any = self.names[int(self._order[middle])].as_py()
            if (here.encode() if isinstance(here, str) else here) < key:
                low = middle + 1
            else:
                high = middle
        if low < len(self):
            node = int(self._order[low])
            if self.names[node].as_py() == name:
                return node
        return -1


def _nth(names: Any, row: int) -> Any:
    value = names[row]
    return value.as_py() if isinstance(value, pa.Scalar) else value


def encode(
    columns: Sequence[Any], node_type: str
) -> tuple[Vocabulary, list[list[npt.NDArray[np.int32]]]]:
    """Return the vocabulary of all `columns` of one node type, and each column as chunks of ids.

    Ids are given in order of first appearance, column by column. Where some columns hold integers
    and others strings, all names become strings.

    Parameters
    ----------
    columns : sequence of Arrow arrays as :func:`as_name_column` returns them
    node_type : str

    Examples
    --------
    >>> vocabulary, ids = encode([pa.array(["b", "a"]), pa.array(["a", "c"])], "author")
    >>> vocabulary.names.to_pylist(), ids
    (['b', 'a', 'c'], [[array([0, 1], dtype=int32)], [array([1, 2], dtype=int32)]])
    """
    kinds = {c.type for c in columns if len(c)} or {columns[0].type}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    chunks = [_chunks(c.cast(kind)) for c in columns]
    names, numbered = number_names([chunk for c in chunks for chunk in c], kind)
    codes = iter(numbered)
    ids = [[next(codes) for chunk in c if len(chunk)] for c in chunks]
    return Vocabulary(names, node_type=node_type, checked=True), ids


Encoded = tuple[Vocabulary, list[list[npt.NDArray[np.int32]]]]


def encode_all(columns: dict[str, list[Any]]) -> dict[str, Encoded]:
    """Return :func:`encode` of each node type's columns; `columns` is emptied in the process."""
    with ThreadPoolExecutor(pa.cpu_count()) as pool:  # Arrow and NumPy leave the interpreter free
        results = {t: pool.submit(encode, columns.pop(t), t) for t in list(columns)}
    return {t: result.result() for t, result in results.items()}


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
