"""Embeddings as gensim's KeyedVectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from dhne.interop import to_gensim
from tests.interop.models import fitted


def test_vectors_names_and_neighbours_are_the_models() -> None:
    model = fitted()
    t = model.network_.node_types[0]
    vectors = to_gensim(model, t)
    names = model.network_.names(t).to_pylist()
    assert vectors.index_to_key == [str(n) for n in names]
    np.testing.assert_array_equal(vectors.vectors, model.vectors_[t])
    ours = model.similar(t, names[3], k=4)
    theirs = vectors.most_similar(str(names[3]), topn=4)
    assert [k for k, _ in theirs] == [str(n) for n in ours.names]
    np.testing.assert_allclose([s for _, s in theirs], ours.scores, rtol=1e-5)
    degrees = model.network_.degrees(t).tolist()
    assert [vectors.get_vecattr(str(n), "count") for n in names] == degrees


def test_there_and_back_through_gensims_own_file(tmp_path: Path) -> None:
    model = fitted()
    t = model.network_.node_types[1]
    to_gensim(model, t).save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    back = KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    row = [back.key_to_index[str(n)] for n in model.network_.names(t).to_pylist()]
    np.testing.assert_array_equal(back.vectors[row], model.vectors_[t])


def test_the_vectors_are_a_copy() -> None:
    model = fitted()
    t = model.network_.node_types[0]
    before = model.vectors_[t].copy()
    to_gensim(model, t).vectors[:] = 0
    np.testing.assert_array_equal(model.vectors_[t], before)
