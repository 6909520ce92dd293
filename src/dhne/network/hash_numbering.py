"""Numbering 64-bit hashes in order of first appearance.

A hash table of a million entries is larger than the cache, and a look-up waits for memory at each
row. Columns with many distinct values are therefore numbered in passes over arrays, where many rows
are on their way at once. A row's slot is the top bits of its hash times a random odd number, and

    table[slot] = the first row in that slot,  first[row] = table[slot[row]]

is the row in which its hash appears first, unless a different hash has taken the slot. Those rows
are done again among themselves with the next multiple, and at last by Arrow's hash table.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[Any]  # int32 or int64

FEW = 300_000  # rows for which Arrow's hash table fits into the cache
_SAMPLE = 2**18
_ROWS_AT_ONCE = 2**17  # whose intermediate results stay in the processor's cache
_ODD = np.uint64(secrets.randbits(64) | 1)


def number_hashes(hashes: Hashes) -> tuple[Codes, Rows]:
    """Return the number of each hash, and the row in which each number appears first.

    The array of hashes is overwritten: its memory serves the results in between.

    Examples
    --------
    >>> number_hashes(np.array([7, 5, 7, 9], dtype=np.uint64))
    (array([0, 1, 0, 2], dtype=int32), array([0, 1, 3]))
    """
    if not _many_distinct(hashes):
        encoded = _encode(hashes)
        codes: Codes = encoded.indices.to_numpy(zero_copy_only=False)
        return codes, _rows_of_new_codes(codes, len(encoded.dictionary))
    first = _first_rows(hashes)
    parts = _parts(len(first))
    number = hashes.view(np.int32)[: len(first)]  # of each row where a hash appears first
    rows: list[Rows] = []
    seen = 0
    for part in parts:
        is_first = first[part] == np.arange(part.start, part.stop, dtype=np.int32)
        np.cumsum(is_first, dtype=np.int32, out=number[part])
        number[part] += seen - 1
        seen = int(number[part.stop - 1]) + 1
        rows.append(part.start + np.flatnonzero(is_first))
    for part in parts:
        first[part] = _take(number, first[part])
    return first, np.concatenate(rows)


def _many_distinct(hashes: Hashes) -> bool:
    """Whether a hash table is likely not to fit into the cache."""
    if not FEW < len(hashes) < 2**31:
        return False
    sample = np.sort(hashes[:_SAMPLE])
    return int(np.count_nonzero(sample[1:] != sample[:-1])) >= len(sample) // 4


def _first_rows(hashes: Hashes) -> Codes:
    """Return, for each row, the first row with the same hash."""
    n = len(hashes)
    first = np.empty(n, np.int32)
    if not _many_distinct(hashes):
        codes = _encode(hashes).indices.to_numpy(zero_copy_only=False)
        first[codes[::-1]] = np.arange(
            n - 1, -1, -1, dtype=np.int32
        )  # the last to be written remains
        return _take(first, codes)
    bits = max(n.bit_length() - 1, 1)  # one to two rows per slot
    table = np.full(2**bits, -1, np.int32)
    others = []
    for part in _parts(n):
        slots = ((hashes[part] * _ODD) >> np.uint64(64 - bits)).astype(np.int32)
        first[part] = _take(table, slots)
        new = np.flatnonzero(first[part] < 0)
        if len(new):
            taken, new = slots[new], part.start + new
            table[taken[::-1]] = new[::-1]  # the last to be written remains
            first[new] = table[taken]
        others.append(part.start + np.flatnonzero(_take(hashes, first[part]) != hashes[part]))
    rows = np.concatenate(others)
    if len(rows):
        mixed = hashes[rows] * _ODD
        mixed ^= mixed >> np.uint64(32)  # still equal exactly where the hashes are
        first[rows] = rows[_first_rows(mixed)]
    return first


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _ROWS_AT_ONCE, n)) for start in range(0, n, _ROWS_AT_ONCE)]


def _encode(hashes: Hashes) -> pa.DictionaryArray:
    return pc.dictionary_encode(pa.array(hashes.view(np.int64)))


def _take(values: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
    """Return ``values[rows]``; Arrow is faster at it than NumPy."""
    found: npt.NDArray[Any] = pc.take(
        pa.array(values), pa.array(rows), boundscheck=False
    ).to_numpy()
    return found


def _rows_of_new_codes(codes: Codes, count: int) -> Rows:
    """Return the row of each code's first appearance; codes appear in order."""
    found: list[Rows] = []
    seen = 0
    for part in _parts(len(codes)):
        if seen == count:
            break
        code = codes[part]
        highest = np.maximum.accumulate(code)
        before = np.empty_like(highest)
        before[0], before[1:] = seen - 1, np.maximum(highest[:-1], seen - 1)
        found.append(part.start + np.flatnonzero(code > before))
        seen = max(seen, int(highest[-1]) + 1)
    return np.concatenate(found) if found else np.empty(0, np.int64)
