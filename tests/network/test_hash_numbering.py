"""Numbering hashes in passes agrees with Arrow's hash table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne.network import hash_numbering
from dhne.network.hash_numbering import Hashes, number_hashes


def check(hashes: Hashes) -> None:
    expected = pc.dictionary_encode(pa.array(hashes.view(np.int64)))
    codes, rows = number_hashes(hashes.copy())
    assert codes.dtype == np.int32
    assert codes.tolist() == expected.indices.to_pylist()
    assert hashes[rows].view(np.int64).tolist() == expected.dictionary.to_pylist()
    assert (codes[rows] == np.arange(len(rows))).all()


@pytest.mark.parametrize("few", [0, 1, 20, 10**6])
@pytest.mark.parametrize("rows_at_once", [1, 3, 2**17])
@given(values=st.lists(st.integers(0, 30) | st.integers(0, 2**64 - 1), max_size=60))
def test_any_hashes(few: int, rows_at_once: int, values: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hash_numbering, "FEW", few)
        patch.setattr(hash_numbering, "_ROWS_AT_ONCE", rows_at_once)
        check(np.array(values, dtype=np.uint64))


@pytest.mark.parametrize("distinct", [1, 100, 40_000, 10**12])
def test_many_hashes(distinct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_numbering, "FEW", 1000)
    monkeypatch.setattr(hash_numbering, "_SAMPLE", 500)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, distinct, 50_000).astype(np.uint64)
    check(picks)
    check(picks << np.uint64(40))
    check(np.sort(picks))
