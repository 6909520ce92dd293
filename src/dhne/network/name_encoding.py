"""Numbering the distinct names of a column, in order of first appearance.

Arrow's own dictionary encoding compares strings and waits for memory at each of them. For long
columns of strings it is quicker to number 64-bit hashes instead: a string of at most 16 bytes is
its first and its last eight bytes and its length (longer ones have more words between), and

    h = (mix(w₁ · a) + w₂) · b,  mix(h) = h xor (h >> 32),   then the length, with random odd a, b

Two strings that differ in one word never share a hash; two that differ in both do once in 10^19
pairs, whatever the data, because a and b are drawn anew in each process. Ids do not depend on them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .hash_numbering import Codes, Hashes, Rows, number_hashes

Offsets = npt.NDArray[Any]  # int32, or int64 for large strings

LONG = 500_000  # rows from which hashing pays
_ROWS_AT_ONCE = 2**14  # whose intermediate results stay in the processor's cache
_ODD: Hashes = np.array([secrets.randbits(64) | 1 for _ in range(3)], dtype=np.uint64)
# _MASKS[n] keeps the first n bytes of a little-endian word
_MASKS: Hashes = np.array([2 ** (8 * n) - 1 for n in range(9)], dtype=np.uint64)


def number_names(chunks: Sequence[pa.Array], kind: pa.DataType) -> tuple[pa.Array, list[Codes]]:
    """Return the distinct values in order of first appearance, and each chunk as their numbers.

    Parameters
    ----------
    chunks : sequence of Arrow arrays of type `kind`, without nulls
    kind : int64, string or large_string

    Examples
    --------
    >>> names, codes = number_names([pa.array(["b", "a"]), pa.array(["b", "c"])], pa.string())
    >>> names.to_pylist(), codes
    (['b', 'a', 'c'], [array([0, 1], dtype=int32), array([0, 2], dtype=int32)])
    """
    chunks = [c for c in chunks if len(c)]
    if not chunks:
        return pa.array([], kind), []
    if pa.types.is_integer(kind) or sum(map(len, chunks)) < LONG:
        encoded = pc.dictionary_encode(pa.chunked_array(chunks, kind))
        return encoded.chunk(0).dictionary, [_codes(c) for c in encoded.chunks]
    ends = np.cumsum([len(c) for c in chunks])
    hashes = np.empty(ends[-1], np.uint64)
    for chunk, part in zip(chunks, np.split(hashes, ends[:-1]), strict=True):
        hash_strings(chunk, out=part)
    codes, rows = number_hashes(hashes)
    return _names_in(chunks, ends, rows), np.split(codes, ends[:-1])


def _codes(chunk: pa.DictionaryArray) -> Codes:
    codes: Codes = chunk.indices.to_numpy(zero_copy_only=False)
    return codes


def _names_in(chunks: Sequence[pa.Array], ends: Offsets, rows: Rows) -> pa.Array:
    """Return the names in some rows, which are in order, of all chunks."""
    cuts = np.searchsorted(rows, ends[:-1])
    starts = np.concatenate([[0], ends[:-1]])
    parts = zip(chunks, starts, np.split(rows, cuts), strict=True)
    return pa.concat_arrays([c.take(pa.array(r - start)) for c, start, r in parts if len(r)])


def hash_strings(strings: pa.Array, *, out: Hashes | None = None) -> Hashes:
    """Return a 64-bit hash of each string (in `out`): equal strings have equal hashes.

    Examples
    --------
    >>> h = hash_strings(
    ...     pa.array(["Heat", "Alien", "Heat", "a much longer name than sixteen bytes"])
    ... )
    >>> bool(h[0] == h[2]), len(set(h.tolist()))
    (True, 3)
    """
    _, ends, data = strings.buffers()
    width = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets = np.frombuffer(ends, width)[strings.offset : strings.offset + len(strings) + 1]
    raw = np.frombuffer(data or b"", np.uint8)
    if len(raw) < 8:
        raw = np.concatenate([raw, np.zeros(8 - len(raw), np.uint8)])
    # the word that begins at each byte, wherever that is
    words: Hashes = np.ndarray((len(raw) - 7,), np.uint64, raw, 0, (1,))
    hashes = np.empty(len(strings), dtype=np.uint64) if out is None else out
    for start in range(0, len(strings), _ROWS_AT_ONCE):
        part = offsets[start : start + _ROWS_AT_ONCE + 1]
        hashes[start : start + _ROWS_AT_ONCE] = _hash_rows(words, part[:-1], part[1:])
    return hashes


def _hash_rows(words: Hashes, begin: Offsets, end: Offsets) -> Hashes:
    length = end - begin
    shortest, longest = int(length.min()), int(length.max())
    # strings of one length lie at even distances, and reading them needs no list of places
    even = longest if shortest == longest >= 8 else 0
    first = _read(words, begin, even) if shortest >= 8 else _first_word(words, begin, length)
    hashes: Hashes = first * _ODD[0]
    hashes ^= hashes >> np.uint64(32)
    for place in range(8, longest - 8, 8):  # the words between the first and the last
        rows = slice(None) if even else np.flatnonzero(length > place + 8)
        inner = (hashes[rows] + _read(words, begin[rows] + place, even)) * _ODD[2]
        hashes[rows] = inner ^ (inner >> np.uint64(32))
    if longest > 8:
        if shortest > 8:
            hashes += _read(words, end - 8, even)
        else:
            rows = np.flatnonzero(length > 8)
            hashes[rows] += words[end[rows] - 8]
    hashes *= _ODD[1]
    hashes ^= hashes >> np.uint64(29)
    hashes += length.astype(np.uint64)
    return hashes


def _read(words: Hashes, places: Offsets, even: int) -> Hashes:
    """Return the words at some places, each `even` bytes after the one before, or 0 for any."""
    return words[int(places[0]) : int(places[-1]) + 1 : even] if even else words[places]


def _first_word(words: Hashes, begin: Offsets, length: Offsets) -> Hashes:
    """Return the first eight bytes of each string, zeros where it is shorter."""
    last = len(words) - 1
    if begin[-1] <= last:
        found = words[begin]
    else:  # near the buffer's end the word is read a little earlier and shifted
        place = np.minimum(begin, last)
        shift = (8 * (begin - place)).astype(np.uint64)
        found = np.where(shift < 64, words[place] >> (shift & np.uint64(63)), np.uint64(0))
    masked: Hashes = found & _MASKS[np.minimum(length, 8)]
    return masked


def as_integers(names: pa.Array) -> pa.Array | None:
    """Return `names` as int64 if every one is an integer as it prints, else None.

    Examples
    --------
    >>> as_integers(pa.array(["7", "-42"])).to_pylist(), as_integers(pa.array(["7", "042"]))
    ([7, -42], None)
    """
    if pa.types.is_integer(names.type) or len(names) == 0:
        return None
    if not pc.match_substring_regex(names[:1], r"^-?\d{1,19}$")[0].as_py():
        return None
    try:
        integers = names.cast(pa.int64())
    except pa.ArrowException:
        return None
    return integers if integers.cast(names.type).equals(names) else None
