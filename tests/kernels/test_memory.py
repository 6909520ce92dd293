"""Advice to the system about memory changes nothing that is in it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from dhne.kernels.cpu import _LARGE, _use_large_pages


@pytest.mark.parametrize("size", [0, 10, _LARGE // 4, _LARGE // 2 + 3])
def test_an_array_in_large_pages_is_what_it_was(size: int) -> None:
    array = np.arange(size + 1, dtype=np.float32)[1:]  # does not begin where a page begins
    before = array.copy()
    _use_large_pages(array)
    np.testing.assert_array_equal(array, before)
    array += 1
    np.testing.assert_array_equal(array, before + 1)
