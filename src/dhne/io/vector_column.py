"""Vectors as one Arrow column, a list of float32 of fixed size per row, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Matrix = npt.NDArray[np.float32]


def vector_column(matrix: npt.ArrayLike) -> pa.FixedSizeListArray:
    """Return the rows of a matrix as one Arrow column.

    Examples
    --------
    >>> vector_column([[1, 2], [3, 4]]).to_pylist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    array = np.ascontiguousarray(matrix, dtype=np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])


def vector_matrix(column: pa.ChunkedArray | pa.Array) -> Matrix:
    """Return a column of vectors as a matrix ``float32[n, d]`` of its own memory.

    Raises
    ------
    ValueError
        If the vectors are not lists of one size.
    """
    if not pa.types.is_fixed_size_list(column.type) or column.null_count:
        raise ValueError("the vectors are not lists of one size")
    size = column.type.list_size
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # no rows at all
        return np.empty((0, size), np.float32)
    flat = array.flatten().to_numpy(zero_copy_only=False)
    return np.array(flat, dtype=np.float32).reshape(len(array), size)
