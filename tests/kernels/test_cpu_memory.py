"""Advice to the system about memory changes nothing that is in it."""

from __future__ import annotations

import numpy as np
import pytest

from dhne.kernels.cpu_memory import LARGE, use_large_pages


@pytest.mark.parametrize("size", [0, 10, LARGE // 4, LARGE // 2 + 3])
def test_an_array_in_large_pages_is_what_it_was(size: int) -> None:
    array = np.arange(size + 1, dtype=np.float32)[1:]  # does not begin where a page begins
    before = array.copy()
    use_large_pages(array)
    np.testing.assert_array_equal(array, before)
    array += 1
    np.testing.assert_array_equal(array, before + 1)
