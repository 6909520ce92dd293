"""Look-ups of entries in count tables, compiled by numba.

The tables of all positions are one `Flat`, a tuple of arrays that hold them one after the other,
because to take an array out of a tuple of arrays costs more, in every thread, than to look into it:

=======  ========================================================================================
columns  of all entries, ascending within a row
counts   of all entries, A
logs     ℓ(A)
bounds   where each row's blocks begin, and where the last one ends
firsts   the first column of each block
slots    entry numbers by the hash of row and column, -1 where there is none
bits     a filter of 16 bits an entry, small enough to stay in the cache: almost all that counting
         does is to look for an entry that is not there, and it says so for 15 of 16 of these
degrees  of all nodes
where    for each position, where its table begins in bounds, firsts, slots, bits and degrees; the
         bounds a row has; the number of its slots less one
=======  ========================================================================================
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np

from dhne.kernels.compiling import njit

from .maths import PLAIN

INLINED = {**PLAIN, "forceinline": True}  # a call would copy the tuple of arrays


@njit(**INLINED)
def _hash(row, column):
    mixed = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ np.uint64(column)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(30))


@njit(**PLAIN)
def hash_entries(indptr, columns, first):
    """Return (slots, bits) of one table, whose entries have the numbers from `first` on.

    A quarter of the slots are full at most. The search for an entry of hash h begins at slot
    h / 4; bit h of the filter is set if there is an entry of this hash (both modulo their number).
    """
    size = 4
    while size < 4 * len(columns):
        size *= 2
    slots = np.full(size, -1, np.int32)
    bits = np.zeros(size // 2, np.uint8)
    for x in range(len(indptr) - 1):
        for e in range(indptr[x], indptr[x + 1]):
            h = _hash(x, columns[e])
            bit = h & (4 * size - 1)
            bits[bit >> 3] |= np.uint8(1 << (bit & 7))
            at = (h >> 2) & (size - 1)
            while slots[at] >= 0:
                at = (at + 1) & (size - 1)
            slots[at] = first + e
    return slots, bits


@njit(**INLINED)
def block_of(flat, p, x, block):
    """The first entry of a block of row x of position p's table, and the one after its last."""
    bounds, where = flat[3], flat[8]
    at = where[p, 0] + x * where[p, 5] + block
    return bounds[at], bounds[at + 1]


@njit(**INLINED)
def find_entry(flat, p, x, block, y):
    """The entry of node y in a block of row x of position p's table, or -1."""
    columns, firsts, slots, bits, where = flat[0], flat[4], flat[5], flat[6], flat[8]
    column, mask = firsts[where[p, 1] + block] + y, where[p, 6]
    h = _hash(x, column)
    bit = h & (4 * mask + 3)
    if not bits[where[p, 3] + (bit >> 3)] >> (bit & 7) & 1:
        return np.int64(-1)
    low, high = block_of(flat, p, x, block)
    at = (h >> 2) & mask
    e = slots[where[p, 2] + at]
    while e >= 0:
        if columns[e] == column and low <= e < high:
            return np.int64(e)
        at = (at + 1) & mask
        e = slots[where[p, 2] + at]
    return np.int64(-1)


@njit(**PLAIN)
def block_bounds(indptr, columns, firsts, first):
    """Return where each row's blocks begin, and where the last ends: int64[n, blocks + 1].

    The entries of the table have the numbers from `first` on.
    """
    n, k = len(indptr) - 1, len(firsts)
    bounds = np.empty((n, k + 1), np.int64)
    for x in range(n):
        at = indptr[x]
        for b in range(k):
            while at < indptr[x + 1] and columns[at] < firsts[b]:
                at += 1
            bounds[x, b] = first + at
        bounds[x, k] = first + indptr[x + 1]
    return bounds
