"""What the C library and the system are asked to do with a training's memory.

All of it is advice: where it is not understood, nothing happens, and a training is only slower.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from typing import Any

import numpy.typing as npt

# Parameters of glibc's malloc, by their numbers in malloc.h.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_COLLAPSE = 25  # advice that Python has no name for yet, by its number in Linux's mman.h
LARGE = 2**23  # bytes, from which on an array is worth large pages


def keep_freed_memory() -> None:
    """Ask the C library not to give the memory of one step back before the next one needs it.

    A step's gradients come and go. By default glibc returns them to the system as soon as they are
    freed, and every step then pays for its pages anew.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_MAX, 0)  # nothing is so large that it is mapped separately
        mallopt(_TRIM_THRESHOLD, -1)  # and nothing is given back


def give_back_memory() -> None:
    """Let the C library do as it does by default."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_MAX, 65536)
        library.mallopt(_TRIM_THRESHOLD, 128 << 10)
        library.malloc_trim(0)


def use_large_pages(array: npt.NDArray[Any]) -> None:
    """Ask Linux to keep a large array in large pages.

    Steps visit a table's rows in no order, and with small pages nearly every visit would have to
    look up first where its page is.
    """
    hugepage = getattr(mmap, "MADV_HUGEPAGE", None)  # there on Linux alone
    if array.nbytes < LARGE or hugepage is None:
        return
    begin = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    size = array.ctypes.data + array.nbytes - begin
    with contextlib.suppress(OSError, AttributeError, TypeError):
        madvise = ctypes.CDLL(None).madvise
        for advice in (hugepage, _COLLAPSE):
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), advice)
