"""Vectors as one Arrow column, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dhne.io.vector_column import vector_column, vector_matrix


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_a_matrix_comes_back(rows: int) -> None:
    matrix = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    column = vector_column(matrix)
    assert vector_matrix(column).tolist() == matrix.tolist()
    chunked = pa.chunked_array([column.slice(0, rows // 2), column.slice(rows // 2)])
    assert vector_matrix(chunked).tolist() == matrix.tolist()
    assert vector_matrix(pa.chunked_array([], column.type)).shape == (0, 3)


def test_lists_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="one size"):
        vector_matrix(pa.chunked_array([[[1.0], [1.0, 2.0]]]))
